package console

import (
	"slices"
	"strconv"
	"strings"

	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/httpfront"
	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/payments"
)

// nextForm is a form that sets the fault of the next payment of a phone.
type nextForm struct {
	msisdn  string
	preset  *faults.Preset
	refused *refusedFault
}

// nextName returns the name of the fault that acts on the next payment of a phone. A phone has one at most.
func nextName(msisdn string) string { return "next-" + strings.TrimPrefix(msisdn, "+") }

// nextFault returns the fault that was set for the next payment of a phone, and has not acted yet; nil for none.
func (v *visit) nextFault(msisdn string) *faults.Fault { return v.on.Named(nextName(msisdn)) }

// shownNext returns the number of a fault for the forms of a phone: see [visit.showed].
func shownNext(f *faults.Fault) string {
	if f == nil {
		return ""
	}
	return strconv.FormatInt(f.Number, 10)
}

// nextPresets returns the presets that fit one payment. A webhook that never comes is none of them: the fault acts once, on
// the first attempt, and the next attempt delivers the event.
func (h *handset) nextPresets() []faults.Preset {
	return slices.DeleteFunc(faults.Presets(), func(p faults.Preset) bool {
		return p.Fault.Webhook != nil && p.Fault.Webhook.Drop || p.Fault.Operator != nil && operators.NativeAPI(h.Operator) == nil ||
			p.Fault.When.Operator != "" && p.Fault.When.Operator != h.Operator
	})
}

// changeNextPayment sets or removes the fault of the next payment of a phone.
func (c *Console) changeNextPayment(v *visit) (httpfront.Answer, error) {
	f := &nextForm{msisdn: v.form("msisdn"), preset: faults.PresetNamed(v.form("preset"))}
	var err error
	if off := v.form("off"); off != "" {
		f.refused, err = c.switchOff(v, off)
	} else if f.preset == nil {
		err = errBadForm
	} else {
		fault := f.preset.Fault
		fault.When.Type, fault.When.MSISDN, fault.When.First = payments.Collection, f.msisdn, 1
		f.refused, err = c.switchOn(v, fault, nextName(f.msisdn))
	}
	if err != nil {
		return httpfront.Answer{}, err
	}
	if f.refused == nil {
		return v.goTo(v.back()), nil
	}
	var l *handsetList
	err = c.renewing(v, func() (err error) {
		if err = c.readFrame(v.ctx(), v); err != nil {
			return err
		}
		l, err = c.listHandsets(v)
		return err
	})
	if err != nil {
		return httpfront.Answer{}, err
	}
	l.form = f
	return c.refuse(v, f.refused, l.page(v))
}

// refused returns why the fault of a phone was not changed; empty if it was.
func (l *handsetList) refused(h *handset) string {
	if l.form == nil || l.form.msisdn != h.MSISDN {
		return ""
	}
	return l.form.refused.text
}

// chose reports whether the form of a phone that was refused has a preset.
func (l *handsetList) chose(h *handset, p *faults.Preset) bool {
	return l.refused(h) != "" && l.form.preset != nil && l.form.preset.Name == p.Name
}
