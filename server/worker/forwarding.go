package worker

import (
	"context"
	"errors"
	"time"

	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/operators/adapter"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/store"
)

const (
	// forwardConcurrency is how many exchanges with operators there are at one time, forwardPerSandbox how many of one sandbox.
	forwardConcurrency = 256
	forwardPerSandbox  = 32
	// forwardLease is longer than an exchange with its writing down.
	forwardLease = exchangeTimeout + 5*time.Second
	// forwardTries is how many attempts in a row may come to nothing before a collection that no operator has accepted ends
	// SERVICE_UNAVAILABLE.
	forwardTries = 3
	firstRetry   = time.Second
	// A collection that an operator has accepted is asked after at this share of its age, within these bounds: soon while its
	// payer may be at it, seldom after that.
	askShare   = 5
	askSoonest = 250 * time.Millisecond
	askLatest  = 30 * time.Second
)

// forwardingDatabase is what the forwarding to operators needs of the database.
type forwardingDatabase interface {
	ForwardLanes(ctx context.Context) ([]store.Lane, error)
	LeaseDueForwards(ctx context.Context, from []store.Share, lease time.Duration) (leased []store.Forward, found map[int64]int, err error)
	GiveBackForwards(ctx context.Context, forwards []store.Forward) error
	BeginForwardAttempt(ctx context.Context, f *store.Forward) (begun bool, err error)
	SettleForward(ctx context.Context, f *store.Forward, o store.Outcome) (kept bool, err error)
	DeferForward(ctx context.Context, f *store.Forward, d store.Deferred) (kept bool, err error)
}

// forward has operators decide the collections that are theirs to decide. It takes a lease, since no database transaction may
// be open while an operator is talked to.
func (w *Worker) forward(ctx context.Context) {
	dispatcher := leasedDispatcher[store.Forward]{
		worker: w, name: "passthrough", queue: newFairQueue(forwardConcurrency, forwardPerSandbox, w.now),
		listDue: w.database.ForwardLanes, attempt: w.forwardOne, release: w.database.GiveBackForwards,
		lease: func(ctx context.Context, shares []store.Share) ([]store.Forward, map[int64]int, error) {
			return w.database.LeaseDueForwards(ctx, shares, forwardLease)
		},
		tenant: func(f *store.Forward) int64 { return f.Tenant },
	}
	dispatcher.run(ctx)
}

// forwardOne decides one collection, or talks to its operator about it.
func (w *Worker) forwardOne(ctx context.Context, f *store.Forward) (end attemptEnd, record func()) {
	log := w.log.With("transaction", f.Transaction.ID.String(), "organization", f.OrganizationID, "operator", f.Transaction.Operator,
		"accepted", f.Accepted, "expired", f.Expired, "attempts", f.Attempts, "failures", f.Failures)
	began := w.now()
	traced, span := w.tracing.Call(ctx, "operator exchange")
	said, d := w.decide(traced, f)
	w.observeForward(span, f, d, said, w.now().Sub(began))
	if said.unsent != nil {
		return answeredSoon, func() {
			log.ErrorContext(ctx, "collection was not forwarded, since the attempt could not be written down; retrying when the lease ends", "error",
				said.unsent)
		}
	}
	log = log.With("status", d.status(), "again_after", d.deferred.After)
	if said.err != nil {
		log = log.With("reason", said.err)
	}
	var refused adapter.ErrRefused
	return attemptEndOf(said.err == nil || errors.As(said.err, &refused), w.now().Sub(began)), func() {
		switch kept, err := w.keep(ctx, f, d); {
		case err != nil:
			log.ErrorContext(ctx, "operator's answer could not be written down; the operator will be asked again", "error", err)
		case !kept:
			log.WarnContext(ctx, "exchange with the operator took longer than its lease; another worker has the collection")
		default:
			log.InfoContext(ctx, "collection decided or asked after", "at_operator", f.BaseURL != "")
		}
	}
}

// said is what an exchange with an operator came to.
type said struct {
	accepted bool // the operator has the collection
	answer   adapter.Answer
	err      error // why there is no answer
	unsent   error // why nothing was sent, which is not the operator's doing
}

