package worker

import (
	"context"
	"errors"
	"time"

	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/ledger/queues"
	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/operators/adapter"
	"github.com/cauri-dev/cauri/server/payments"
)

const (
	// forwardConcurrency is the maximum number of concurrent exchanges with operators, forwardPerSandbox that of one
	// sandbox.
	forwardConcurrency = 256
	forwardPerSandbox  = 32
	// forwardLease is longer than an exchange with the write of its result.
	forwardLease = exchangeTimeout + 5*time.Second
	// forwardTries is a number of consecutive failed attempts. After these, a collection that no operator has accepted
	// ends with SERVICE_UNAVAILABLE.
	forwardTries = 3
	firstRetry   = time.Second
	// The time between two status queries of an accepted collection is its age divided by askAgeDivisor, within the
	// bounds below. So the queries are frequent while the payer is likely to answer, and rare later.
	askAgeDivisor = 5
	askSoonest    = 250 * time.Millisecond
	askLatest     = 30 * time.Second
)

// forwardingDatabase has the methods of the database that forwarding to operators needs.
type forwardingDatabase interface {
	TenantsToForward(ctx context.Context) ([]queues.DueTenant, error)
	LeaseDueForwards(ctx context.Context, from []queues.SlotGrant, lease time.Duration) (
		leased []ledger.Forward, found map[int64]int, err error)
	GiveBackForwards(ctx context.Context, forwards []ledger.Forward) error
	BeginForwardAttempt(ctx context.Context, f *ledger.Forward) (begun bool, err error)
	SettleForward(ctx context.Context, f *ledger.Forward, o ledger.OperatorResult) (leaseHeld bool, err error)
	DeferForward(ctx context.Context, f *ledger.Forward, d ledger.Deferred) (leaseHeld bool, err error)
}

// forward sends the collections of unknown payers to the operators' APIs, which decide them. It leases the collections,
// because no database transaction may stay open during an exchange with an operator.
func (w *Worker) forward(ctx context.Context) {
	dispatcher := leasedDispatcher[ledger.Forward]{
		worker: w, name: "passthrough", queue: w.forwarding, inUse: w.queues.forwards,
		listDue: w.database.TenantsToForward, attempt: w.forwardOne, release: w.database.GiveBackForwards,
		lease: func(ctx context.Context, grants []queues.SlotGrant) ([]ledger.Forward, map[int64]int, error) {
			return w.database.LeaseDueForwards(ctx, grants, forwardLease)
		},
		tenant: func(f *ledger.Forward) int64 { return f.Tenant },
	}
	dispatcher.run(ctx)
}

// forwardOne makes one attempt to decide a collection.
func (w *Worker) forwardOne(ctx context.Context, f *ledger.Forward) (end attemptEnd, record func()) {
	log := w.log.With("transaction", f.Transaction.ID.String(), "organization", f.OrganizationID, "operator", f.Transaction.Operator,
		"accepted", f.Accepted, "expired", f.Expired, "attempts", f.Attempts, "failures", f.Failures)
	began := w.now()
	traced, span := w.tracing.Call(ctx, "operator exchange")
	got, d := w.decide(traced, f)
	w.observeForward(span, f, d, got, w.now().Sub(began))
	if got.unsent != nil {
		return answeredSoon, func() {
			log.ErrorContext(ctx, "cannot record the attempt, so the collection was not forwarded; retrying when the lease expires", "error",
				got.unsent)
		}
	}
	log = log.With("status", d.status(), "again_after", d.deferred.After)
	if got.err != nil {
		log = log.With("reason", got.err)
	}
	var refused adapter.ErrRefused
	return attemptEndOf(got.err == nil || errors.As(got.err, &refused), w.now().Sub(began)), func() {
		switch leaseHeld, err := w.recordDecision(ctx, f, d); {
		case err != nil:
			log.ErrorContext(ctx, "cannot record the answer of the operator; the operator will be asked again", "error", err)
		case !leaseHeld:
			log.WarnContext(ctx, "the exchange with the operator took longer than its lease; another worker has the collection")
		default:
			log.InfoContext(ctx, "exchange with the operator", "at_operator", f.BaseURL != "")
		}
	}
}

// exchanged is the result of an exchange with an operator.
type exchanged struct {
	accepted bool // whether the operator has the collection
	answer   adapter.Answer
	err      error // the operator gave no answer, or refused
	unsent   error // nothing was sent, for a reason that is not the operator's
}

// decide asks the operator's API that the store names. If the store names none, decide approves the collection.
func (w *Worker) decide(ctx context.Context, f *ledger.Forward) (exchanged, decision) {
	credentials, err := credentialsFor(f)
	if err == nil && f.BaseURL == "" {
		if f.Attempts == 0 {
			return exchanged{}, approve(f)
		}
		err = adapter.ErrRefused{Reason: "the store does not name the operator's API any more that has the payment"}
	}
	s := exchanged{accepted: f.Accepted, err: err}
	if err == nil {
		s = w.exchange(ctx, f, w.operators.apiFor(f, credentials))
	}
	if s.unsent != nil {
		return s, decision{}
	}
	return s, judgeForward(f, s)
}

// approve decides a collection whose store names no operator's API. The payer approves after the simulated latency,
// unless the collection expires first. The delay of the worker has no influence on this. The operator's payload is
// derived from the transaction, see [operators.Raw].
func approve(f *ledger.Forward) decision {
	ends, status := f.AnswerAfter, payments.Success
	if f.AnswerAfter >= f.ExpireAfter {
		ends, status = f.ExpireAfter, payments.Timeout
	}
	if f.Age < ends {
		return decision{deferred: ledger.Deferred{After: ends - f.Age}}
	}
	return settled(status, "", nil)
}

