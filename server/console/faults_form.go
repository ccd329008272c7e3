package console

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/httpfront"
	"github.com/cauri-dev/cauri/server/ledger/faultcounts"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/service"
)

// faultForm is a form that sets the fault of a preset.
type faultForm struct {
	preset  *faults.Preset
	set     url.Values // msisdn, reference, name and for
	refused *refusedFault
}

// refusedFault says why a fault was not set.
type refusedFault struct {
	status   int
	code     string
	field    string // of the form; empty: none
	text     string
	language string // of the text
	wait     time.Duration
}

// faultTimes are the times for which the form sets a fault, by the value of the field.
var faultTimes = map[string]time.Duration{"5m": 5 * time.Minute, firstFaultTime: 15 * time.Minute, "1h": time.Hour, "0": 0}

// firstFaultTime is the value for the time of a new form.
const firstFaultTime = "15m"

// allFaults is the value of the field off for all faults that were set. No fault has this name.
const allFaults = "*"

// changeFaults sets or removes faults.
func (c *Console) changeFaults(v *visit) (httpfront.Answer, error) {
	l := &faultList{}
	var refused *refusedFault
	var err error
	if v.request.PostForm.Has("off") {
		if refused, err = c.switchOff(v, v.form("off")); refused != nil {
			l.wrong = refused.text
		}
	} else {
		f := &faultForm{preset: faults.PresetNamed(v.form("preset")), set: v.request.PostForm}
		if f.preset == nil {
			return httpfront.Answer{}, errBadForm
		}
		refused, err = c.switchOn(v, f.fault(), v.form("name"))
		f.refused, l.form = refused, f
	}
	if err != nil {
		return httpfront.Answer{}, err
	}
	if refused == nil {
		return v.goTo("/faults"), nil // the browser keeps the fragment of the form's address
	}
	err = c.renewing(v, func() error {
		if err := c.readFrame(v.ctx(), v); err != nil {
			return err
		}
		now, err := c.readFaults(v)
		now.form, now.wrong, l = l.form, l.wrong, now
		return err
	})
	if err != nil {
		return httpfront.Answer{}, err
	}
	return c.refuse(v, refused, l.page(v))
}

// refuse returns the answer with a page that says why a fault was not changed.
func (c *Console) refuse(v *visit, r *refusedFault, p page) (httpfront.Answer, error) {
	a, err := c.again(v, r.status, p, r.code)
	if r.wait > 0 {
		a.Header.Set("Retry-After", fmt.Sprint(math.Ceil(r.wait.Seconds())))
	}
	return a, err
}

// fault returns the fault of the form, without a name.
func (f *faultForm) fault() faults.Fault {
	fault := f.preset.Fault
	fault.Name = ""
	fault.When.MSISDN = strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, postgres.Text(f.set.Get("msisdn")))
	fault.When.Reference = strings.TrimSpace(postgres.Text(f.set.Get("reference")))
	return fault
}

// wrongIn returns what is wrong with a field of the form for a preset; empty for nothing.
func (l *faultList) wrongIn(p *faults.Preset, field string) string {
	if l.form == nil || l.form.preset.Name != p.Name || l.form.refused == nil || l.form.refused.field != field {
		return ""
	}
	return l.form.refused.text
}

// value returns the value of a field of the form for a preset: the one that was refused, or nothing.
func (l *faultList) value(p *faults.Preset, field string) string {
	if l.form == nil || l.form.preset.Name != p.Name {
		return ""
	}
	return l.form.set.Get(field)
}

// lasts returns the time in the form for a preset.
func (l *faultList) lasts(p *faults.Preset) string { return cmp.Or(l.value(p, "for"), firstFaultTime) }

// fieldIsWrong reports whether a field of the form for a preset was refused.
func (l *faultList) fieldIsWrong(p *faults.Preset) bool {
	return l.wrongIn(p, "msisdn")+l.wrongIn(p, "reference")+l.wrongIn(p, "name") != "" || l.value(p, "msisdn")+l.value(p, "reference") != ""
}

// language returns the language of the texts of [faultList.wrongIn].
func (l *faultList) language(v *visit) string {
	if l.form == nil || l.form.refused == nil {
		return v.Tag
	}
	return l.form.refused.language
}

// switchOn sets a fault for the time of the form. Without a name it takes one that says what the fault does and to whom.
// It returns why the fault is not set. A form that was sent twice is no reason.
func (c *Console) switchOn(v *visit, f faults.Fault, name string) (*refusedFault, error) {
	lasts, known := faultTimes[v.form("for")]
	if !known {
		return nil, errBadForm
	}
	states, err := c.faultStates(v)
	if err != nil {
		return nil, err
	}
	if f.Name = name; name == "" {
		f.Name = freeName(&f, states)
	}
	for i := range states {
		there := &states[i]
		if there.Name != f.Name || there.Set == nil || v.showed(there) {
			continue
		}
		if bytes.Equal(service.EntryOf(&there.Fault), service.EntryOf(&f)) {
			return nil, nil // a double click
		}
		return v.conflict(v.Text("Somebody has switched on %s meanwhile. It stands above now: switch yours on again to replace it.", f.Name)), nil
	}
	return v.refusal(c.Service.SetFault(v.ctx(), v.who, faultcounts.Setting{
		Name: f.Name, Entry: service.EntryOf(&f), For: lasts, By: "console",
	}))
}

