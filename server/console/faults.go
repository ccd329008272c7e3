package console

import (
	"cmp"
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cauri-dev/cauri/server/console/locale"
	"github.com/cauri-dev/cauri/server/english"
	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/ledger/lists"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/service"
	"github.com/cauri-dev/cauri/server/stories"
)

const (
	// faultsEvery is the interval in seconds at which the browser reads the remaining times of faults again.
	faultsEvery = 30
	// mostSearched is the number of transactions, the newest ones, among which the page finds those that a fault touched.
	mostSearched = 100
	// mostTouched is the maximum number of transactions that the page names for a fault.
	mostTouched = 3
)

// presetTitles are the titles of the presets, by name.
var presetTitles = map[string]english.Text{
	"lost-answer": "Answer lost", "unavailable": "503, not available", "too-many-requests": "429, too many requests", "slow": "Slow answer",
	"not-json": "Answer that is not JSON", "late-webhook": "Late webhook", "no-webhook": "Webhook that never comes", "twice": "Webhook twice",
	"twice-at-once": "Webhook twice at once", "out-of-order": "Webhooks out of order", "webhook-first": "Webhook before the answer",
	"forged": "Forged webhook", "silent-operator": "Silent operator", "flapping-query": "Query that flickers",
}

// presetGroups are the presets of the page by their kinds, in its order.
var presetGroups = []struct {
	kind  faults.Kind
	title english.Text
}{
	{faults.APIKind, "Answers to your code"},
	{faults.WebhookKind, "Webhooks"},
	{faults.OperatorKind, "An operator's own API"},
}

// faultList is the faults of a sandbox, in the order in which they act.
type faultList struct {
	all     []shownFault
	clients []ledger.TestClient // to choose a number from
	form    *faultForm          // that was refused; nil: none
	wrong   string              // why no fault was switched off; empty: nothing is wrong
}

// shownFault is a fault with the transactions that it touched, as far as they are among the newest.
type shownFault struct {
	service.FaultState
	touched []touched
}

// touched is a transaction on which a fault acted.
type touched struct{ id, title string }

// faults returns the faults of the sandbox that have not ended, by the configuration in memory.
func (v *visit) faults() faults.Set { return v.who.Sandbox.Faults.At(time.Now()) }

// mayChangeFaults reports whether the session may set and remove faults, and the sandbox allows it.
func (v *visit) mayChangeFaults() bool { return v.may(full) && v.who.Sandbox.API.Faults }

// faults shows the presets, and the faults of the sandbox.
func (c *Console) faults(v *visit) (page, error) {
	l, err := c.readFaults(v)
	return l.page(v), err
}

func (c *Console) readFaults(v *visit) (*faultList, error) {
	ctx, sandbox := v.ctx(), v.who.Sandbox
	l := &faultList{}
	states, err := c.Service.Faults(ctx, sandbox)
	if err != nil {
		return l, err
	}
	acted := false
	for _, state := range states {
		l.all = append(l.all, shownFault{FaultState: state})
		acted = acted || state.Acts.Acts > 0
	}
	if acted {
		newest, err := c.Ledger.ListTransactions(ctx, sandbox.Tenant, lists.Filter{}, nil, mostSearched)
		if err != nil {
			return l, err
		}
		for i := range l.all {
			f := &l.all[i]
			for _, t := range newest {
				if len(f.touched) < min(mostTouched, int(f.Acts.Acts)) && slices.Contains(t.Faults, f.Name) {
					f.touched = append(f.touched, touched{t.ID.String(), cmp.Or(t.OrderRef, t.Reference, t.ID.String())})
				}
			}
		}
	}
	if v.mayChangeFaults() {
		l.clients, err = c.Ledger.ListTestClients(ctx, sandbox.Tenant, ledger.TestClientFilter{}, "", mostClients)
	}
	return l, err
}

func (l *faultList) page(v *visit) page {
	p := page{
		title: v.Text("Faults on purpose"), body: faultsPage(v, l), live: []string{"lead", "faults-on"}, every: faultsEvery,
	}
	if v.mayChangeFaults() {
		for _, each := range v.presets() {
			p.live = append(p.live, "state-"+each.Name)
		}
	}
	return p
}

// lead returns a sentence with the number of faults.
func (l *faultList) lead(v *visit) string {
	switch n := int64(len(l.all)); {
	case n > 0:
		return v.Count(n, "One fault on purpose is on.", "%s faults on purpose are on.") + " " +
			v.Text("They change messages only: no payment and no balance.")
	case v.mayChangeFaults():
		return v.Text("All behaves well. Switch on what should go wrong, pay, and see what your shop does.")
	}
	return v.Text("None: every request and every event behaves well.")
}

// set returns the faults that were set while the sandbox ran.
func (l *faultList) set() (all []*shownFault) {
	for i := range l.all {
		if l.all[i].Set != nil {
			all = append(all, &l.all[i])
		}
	}
	return all
}

// of returns the faults that were set and do what a preset does.
func (l *faultList) of(p *faults.Preset) (all []*shownFault) {
	for _, f := range l.set() {
		if does(&f.Fault, p) {
			all = append(all, f)
		}
	}
	return all
}