// exchange forwards a collection that no operator has accepted, and asks for its status after the simulated latency. It
// does not forward an expired collection, and asks for the status of an expired collection only after an attempt to
// send it.
func (w *Worker) exchange(ctx context.Context, f *ledger.Forward, api adapter.Client) (s exchanged) {
	ctx, cancel := context.WithTimeout(ctx, exchangeTimeout)
	defer cancel()
	s.accepted = f.Accepted
	switch {
	case f.Expired && f.Attempts == 0 && !f.Accepted:
		s.answer.Status = payments.Pending
		return s
	case !f.Expired && !f.Accepted:
		switch begun, err := w.database.BeginForwardAttempt(ctx, f); {
		case err != nil:
			s.unsent = err
			return s
		case !begun:
			s.unsent = errLeaseLost
			return s
		}
		if s.answer, s.err = w.collect(ctx, f, api); s.err != nil {
			return s
		}
		s.accepted = s.answer.Status == payments.Pending
		if !s.accepted {
			return s
		}
		f.Transaction.NativeRaw = s.answer.Raw
		if f.Age < f.AnswerAfter {
			return s
		}
		if s.answer.NativeID != "" {
			f.Transaction.NativeID = s.answer.NativeID
		}
	}
	s.answer, s.err = api.Ask(ctx, f.Transaction)
	return s
}

var errLeaseLost = errors.New("another worker has the collection")

// collect sends a collection to its operator. A duplicate error from the operator means that an earlier attempt
// arrived. If the last attempt fails, collect asks the operator once whether an attempt arrived.
func (w *Worker) collect(ctx context.Context, f *ledger.Forward, api adapter.Client) (adapter.Answer, error) {
	last := f.Failures+1 >= forwardTries
	sending, cancel := ctx, context.CancelFunc(func() {})
	if end, bounded := ctx.Deadline(); last && bounded {
		sending, cancel = context.WithTimeout(ctx, end.Sub(w.now())/2) // the rest is for the status query
	}
	defer cancel()
	answer, err := api.Collect(sending, f.Transaction)
	if err == nil && answer.Status == payments.DuplicateReference && f.Attempts > 0 {
		return adapter.Answer{Status: payments.Pending}, nil
	}
	var refused adapter.ErrRefused
	if err == nil || !errors.As(err, &refused) && !last || errors.As(err, &refused) && f.Attempts == 0 {
		return answer, err
	}
	if found, unknown := api.Ask(ctx, f.Transaction); unknown == nil {
		return found, nil
	}
	return answer, err
}

// decision is the next step of a collection: an outcome, or another attempt.
type decision struct {
	outcome  *ledger.OperatorResult
	deferred ledger.Deferred
}

func (d decision) status() payments.Status {
	if d.outcome == nil {
		return payments.Pending
	}
	return d.outcome.Status
}

// judgeForward decides the next step of a collection after an exchange. Only the operator's answer or the expiry ends a
// collection that the operator has accepted, because the payer may still pay it. A refusal or forwardTries failures end
// a collection that no operator has accepted.
func judgeForward(f *ledger.Forward, s exchanged) decision {
	var refused adapter.ErrRefused
	switch {
	case s.err == nil && s.answer.Status.Terminal():
		return settled(s.answer.Status, s.answer.NativeID, s.answer.Raw)
	case f.Expired:
		return settled(payments.Timeout, "", nil)
	case s.err == nil:
		return decision{deferred: ledger.Deferred{
			Accepted: true, NativeID: s.answer.NativeID, NativeRaw: f.Transaction.NativeRaw, After: nextQuestion(f),
		}}
	case s.accepted:
		return decision{deferred: ledger.Deferred{
			Accepted: true, NativeID: f.Transaction.NativeID, NativeRaw: f.Transaction.NativeRaw, Failures: f.Failures + 1,
			After: nextQuestion(f),
		}}
	case errors.As(s.err, &refused), f.Failures+1 >= forwardTries:
		return settled(payments.ServiceUnavailable, "", operators.Unavailable(f.Transaction, s.err.Error()))
	}
	return decision{deferred: ledger.Deferred{Failures: f.Failures + 1, After: firstRetry << f.Failures}}
}

func settled(status payments.Status, nativeID string, raw []byte) decision {
	return decision{outcome: &ledger.OperatorResult{Status: status, NativeID: nativeID, NativeRaw: raw}}
}

// nextQuestion returns the time until the next status query for an accepted collection. The first query follows the
// simulated latency.
func nextQuestion(f *ledger.Forward) time.Duration {
	if f.Age < f.AnswerAfter {
		return f.AnswerAfter - f.Age
	}
	return min(max(f.Age/askAgeDivisor, askSoonest), askLatest)
}

// recordDecision writes a decision. It retries while the database is unavailable.
func (w *Worker) recordDecision(ctx context.Context, f *ledger.Forward, d decision) (leaseHeld bool, err error) {
	err = w.retryWrite(ctx, true, func(ctx context.Context) (err error) {
		if d.outcome != nil {
			leaseHeld, err = w.database.SettleForward(ctx, f, *d.outcome)
		} else {
			leaseHeld, err = w.database.DeferForward(ctx, f, d.deferred)
		}
		return err
	})
	return leaseHeld, err
}
