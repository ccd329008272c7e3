package faults

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/cauri-dev/cauri/server/payments"
)

// Effects returns a text for people about each of the named faults, such as "twice: sent 2 times" for a fault with the
// name twice. For a name that the set does not have any more, it returns the name.
func (s Set) Effects(names []string) []string {
	var all []string
	for _, name := range names {
		f := s.Named(name)
		if f == nil {
			f = ofTestNumberNamed(name)
		}
		if f == nil {
			f = &Fault{Name: name}
		}
		all = append(all, f.String())
	}
	return all
}

func ofTestNumberNamed(name string) *Fault {
	for _, b := range []payments.Behavior{payments.ApproveWithoutCallback, payments.ApproveCallbackTwice, payments.ApproveCallbackFirst} {
		if f := OfTestNumber(b); f.Name == name {
			return f
		}
	}
	return nil
}

// String returns the name of the fault and its effects: "twice: sent 2 times".
func (f *Fault) String() string {
	var effects []string
	if w := f.Webhook; w != nil {
		effects = w.effects()
	}
	if a := f.Answer(); a != nil {
		effects = append(effects, a.effects()...)
	}
	if o := f.Operator; o != nil {
		if o.Callback != nil && f.Webhook == nil { // a test number has both, which do the same
			effects = append(effects, o.Callback.effects()...)
		}
		if o.StatusStaysPending != nil {
			effects = append(effects, "status pending "+lasting(o.StatusStaysPending)+" longer")
		}
		if o.Reason != "" {
			effects = append(effects, "reason "+o.Reason)
		}
	}
	if len(effects) == 0 {
		return f.Name
	}
	return f.Name + ": " + strings.Join(effects, ", ")
}

func lasting(d *Duration) string { return payments.FormatDuration(d.Of()) }

func (w *Webhook) effects() (all []string) {
	all = sending(w.Drop, w.Duplicate, w.Delay, w.BeforeAnswer)
	if w.Spacing.Of() > 0 {
		all = append(all, lasting(w.Spacing)+" apart")
	}
	if w.StaleTimestamp.Of() > 0 {
		all = append(all, "signed "+lasting(w.StaleTimestamp)+" too early")
	}
	if w.ContentType != "" {
		all = append(all, "sent as "+w.ContentType)
	}
	for _, one := range []struct {
		does bool
		what string
	}{
		{w.OutOfOrder, "sent out of order"}, {w.BadSignature, "signed with a wrong key"}, {w.Truncate, "body cut off"},
		{w.UnknownField, "an unknown field added"}, {w.UnknownEvent, "sent as an unknown event"},
	} {
		if one.does {
			all = append(all, one.what)
		}
	}
	return all
}

func (c *Callback) effects() []string { return sending(c.Drop, c.Duplicate, c.Delay, c.BeforeAnswer) }

// sending returns the effects that events and callbacks have in common.
func sending(drop bool, duplicate int, delay *Duration, beforeAnswer bool) (all []string) {
	if drop {
		all = append(all, "not sent")
	}
	if duplicate > 1 {
		all = append(all, fmt.Sprintf("sent %d times", duplicate))
	}
	if delay.Of() > 0 {
		all = append(all, "sent "+lasting(delay)+" late")
	}
	if beforeAnswer {
		all = append(all, "sent before the answer")
	}
	return all
}

func (a *API) effects() (all []string) {
	if a.Status != 0 {
		all = append(all, fmt.Sprintf("answered %d %s", a.Status, http.StatusText(a.Status)))
	}
	if a.Delay.Of() > 0 {
		all = append(all, "answered "+lasting(a.Delay)+" late")
	}
	switch a.DropConnection {
	case BeforeCommit:
		all = append(all, "not recorded and not answered")
	case AfterCommit:
		all = append(all, "recorded and not answered")
	}
	if a.MalformedBody {
		all = append(all, "answered with a body that is not JSON")
	}
	return all
}