// decide asks the operator's API that the store names. Without one nothing is asked.
func (w *Worker) decide(ctx context.Context, f *store.Forward) (said, decision) {
	credentials, err := credentialsFor(f)
	if err == nil && f.BaseURL == "" {
		if f.Attempts == 0 {
			return said{}, approve(f)
		}
		err = adapter.ErrRefused{Why: "the store does not name the operator's API any more that has the payment"}
	}
	s := said{accepted: f.Accepted, err: err}
	if err == nil {
		s = w.exchange(ctx, f, w.operators.apiFor(f, credentials))
	}
	if s.unsent != nil {
		return s, decision{}
	}
	return s, judgeForward(f, s)
}

// approve decides a collection whose store names no operator's API: its payer approves it when its simulated latency is over, unless its
// time runs out before. Its own times decide, not how late a worker comes to it. What the operator would say of it follows from the
// transaction, see [operators.Raw].
func approve(f *store.Forward) decision {
	ends, status := f.AnswerAfter, payments.Success
	if f.AnswerAfter >= f.ExpireAfter {
		ends, status = f.ExpireAfter, payments.Timeout
	}
	if f.Age < ends {
		return decision{deferred: store.Deferred{After: ends - f.Age}}
	}
	return settled(status, "", nil)
}

// exchange forwards a collection that no operator has yet, and asks how it stands once an answer may be there. One whose time ran out is
// only asked after, and only if it was ever sent.
func (w *Worker) exchange(ctx context.Context, f *store.Forward, api adapter.Client) (s said) {
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
		if !s.accepted || f.Age < f.AnswerAfter {
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

// collect hands a collection to its operator. That the operator has it already is due to an attempt before this one, if there was one.
// Before it is given up on, the operator is asked once whether an attempt reached it after all.
func (w *Worker) collect(ctx context.Context, f *store.Forward, api adapter.Client) (adapter.Answer, error) {
	last := f.Failures+1 >= forwardTries
	sending, cancel := ctx, context.CancelFunc(func() {})
	if end, bounded := ctx.Deadline(); last && bounded {
		sending, cancel = context.WithTimeout(ctx, end.Sub(w.now())/2) // the question needs its time too
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

// decision is what becomes of a collection: an outcome, or another attempt.
type decision struct {
	outcome  *store.Outcome
	deferred store.Deferred
}

func (d decision) status() payments.Status {
	if d.outcome == nil {
		return payments.Pending
	}
	return d.outcome.Status
}

// judgeForward decides what becomes of a collection after an exchange. What an operator has accepted may still be paid, so that
// nothing but its answer, or the collection's expiry, ends it. What no operator has accepted ends where none can be reached.
func judgeForward(f *store.Forward, s said) decision {
	var refused adapter.ErrRefused
	switch {
	case s.err == nil && s.answer.Status.Terminal():
		return settled(s.answer.Status, s.answer.NativeID, s.answer.Raw)
	case f.Expired:
		return settled(payments.Timeout, "", nil)
	case s.err == nil:
		return decision{deferred: store.Deferred{Accepted: true, NativeID: s.answer.NativeID, After: nextQuestion(f)}}
	case s.accepted:
		return decision{deferred: store.Deferred{
			Accepted: true, NativeID: f.Transaction.NativeID, Failures: f.Failures + 1, After: nextQuestion(f),
		}}
	case errors.As(s.err, &refused), f.Failures+1 >= forwardTries:
		return settled(payments.ServiceUnavailable, "", operators.Unavailable(f.Transaction, s.err.Error()))
	}
	return decision{deferred: store.Deferred{Failures: f.Failures + 1, After: firstRetry << f.Failures}}
}

func settled(status payments.Status, nativeID string, raw []byte) decision {
	return decision{outcome: &store.Outcome{Status: status, NativeID: nativeID, NativeRaw: raw}}
}

// nextQuestion is how long it is until the next question about an accepted collection: the first one comes when its simulated
// latency is over.
func nextQuestion(f *store.Forward) time.Duration {
	if f.Age < f.AnswerAfter {
		return f.AnswerAfter - f.Age
	}
	return min(max(f.Age/askShare, askSoonest), askLatest)
}

// keep writes a decision down, again while the database is away.
func (w *Worker) keep(ctx context.Context, f *store.Forward, d decision) (kept bool, err error) {
	err = w.retryWrite(ctx, true, func(ctx context.Context) (err error) {
		if d.outcome != nil {
			kept, err = w.database.SettleForward(ctx, f, *d.outcome)
		} else {
			kept, err = w.database.DeferForward(ctx, f, d.deferred)
		}
		return err
	})
	return kept, err
}