// shown returns the numbers of the faults that were set, for the forms of the page: see [visit.showed].
func (l *faultList) shown() string {
	var numbers []string
	for _, f := range l.set() {
		numbers = append(numbers, strconv.FormatInt(f.Number, 10))
	}
	return strings.Join(numbers, ",")
}

// does reports whether a fault has the effects of a preset, on whatever it acts.
func does(f *faults.Fault, p *faults.Preset) bool {
	return reflect.DeepEqual([]any{f.Webhook, f.API, f.Operator}, []any{p.Fault.Webhook, p.Fault.API, p.Fault.Operator})
}

// presets returns the presets that can act in the sandbox: those of one operator only where it is.
func (v *visit) presets() []faults.Preset {
	return slices.DeleteFunc(faults.Presets(), func(p faults.Preset) bool {
		return p.Fault.When.Operator != "" && !v.who.Sandbox.Has(p.Fault.When.Operator)
	})
}

// presetOf returns the preset whose effects a fault has; nil for none.
func presetOf(f *faults.Fault) *faults.Preset {
	for _, p := range faults.Presets() {
		if does(f, &p) {
			return &p
		}
	}
	return nil
}

// what says what a fault does.
func (v *visit) what(f *faults.Fault) string {
	if p := presetOf(f); p != nil {
		return v.Text(p.What)
	}
	return v.Say(f.Effect())
}

// faultTitle returns the title of a fault: that of its preset, or its name.
func (v *visit) faultTitle(f *faults.Fault) string {
	if p := presetOf(f); p != nil {
		return v.Text(presetTitles[p.Name])
	}
	return f.Name
}

// whom says on whose payments a fault acts. It leaves out conditions that belong to what the fault does.
func (v *visit) whom(f *faults.Fault) string {
	rest := f.When
	rest.MSISDN, rest.Reference, rest.First, rest.Attempt, rest.Every = "", "", 0, 0, false
	if p := presetOf(f); p != nil && p.Fault.When.Operator == rest.Operator {
		rest.Operator = ""
	}
	one := f.When.MSISDN != "" && f.When.Reference == "" && f.When.First == 1
	if one && conditions(rest) == conditions(faults.When{Type: payments.Collection}) {
		return v.Text("the next payment of %s", locale.Phone(f.When.MSISDN))
	}
	var all []string
	if f.When.MSISDN != "" {
		all = append(all, v.Text("the number %s", locale.Phone(f.When.MSISDN)))
	}
	if f.When.Reference != "" {
		all = append(all, v.Text("the reference %s", isolated(f.When.Reference)))
	}
	if others := conditions(rest); others != "" {
		all = append(all, isolated(others))
	}
	if len(all) == 0 {
		return v.Text("everybody")
	}
	return strings.Join(all, ", ")
}

// conditions returns the conditions of a fault as a text: type:collection, status:SUCCESS.
func conditions(w faults.When) string {
	text, _ := json.Marshal(w) // plain data is always encoded
	return strings.NewReplacer(`,"`, ", ", `"`, "").Replace(strings.Trim(string(text), "{}"))
}

// left says how long a fault acts, and how often.
func (f *shownFault) left(v *visit) string {
	var all []string
	switch {
	case f.Set == nil:
	case f.Set.Ends == nil:
		all = append(all, v.Text("until it is switched off"))
	case f.Set.Left < time.Minute:
		all = append(all, v.Text("less than a minute left"))
	default:
		all = append(all, v.Text("%s left", minutes(v, f.Set.Left+time.Minute-1)))
	}
	switch first := f.When.First - f.Acts.Acts; {
	case f.When.First == 0:
	case first <= 0:
		all = append(all, v.Text("acts no more"))
	default:
		all = append(all, v.Count(first, "acts once more", "acts %s times more"))
	}
	return strings.Join(all, ", ")
}

// setters say who set a fault.
var setters = map[string]english.Text{
	"api": "by a request", "cli": "by the command line", "console": "in the console",
}

// source says who set a fault, and when in real time.
func (f *shownFault) source(v *visit) string {
	if f.Set == nil {
		return v.Text("Declared in spec.faults: only the resource removes it.")
	}
	return v.Text("Switched on %s, %s.", v.Text(setters[f.Set.By]), v.At(f.Set.SetAt, v.clockAt))
}

// mostNamed is the maximum number of faults that the banner names.
const mostNamed = 3

// alone returns the faults that are on, without those of stories.
func (v *visit) alone() (on faults.Set) {
	for _, f := range v.on {
		if stories.OfFault(f.Name) == nil {
			on = append(on, f)
		}
	}
	return on
}

// faultsOn names faults, with those on whose payments they act.
func (v *visit) faultsOn(on faults.Set) string {
	var all []string
	for _, f := range on[:min(mostNamed, len(on))] {
		all = append(all, v.Text("%s for %s", v.faultTitle(&f), v.whom(&f)))
	}
	if more := len(on) - len(all); more > 0 {
		all = append(all, v.Count(int64(more), "and one more", "and %s more"))
	}
	return v.Joined(all) + "."
}
