package faultcounts

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/postgres"
)

// MaxSet is how many faults may be set in a sandbox, beside those of its resource.
const MaxSet = 20

var (
	// ErrNoFault is returned if there is no fault to remove.
	ErrNoFault = errors.New("no such fault was set")
	// ErrTooManyFaults is returned if [MaxSet] faults are set.
	ErrTooManyFaults = fmt.Errorf("%d faults are set", MaxSet)
)

// ErrDeclared is returned for a name that a fault of the sandbox's resource has.
type ErrDeclared struct{ Name string }

func (e ErrDeclared) Error() string { return "the resource declares the fault " + e.Name }

// ErrTooManyChanges is returned after ten changes in ten seconds.
type ErrTooManyChanges struct{ Wait time.Duration } // until the next one may follow

func (e ErrTooManyChanges) Error() string { return "the faults were changed ten times in ten seconds" }

// Setting is a fault that was set while the sandbox ran.
type Setting struct {
	Name  string
	Entry []byte        // as in spec.faults
	For   time.Duration // real time; 0: until it is removed
	By    string        // who sets it: api, console or cli
}

// SetFault sets a fault. It replaces a fault that was set with the same name. It returns [ErrDeclared],
// [ErrTooManyFaults], [ErrTooManyChanges], and [postgres.ErrConfigChanged] if the sandbox does not allow it any more, or
// was reset or deleted.
func (s *Faults) SetFault(ctx context.Context, tenant int64, f Setting) error {
	return s.changeFaults(ctx, tenant, &f.Name, f)
}

// RemoveFaults removes the fault that was set with a name, or all that were set if the name is empty. It returns
// [ErrNoFault], and the errors of [Faults.SetFault].
func (s *Faults) RemoveFaults(ctx context.Context, tenant int64, name string) error {
	if name == "" {
		return s.changeFaults(ctx, tenant, nil, Setting{})
	}
	return s.changeFaults(ctx, tenant, &name, Setting{})
}

func (s *Faults) changeFaults(ctx context.Context, tenant int64, name *string, f Setting) error {
	row, err := s.core.Tenant(tenant).ChangeFaults(ctx, name, f.Entry, f.For.Milliseconds(), f.By)
	if err != nil {
		return postgres.ClassifyWrite(err, "changing the faults of the sandbox")
	}
	switch row.Result {
	case "changed":
		return postgres.ErrConfigChanged
	case "declared":
		return ErrDeclared{f.Name}
	case "too many":
		return ErrTooManyFaults
	case "too often":
		return ErrTooManyChanges{time.Duration(row.WaitSeconds) * time.Second}
	case "none":
		return ErrNoFault
	}
	return nil
}

// SetState is a fault that was set, as it is now.
type SetState struct {
	faults.Fault
	By    string
	SetAt time.Time     // real time
	Ends  *time.Time    // real time; nil: when it is removed
	Left  time.Duration // until Ends
}

// SetFaults returns the faults that were set and have not ended, the newest first.
func (s *Faults) SetFaults(ctx context.Context, tenant int64) ([]SetState, error) {
	rows, err := s.core.Tenant(tenant).SetFaults(ctx, tenant)
	if err != nil {
		return nil, postgres.Classify(err, "reading the faults that were set")
	}
	states := make([]SetState, len(rows))
	for i, row := range rows {
		f, err := faults.ParseSet(row.Number, row.Entry, time.Time{})
		if err != nil {
			return nil, err
		}
		states[i] = SetState{Fault: f, By: row.SetBy, SetAt: row.SetAt, Ends: row.EndsAt}
		if row.EndsAt != nil {
			states[i].Left = row.EndsAt.Sub(row.Present)
		}
	}
	return states, nil
}
