package service

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// configuration is that of one sandbox, whose version a test sets.
type configuration struct {
	sandbox *sandboxes.Sandbox // nil: the key opens none
	err     error              // of reading it
}

func (c *configuration) Refresh(context.Context) error { return c.err }

func (c *configuration) ByKey(sandboxes.KeyHash) (*sandboxes.Sandbox, bool) {
	return c.sandbox, c.sandbox != nil
}

// counted counts what was recorded.
type counted struct{ recorded, faults int }

func (c *counted) Recorded(string, string) { c.recorded++ }
func (c *counted) FaultApplied(string)     { c.faults++ }

// fixture is a service without a database, whose sandbox has the configuration 1.
type fixture struct {
	*Service
	configuration configuration
	counted       counted
	who           Caller
	recording     *recording
}

func newFixture() *fixture {
	f := &fixture{who: Caller{Sandbox: &sandboxes.Sandbox{ConfigVersion: 1}}}
	f.configuration.sandbox = f.who.Sandbox
	f.Service = New(Options{Directory: &f.configuration, Metrics: &f.counted, Now: time.Now})
	f.recording = newRecording(payments.Collection, Order{
		Order: payments.Order{Details: payments.Details{Reference: "r"}}, Fingerprint: func(reference string) []byte { return []byte(reference) },
	})
	return f
}

// tries fails with one error after the other, and then records a transaction.
func (f *fixture) tries(failures ...error) (try attempt, made *int) {
	made = new(int)
	return func(context.Context, *Caller, *recording) (Recorded, error) {
		*made++
		if *made <= len(failures) {
			return Recorded{}, failures[*made-1]
		}
		return Recorded{Transaction: &payments.Transaction{Status: payments.Success}}, nil
	}, made
}

func TestTransactionIsRecordedOnce(t *testing.T) {
	taken := &ledger.ErrReferenceTaken{
		Transaction: &payments.Transaction{Details: payments.Details{Reference: "r"}, Type: payments.Collection}, RequestHash: []byte("r"),
	}
	other := &ledger.ErrReferenceTaken{Transaction: taken.Transaction, RequestHash: []byte("other")}
	changed := postgres.ErrConfigChanged
	for name, c := range map[string]struct {
		failures []error
		tries    int
		replayed bool
		err      error // nil: none
	}{
		"at once":                                {nil, 1, false, nil},
		"after the configuration changed":        {[]error{changed, changed}, 3, false, nil},
		"not while it changes again and again":   {repeated(changed, maxTries), maxTries, false, changed},
		"not without the database":               {[]error{postgres.ErrUnavailable}, 1, false, postgres.ErrUnavailable},
		"by the same request before":             {[]error{taken}, 1, true, nil},
		"not for another request":                {[]error{other}, 1, false, ErrDuplicateReference{other}},
		"not for a failure of the current state": {[]error{errors.ErrUnsupported}, 1, false, errors.ErrUnsupported},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture()
			try, tries := f.tries(c.failures...)
			made, err := f.record(t.Context(), &f.who, f.recording, nil, try)
			if *tries != c.tries || made.Replayed != c.replayed || !errors.Is(err, c.err) {
				t.Errorf("after %d tries: %+v, %v", *tries, made, err)
			}
		})
	}
}

func repeated(err error, times int) (all []error) {
	for range times {
		all = append(all, err)
	}
	return all
}

// What an old configuration refuses is tried again with the current one.
func TestRefusalByAnOldConfiguration(t *testing.T) {
	f := newFixture()
	f.configuration.sandbox = &sandboxes.Sandbox{ConfigVersion: 2}
	try, tries := f.tries(errors.ErrUnsupported)
	if _, err := f.record(t.Context(), &f.who, f.recording, nil, try); err != nil || *tries != 2 || f.who.Sandbox.ConfigVersion != 2 {
		t.Errorf("after %d tries: %v; the configuration is %d", *tries, err, f.who.Sandbox.ConfigVersion)
	}
}

