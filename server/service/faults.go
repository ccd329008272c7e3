package service

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/ledger/faultcounts"
	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// MinFaultTime and MaxFaultTime bound the time for which a fault is set, in real time. An answer to the setting comes
// sooner than the shortest time.
const (
	MinFaultTime = 10 * time.Second
	MaxFaultTime = 24 * time.Hour
)

// FaultRules returns what is wrong with a fault, which is JSON as in spec.faults: messages by field, as in
// `webhook.delay`. An empty field stands for the whole fault. The result is empty for a valid fault.
type FaultRules func(fault []byte) map[string][]string

// ErrInvalidFault is returned for a fault that spec.faults could not declare.
type ErrInvalidFault struct{ Problems map[string][]string } // see [FaultRules]

func (ErrInvalidFault) Error() string { return "the fault is not valid" }

// SetFault sets a fault beside those of the sandbox's resource. No fault acts on this call, since a fault that ends
// requests would end the one that removes it. It returns [ErrInvalidFault], [ErrDenied], and the errors of
// [faultcounts.Faults.SetFault].
func (s *Service) SetFault(ctx context.Context, who *Caller, f faultcounts.Setting) error {
	if problems := s.faultProblems(who.Sandbox, f.Entry); len(problems) > 0 {
		return ErrInvalidFault{problems}
	}
	if problems := flickersNowhere(who.Sandbox, f.Entry); len(problems) > 0 {
		return ErrInvalidFault{problems}
	}
	return s.changeFaults(ctx, who, func(ctx context.Context, sandbox *sandboxes.Sandbox) error {
		return s.ledger.SetFault(ctx, sandbox.Tenant, f)
	})
}

// faultProblems returns what is wrong with a fault of a sandbox. An operator or a country that the sandbox does not know is refused
// as one that nobody knows: the rules see a value that no table has, and the message names what the sandbox knows.
func (s *Service) faultProblems(sandbox *sandboxes.Sandbox, entry []byte) map[string][]string {
	var fault map[string]any
	_ = json.Unmarshal(entry, &fault) // the rules say what is wrong with it
	when, _ := fault["when"].(map[string]any)
	refused := map[string]string{}
	for name, known := range map[string][]string{
		"operator": payments.Texts(sandbox.Known.Operators()), "country": payments.Texts(sandbox.Known.Countries()),
	} {
		if value, ok := when[name].(string); ok && !slices.Contains(known, value) {
			refused["when."+name] = fmt.Sprintf(`Unsupported value: %q: supported values: "%s"`, value, strings.Join(known, `", "`))
			when[name] = "none"
		}
	}
	if len(refused) > 0 {
		entry, _ = json.Marshal(fault) // it was read from JSON
	}
	problems := s.faultRules(entry)
	for field, message := range refused {
		problems[field] = []string{message}
	}
	return problems
}

// flickersNowhere returns what is wrong with a fault that lets the status of any operator flicker, in a sandbox that has
// none of those whose status flickers. The resource has the same rule for spec.faults.
func flickersNowhere(sandbox *sandboxes.Sandbox, entry []byte) map[string][]string {
	f, err := faults.ParseSet(0, entry, time.Time{})
	if err != nil || f.Operator == nil || !f.Operator.StatusFlickers || f.When.Operator != "" {
		return nil
	}
	flickering := operators.Flickering()
	if slices.ContainsFunc(sandbox.Markets, func(m sandboxes.Market) bool { return slices.Contains(flickering, m.Operator) }) {
		return nil
	}
	return map[string][]string{"operator.statusFlickers": {fmt.Sprintf(
		"only the status of %s flickers: write an environment of %s, or leave statusFlickers out", payments.AllOf(flickering), payments.OneOf(flickering),
	)}}
}

// RemoveFaults removes the fault that was set with a name, or all that were set if the name is empty. It returns
// [ErrDenied], and the errors of [faultcounts.Faults.RemoveFaults].
func (s *Service) RemoveFaults(ctx context.Context, who *Caller, name string) error {
	return s.changeFaults(ctx, who, func(ctx context.Context, sandbox *sandboxes.Sandbox) error {
		return s.ledger.RemoveFaults(ctx, sandbox.Tenant, name)
	})
}

// changeFaults calls f if the sandbox allows it, and then reads the configuration, so that the next request of the
// caller meets the change. Other processes read it within half a second.
func (s *Service) changeFaults(ctx context.Context, who *Caller, f func(context.Context, *sandboxes.Sandbox) error) error {
	if err := s.permitted(ctx, who, changeFaults, f); err != nil {
		return err
	}
	_ = s.directory.Refresh(ctx) // the change is recorded, and the next poll reads it
	return nil
}

// FaultState is a fault of a sandbox with what it did.
type FaultState struct {
	faults.Fault
	Acts ledger.FaultActs
	Set  *faultcounts.SetState // nil: the resource declares it
}

// Faults returns the faults of a sandbox in the order in which they act.
func (s *Service) Faults(ctx context.Context, sandbox *sandboxes.Sandbox) ([]FaultState, error) {
	now, err := s.ledger.FaultsNow(ctx, sandbox.Tenant)
	return FaultStates(&now, sandbox.Faults), err
}

// FaultStates returns the faults that were set, and those of a sandbox's configuration that its resource declares.
func FaultStates(now *ledger.FaultsNow, configured faults.Set) (states []FaultState) {
	for i := range now.Set {
		states = append(states, FaultState{Fault: now.Set[i].Fault, Set: &now.Set[i]})
	}
	for _, f := range configured {
		if f.Number == 0 {
			states = append(states, FaultState{Fault: f})
		}
	}
	for i := range states {
		states[i].Acts = now.Acts(&states[i].Fault)
	}
	return states
}

// EntryOf returns a fault as in spec.faults.
func EntryOf(f *faults.Fault) []byte {
	entry, err := json.Marshal(f)
	if err != nil {
		panic(err) // it was read from JSON, or is of this program
	}
	return entry
}
