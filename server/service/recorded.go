package service

import (
	"context"
	"time"

	"github.com/cauri-dev/cauri/server/payments"
)

// Recorded is the transaction of a request. This request recorded it, or repeats an earlier request that recorded it.
type Recorded struct {
	Transaction *payments.Transaction
	// Replayed is whether the request repeats an earlier one that recorded the transaction.
	Replayed bool
	// AnswerAt is the time at which the answer is due, after the simulated latency; zero: at once.
	AnswerAt time.Time
	// BeforeAnswer is the event or callback to send before the answer; nil for none.
	BeforeAnswer *BeforeAnswer
	// Hint is what a person should know about the number, a sentence in English; empty for nothing.
	Hint string
}

// attempt tries to record a transaction by the caller's snapshot of the configuration.
type attempt func(context.Context, *Caller, *recording) (Recorded, error)

// recordTimeout bounds all tries of a write together. The write continues when the client disconnects.
const recordTimeout = 10 * time.Second

// untilRecorded returns the context of a write. It is not canceled when the client disconnects.
func untilRecorded(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
}