// A request ends if its key does not open the sandbox any more, or the sandbox is suspended.
func TestCallerThatIsGone(t *testing.T) {
	for name, c := range map[string]struct {
		configuration configuration
		want          error
	}{
		"revoked":         {configuration{}, ErrUnauthorized},
		"suspended":       {configuration{sandbox: &sandboxes.Sandbox{Suspended: true}}, ErrSuspended},
		"not to be known": {configuration{err: postgres.ErrUnavailable}, postgres.ErrUnavailable},
	} {
		f := newFixture()
		f.configuration = c.configuration
		try, tries := f.tries(repeated(postgres.ErrConfigChanged, maxTries)...)
		if _, err := f.record(t.Context(), &f.who, f.recording, nil, try); !errors.Is(err, c.want) || *tries != 1 {
			t.Errorf("%s, after %d tries: %v", name, *tries, err)
		}
		calls := 0
		err := f.Renewing(t.Context(), &f.who, func(context.Context) error { calls++; return postgres.ErrConfigChanged })
		if !errors.Is(err, c.want) || calls != 1 {
			t.Errorf("%s, renewed after %d calls: %v", name, calls, err)
		}
	}
}

// The reference with which a request has to be repeated is in its error. Only what is new is counted.
func TestRecordTellsTheReferenceAndCounts(t *testing.T) {
	f := newFixture()
	try, _ := f.tries(postgres.ErrUncertain)
	_, err := f.record(t.Context(), &f.who, f.recording, nil, try)
	if unfinished := (ErrUnfinished{}); !errors.As(err, &unfinished) || unfinished.Reference != "r" {
		t.Errorf("the error is %v", err)
	}
	if _, err := f.record(t.Context(), &f.who, f.recording, nil, try); err != nil || f.counted.recorded != 1 {
		t.Errorf("%d were counted, %v", f.counted.recorded, err)
	}
	try, _ = f.tries(&ledger.ErrReferenceTaken{
		Transaction: &payments.Transaction{Type: payments.Collection}, RequestHash: []byte("r"),
	})
	if made, err := f.record(t.Context(), &f.who, f.recording, nil, try); err != nil || !made.Replayed || f.counted.recorded != 1 {
		t.Errorf("%+v: %d were counted, %v", made, f.counted.recorded, err)
	}
}

// A write has its own deadline, and goes on when its client disconnects.
func TestWriteOutlivesItsClient(t *testing.T) {
	client, leave := context.WithCancel(t.Context())
	leave()
	f := newFixture()
	_, err := f.record(client, &f.who, f.recording, nil, func(ctx context.Context, _ *Caller, _ *recording) (Recorded, error) {
		if until, bounded := ctx.Deadline(); !bounded || time.Until(until) > recordTimeout {
			t.Errorf("it is bounded by %v", until)
		}
		return Recorded{Transaction: &payments.Transaction{}}, ctx.Err()
	})
	if err != nil {
		t.Error(err)
	}
}

// A fault is decided before a request is tried. Without faults, nothing is looked up for them.
func TestFaultBeforeTheRequest(t *testing.T) {
	f := newFixture()
	described := 0
	decide := func() error {
		return f.applyFaultTo(t.Context(), &f.who, f.recording, func(context.Context, *sandboxes.Sandbox, *recording) (*faults.Target, error) {
			described++
			return nil, errors.ErrUnsupported
		})
	}
	if err := decide(); err != nil || described != 0 {
		t.Errorf("without faults: %v", err)
	}
	fault := faults.Fault{Name: "bad", API: &faults.API{Status: 502}}
	f.who.Sandbox.Faults = faults.Set{fault}
	if err := decide(); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("with a fault: %v", err)
	}
	if err := f.decided(&f.who.Faults, &fault); !errors.As(err, new(ErrFault)) || f.counted.faults != 1 {
		t.Errorf("the fault that ends a request: %v", err)
	}
	if err := decide(); err != nil || described != 1 { // it is decided once
		t.Errorf("when it is decided: %v", err)
	}
}