// switchOff removes a fault, or all that were set for [allFaults]. What is off already is no reason for a refusal.
func (c *Console) switchOff(v *visit, name string) (*refusedFault, error) {
	states, err := c.faultStates(v)
	if err != nil {
		return nil, err
	}
	for i := range states {
		there := &states[i]
		if there.Set == nil || name != allFaults && there.Name != name || v.showed(there) {
			continue
		}
		return v.conflict(v.Text("Somebody has switched on %s meanwhile. Nothing was switched off: look at it, and choose again.", there.Name)), nil
	}
	if name == allFaults {
		name = ""
	}
	return v.refusal(c.Service.RemoveFaults(v.ctx(), v.who, name))
}

func (c *Console) faultStates(v *visit) (states []service.FaultState, err error) {
	err = c.renewing(v, func() (err error) {
		states, err = c.Service.Faults(v.ctx(), v.who.Sandbox)
		return err
	})
	return states, err
}

// showed reports whether the page of the form had this setting of a fault. A form changes only what its page showed.
func (v *visit) showed(f *service.FaultState) bool {
	return slices.Contains(strings.Split(v.form("shown"), ","), strconv.FormatInt(f.Number, 10))
}

func (v *visit) conflict(text string) *refusedFault {
	return &refusedFault{status: http.StatusConflict, code: "conflict", text: text, language: v.Tag}
}

// refusal returns why a fault was not changed, for an error of the service. It returns other errors.
func (v *visit) refusal(err error) (*refusedFault, error) {
	var invalid service.ErrInvalidFault
	var often faultcounts.ErrTooManyChanges
	r := &refusedFault{language: v.Tag}
	switch {
	case err == nil, errors.Is(err, faultcounts.ErrNoFault): // it has ended, or somebody has removed it
		return nil, nil
	case errors.As(err, &invalid):
		return v.invalidFault(invalid.Problems), nil
	case errors.As(err, new(faultcounts.ErrDeclared)):
		r.status, r.code, r.field = http.StatusConflict, "managed_by_resource", "name"
		r.text = v.Text("spec.faults declares a fault with this name. Write another name.")
	case errors.Is(err, faultcounts.ErrTooManyFaults):
		r.status, r.code = http.StatusConflict, "too_many_faults"
		r.text = v.Text("%d faults are on, and there may be no more. Switch one off first.", faultcounts.MaxSet)
	case errors.As(err, &often):
		r.status, r.code, r.wait = http.StatusTooManyRequests, "too_many_changes", max(often.Wait, time.Second)
		r.text = v.Text("The faults were changed ten times in ten seconds. Nothing was changed. Try again in %s.", v.Duration(r.wait))
	case errors.As(err, new(service.ErrDenied)):
		r.status, r.code, r.text = http.StatusForbidden, "forbidden", faultsDeniedText(v)
	default:
		return nil, err
	}
	return r, nil
}

// invalidFault returns why a fault is not valid. The rules of the resource have their texts in English, so the fields that a
// person writes have texts of their own.
func (v *visit) invalidFault(problems map[string][]string) *refusedFault {
	r := &refusedFault{status: http.StatusUnprocessableEntity, code: "invalid_body", language: v.Tag}
	switch {
	case problems["name"] != nil:
		r.field, r.text = "name", v.Text("Write a name of a-z, 0-9 and -, at most 63 characters.")
	case problems["when.msisdn"] != nil:
		r.field, r.text = "msisdn", v.Text("Write the number with + and the country, digits only: %s", v.exampleNumber())
	case problems["when.reference"] != nil:
		r.field, r.text = "reference", v.Text("Write at most 80 characters. * is any text, ? is any character.")
	default:
		r.language = "en"
		for field, all := range problems {
			r.text += strings.TrimSpace(field + " " + strings.Join(all, "; "))
		}
	}
	return r
}

// longestName is the maximum length of a fault's name.
const longestName = 63

// freeName returns a name for a fault: that of its preset, then on whose payments it acts. No other fault has the name,
// except one that does the same to the same payments, which the new one replaces.
func freeName(f *faults.Fault, states []service.FaultState) string {
	name := presetOf(f).Name
	for _, part := range []string{f.When.MSISDN, f.When.Reference} {
		words := strings.FieldsFunc(strings.ToLower(part), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
		name = strings.Join(append([]string{name}, words...), "-")
	}
	for n := 1; ; n++ {
		end := ""
		if n > 1 {
			end = "-" + strconv.Itoa(n)
		}
		free := strings.TrimRight(name[:min(len(name), longestName-len(end))], "-") + end
		if !slices.ContainsFunc(states, func(there service.FaultState) bool {
			return there.Name == free && (there.Set == nil || conditions(there.When) != conditions(f.When))
		}) {
			return free
		}
	}
}

// faultsDeniedText says that the sandbox does not allow it, and how its owner can.
func faultsDeniedText(v *visit) string {
	if v.dev {
		return v.Text("This sandbox does not let the console switch faults on. Write `faults: true` under `api` in `spec` of its file, and start `cauri dev` again; with `--watch`, save the file.")
	}
	return v.Text("This sandbox does not let the console switch faults on: its owner allows it with `spec.api.faults`.")
}

// faultsCommand returns the command that lets the console switch faults on.
func (v *visit) faultsCommand() string {
	return "kubectl -n " + v.namespace + " patch sandboxenvironment " + v.name + ` --type=merge -p '{"spec":{"api":{"faults":true}}}'`
}
