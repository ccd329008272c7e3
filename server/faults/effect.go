package faults

import (
	"fmt"
	"net/http"

	"github.com/cauri-dev/cauri/server/english"
	"github.com/cauri-dev/cauri/server/payments"
)

// Effects returns a text for people about each of the named faults, such as "twice: sent 2 times" for a fault with the
// name twice. It is in English.
func (s Set) Effects(names []string) (all []string) {
	for _, name := range names {
		all = append(all, s.Effect(name).String())
	}
	return all
}

// Effect says what the named fault does. For a fault that is gone it is the name.
func (s Set) Effect(name string) english.Phrase {
	f := s.Named(name)
	if f == nil {
		f = ofTestNumberNamed(name)
	}
	if f == nil {
		f = &Fault{Name: name}
	}
	return f.Effect()
}

func ofTestNumberNamed(name string) *Fault {
	for _, b := range []payments.Behavior{payments.ApproveWithoutCallback, payments.ApproveCallbackTwice, payments.ApproveCallbackFirst} {
		if f := OfTestNumber(b); f.Name == name {
			return f
		}
	}
	return nil
}

// String returns the name of the fault and its effects in English: "twice: sent 2 times".
func (f *Fault) String() string { return f.Effect().String() }

// Effect says what the fault does, after its name.
func (f *Fault) Effect() english.Phrase {
	var effects []english.Phrase
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
			effects = append(effects, english.Say("status pending %s longer", lasting(o.StatusStaysPending)))
		}
		if o.StatusFlickers {
			effects = append(effects, english.Say("status flickers"))
		}
		if o.Reason != "" {
			effects = append(effects, english.Say("reason %s", o.Reason))
		}
	}
	if len(effects) == 0 {
		return english.Say("%s", f.Name)
	}
	return english.Say("%s: %s", f.Name, effects)
}

func lasting(d *Duration) string { return payments.FormatDuration(d.Of()) }

func (w *Webhook) effects() (all []english.Phrase) {
	all = sending(w.Drop, w.Duplicate, w.Overlap, w.Delay, w.BeforeAnswer)
	if w.Spacing.Of() > 0 {
		all = append(all, english.Say("%s apart", lasting(w.Spacing)))
	}
	if w.StaleTimestamp.Of() > 0 {
		all = append(all, english.Say("signed %s too early", lasting(w.StaleTimestamp)))
	}
	if w.ContentType != "" {
		all = append(all, english.Say("sent as %s", w.ContentType))
	}
	for _, one := range []struct {
		does bool
		what english.Text
	}{
		{w.OutOfOrder, "sent out of order"}, {w.BadSignature, "signed with a wrong key"}, {w.Truncate, "body cut off"},
		{w.UnknownField, "an unknown field added"}, {w.UnknownEvent, "sent as an unknown event"},
	} {
		if one.does {
			all = append(all, english.Say(one.what))
		}
	}
	return all
}

func (c *Callback) effects() []english.Phrase {
	return sending(c.Drop, c.Duplicate, c.Overlap, c.Delay, c.BeforeAnswer)
}

// sending returns the effects that events and callbacks have in common.
func sending(drop bool, duplicate int, overlap bool, delay *Duration, beforeAnswer bool) (all []english.Phrase) {
	if drop {
		all = append(all, english.Say("not sent"))
	}
	switch {
	case duplicate > 1 && overlap:
		all = append(all, english.Say("sent %d times at the same moment", duplicate))
	case duplicate > 1:
		all = append(all, english.Say("sent %d times", duplicate))
	}
	if delay.Of() > 0 {
		all = append(all, english.Say("sent %s late", lasting(delay)))
	}
	if beforeAnswer {
		all = append(all, english.Say("sent before the answer"))
	}
	return all
}

func (a *API) effects() (all []english.Phrase) {
	if a.Status != 0 {
		all = append(all, english.Say("answered %s", fmt.Sprintf("%d %s", a.Status, http.StatusText(a.Status))))
	}
	if a.Delay.Of() > 0 {
		all = append(all, english.Say("answered %s late", lasting(a.Delay)))
	}
	switch a.DropConnection {
	case BeforeCommit:
		all = append(all, english.Say("not recorded and not answered"))
	case AfterCommit:
		all = append(all, english.Say("recorded and not answered"))
	}
	if a.MalformedBody {
		all = append(all, english.Say("answered with a body that is not JSON"))
	}
	return all
}
