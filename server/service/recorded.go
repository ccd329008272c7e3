package service

import (
	"context"
	"time"

	"github.com/cauri-dev/cauri/server/payments"
)

// Recorded is a transaction that a request recorded.
type Recorded struct {
	Transaction *payments.Transaction
	// Replayed: it was recorded before, by the same request.
	Replayed bool
	// AnswerAt is when the answer is due, after the simulated latency. Zero: at once.
	AnswerAt time.Time
	// BeforeAnswer is what is sent before the answer; nil for nothing.
	BeforeAnswer *BeforeAnswer
}

// attempt tries to record a transaction by the configuration that the caller has now.
type attempt func(context.Context, *Caller, *intent) (Recorded, error)

// recordTimeout bounds a write, with all its tries. The write goes on when the client disconnects.
const recordTimeout = 10 * time.Second

// untilRecorded is the context of a write, which the client's disconnecting does not end.
func untilRecorded(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
}
