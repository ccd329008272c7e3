package worker

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/cauri-dev/cauri/server/grade"
	"github.com/cauri-dev/cauri/server/ledger/receiverchecks"
	"github.com/cauri-dev/cauri/server/telemetry"
)

const (
	// checkLease is longer than a line of a check: two attempts.
	checkLease = 45 * time.Second
	// checkExpiry is how long a check waits for its host at most.
	checkExpiry = 10 * time.Minute
	// checkPoll is the interval between queries for checks to run.
	checkPoll = time.Second
)

// receiverCheckDatabase has the methods of the database that checks of receivers need.
type receiverCheckDatabase interface {
	LeaseReceiverCheck(ctx context.Context, lease, expire time.Duration) (*receiverchecks.Leased, error)
	RenewReceiverCheck(ctx context.Context, c *receiverchecks.Leased, card json.RawMessage, lease time.Duration) error
	FinishReceiverCheck(ctx context.Context, c *receiverchecks.Leased, card json.RawMessage, problem string) error
}

// checkReceivers runs the checks of receivers that were asked for, until ctx ends.
func (w *Worker) checkReceivers(ctx context.Context) {
	var running sync.WaitGroup
	slots := newCheckSlots()
	w.sweep(ctx, "receiver_checks", func(ctx context.Context) (more bool, err error) {
		select {
		case <-ctx.Done():
			return false, nil
		case <-w.queues.receiverChecks:
		}
		turn, ok := slots.begin(ctx, w.now)
		if !ok {
			return false, nil
		}
		var leased *receiverchecks.Leased
		err = within(ctx, leaseTimeout, func(ctx context.Context) (err error) {
			leased, err = w.database.LeaseReceiverCheck(ctx, checkLease, checkExpiry)
			return err
		})
		if leased == nil {
			turn.end()
			sleep(ctx, checkPoll)
			return false, err
		}
		running.Go(func() {
			defer turn.end()
			turn.began = w.now()
			w.checkReceiver(ctx, leased, turn)
		})
		return true, nil
	})
	running.Wait()
}

// checkReceiver runs one check. If ctx ends, the check stays open, and another worker runs it from its beginning.
func (w *Worker) checkReceiver(ctx context.Context, c *receiverchecks.Leased, turn *checkTurn) {
	log := w.log.With("organization", c.OrganizationID, "check", c.ID.Code())
	var card *grade.Card
	var err error
	if c.Problem == "" {
		card, err = w.gradeReceiver(ctx, c, turn)
	}
	if err == nil {
		err = w.finishCheck(ctx, c, card)
	}
	switch {
	case ctx.Err() != nil:
	case errors.Is(err, receiverchecks.ErrEnded):
		w.metrics.ReceiverChecked(telemetry.CheckCanceled, nil)
		log.InfoContext(ctx, "the check of a receiver was canceled")
	case err != nil:
		log.ErrorContext(ctx, "cannot record the check of a receiver; it will be run again", "error", err)
	case card == nil:
		w.metrics.ReceiverChecked(telemetry.CheckProblem, nil)
		log.InfoContext(ctx, "the check of a receiver could not be run", "problem", c.Problem)
	default:
		took := card.FinishedAt.Sub(card.StartedAt)
		w.metrics.ReceiverChecked(cmp.Or(string(card.Letter), telemetry.CheckUngraded), &took)
		log.InfoContext(ctx, "receiver checked", "letter", card.Letter, "duration", took)
	}
}

func (w *Worker) gradeReceiver(ctx context.Context, c *receiverchecks.Leased, turn *checkTurn) (*grade.Card, error) {
	o := grade.Options{
		Secret: c.Secret, Allow: c.Allow, In: c.Market, Now: w.now, Send: grade.Through(w.sender, c.URL),
		After: func(ctx context.Context, card *grade.Card) error {
			text, err := json.Marshal(card)
			if err != nil {
				return err
			}
			renew := func(ctx context.Context) error {
				return within(ctx, leaseTimeout, func(ctx context.Context) error {
					return w.database.RenewReceiverCheck(ctx, c, text, checkLease)
				})
			}
			if err := renew(ctx); err != nil {
				return err
			}
			return turn.next(ctx, renew)
		},
	}
	if c.Transaction != nil {
		o.Known = &grade.Known{ID: *c.Transaction, Body: c.Body}
	}
	return grade.Run(ctx, o)
}

func (w *Worker) finishCheck(ctx context.Context, c *receiverchecks.Leased, card *grade.Card) error {
	var text json.RawMessage
	if card != nil {
		var err error
		if text, err = json.Marshal(card); err != nil {
			return err
		}
	}
	return w.retryWrite(ctx, false, func(ctx context.Context) error {
		return w.database.FinishReceiverCheck(ctx, c, text, c.Problem)
	})
}
