package service

import (
	"context"
	"time"

	"github.com/cauri-dev/cauri/server/payments"
)

// Recorded is a transaction that a request recorded, now or before.
type Recorded struct {
	Transaction *payments.Transaction
	// Replayed: the same request recorded the transaction earlier.
	Replayed bool
	// AnswerAt is when the answer is due, after the simulated latency. Zero: at once.
	AnswerAt time.Time
	// BeforeAnswer is the event or callback that is sent before the answer; nil for none.
	BeforeAnswer *BeforeAnswer
}

// attempt tries to record a transaction by the configuration that the caller currently has.
type attempt func(context.Context, *Caller, *intent) (Recorded, error)

// recordTimeout bounds a write, with all its tries. The write goes on when the client disconnects.
const recordTimeout = 10 * time.Second

// untilRecorded returns the context of a write. It is not canceled when the client disconnects.
func untilRecorded(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
}
