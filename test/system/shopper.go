package system

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/cauri-dev/cauri/server/payments"
)

// Shopper is a merchant's careful client: it makes transactions of all kinds one after the other, insists on each until it has a result,
// with the same reference, and remembers what it was told.
type Shopper struct {
	Client *Client
	Name   string                       // its references begin with it
	Payers map[payments.Behavior]string // numbers of SIMs that can pay, by what they do when asked; what has no payer is not bought
	// Settled, if set, is called when the shopper sees that a payment which was pending has its outcome, with the moment when that was
	// begun. Without it nobody waits for outcomes.
	Settled func(begun time.Time)

	mu   sync.Mutex
	told map[string]Transaction
}

// Told returns what the shopper was told, by reference.
func (s *Shopper) Told() map[string]Transaction {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.told)
}

// Shop makes the n-th purchase, and what goes with it.
func (s *Shopper) Shop(ctx context.Context, n int) error {
	reference := fmt.Sprintf("%s-%d", s.Name, n)
	for _, step := range []func(ctx context.Context, reference string, n int) error{
		s.payAndRefund, s.forceAnOutcome, s.waitForPayers, s.payOut, s.answerByHand, s.leavePending,
	} {
		if err := step(ctx, reference, n); err != nil {
			return fmt.Errorf("%s: %w", reference, err)
		}
	}
	return nil
}

func (s *Shopper) payAndRefund(ctx context.Context, reference string, _ int) error {
	paid, err := s.buy(ctx, "/payments", NewPayment(reference, s.Payers[payments.Approve], string(payments.ScenarioSuccess)))
	if err != nil {
		return err
	}
	refund := map[string]any{"amount": 40, "reference": reference + "-refund"}
	refunded, err := s.insist(ctx, "/payments/"+paid.ID+"/refund", refund, Transaction{
		Type: string(payments.Refund), Reference: reference + "-refund", MSISDN: paid.MSISDN, Amount: 40, NetAmount: 40,
	})
	if err == nil && refunded.Status != string(payments.Success) {
		err = fmt.Errorf("the refund ended %s", refunded.Status)
	}
	return err
}

// forceAnOutcome takes the scenarios in turn.
func (s *Shopper) forceAnOutcome(ctx context.Context, reference string, n int) error {
	scenario := payments.Scenarios[n%len(payments.Scenarios)]
	forced, err := s.buy(ctx, "/payments", NewPayment(reference+"-forced", Unregistered, string(scenario)))
	if want, _ := scenario.Status(); err == nil && forced.Status != string(want) {
		err = fmt.Errorf("the payment with the scenario %s ended %s, not %s", scenario, forced.Status, want)
	}
	return err
}

// decisions are the outcomes of payments, by what their payers do.
var decisions = map[payments.Behavior]payments.Status{
	payments.Approve: payments.Success, payments.Cancel: payments.UserCancelled, payments.WrongPIN: payments.PINInvalid,
}

// waitForPayers makes payments that their payers decide.
func (s *Shopper) waitForPayers(ctx context.Context, reference string, _ int) error {
	var pending []Transaction
	var want []payments.Status
	var begun []time.Time
	for behavior, status := range decisions {
		if payer := s.Payers[behavior]; payer != "" {
			begun = append(begun, time.Now())
			made, err := s.buy(ctx, "/payments", NewPayment(reference+"-"+string(behavior), payer, ""))
			if err != nil {
				return err
			}
			pending, want = append(pending, made), append(want, status)
		}
	}
	if s.Settled == nil {
		return nil
	}
	for i, made := range pending {
		if err := s.waitFor(ctx, made, want[i]); err != nil {
			return err
		}
		s.Settled(begun[i])
	}
	return nil
}

// waitFor polls a payment until it has its outcome.
func (s *Shopper) waitFor(ctx context.Context, made Transaction, want payments.Status) error {
	for {
		answer, err := s.Client.InsistOnGet(ctx, "/payments/"+made.ID)
		if err != nil {
			return err
		}
		var now Transaction
		if err := json.Unmarshal(answer.Body, &now); err != nil {
			return err
		}
		if different := made.differs(now); different != "" {
			return fmt.Errorf("%s", different)
		}
		switch now.Status {
		case string(want):
			s.remember(now)
			return nil
		case string(payments.Pending):
		default:
			return fmt.Errorf("%s ended %s, not %s", now.Reference, now.Status, want)
		}
		if !Rest(ctx, pollEvery) {
			return fmt.Errorf("giving up on %s, which is pending: %w", made.Reference, ctx.Err())
		}
	}
}

func (s *Shopper) payOut(ctx context.Context, reference string, _ int) error {
	paid, err := s.buy(ctx, "/disbursements", NewPayment(reference+"-payout", s.Payers[payments.Approve], ""))
	if err == nil && paid.Status != string(payments.Success) {
		err = fmt.Errorf("the payout ended %s", paid.Status)
	}
	return err
}

// answerByHand makes a payment and answers it for its payer.
func (s *Shopper) answerByHand(ctx context.Context, reference string, n int) error {
	payer := s.Payers[payments.Manual]
	if payer == "" {
		return nil
	}
	made, err := s.buy(ctx, "/payments", NewPayment(reference+"-manual", payer, ""))
	if err != nil {
		return err
	}
	answers := []struct {
		path string
		want payments.Status
	}{{"approve", payments.Success}, {"cancel", payments.UserCancelled}, {"wrong_pin", payments.PINInvalid}}
	given := answers[n%len(answers)]
	answer, err := s.Client.Insist(ctx, "/test_clients/"+payer+"/prompts/"+made.ID+"/"+given.path, nil)
	if err != nil {
		return err
	}
	var now Transaction
	if err := json.Unmarshal(answer.Body, &now); err != nil {
		return err
	}
	made.Status = string(given.want)
	if now != made {
		return fmt.Errorf("answered with %s, the payment is %+v, not %+v", given.path, now, made)
	}
	s.remember(now)
	return nil
}

// leavePending makes a payment now and then that its payer never decides.
func (s *Shopper) leavePending(ctx context.Context, reference string, n int) error {
	payer := s.Payers[payments.Ignore]
	if payer == "" || n%10 != 0 {
		return nil
	}
	_, err := s.buy(ctx, "/payments", NewPayment(reference+"-ignored", payer, ""))
	return err
}

// buy makes a payment or a disbursement.
func (s *Shopper) buy(ctx context.Context, path string, p Payment) (Transaction, error) {
	want := Transaction{Type: string(payments.Collection), Reference: p.Reference, MSISDN: p.MSISDN, Amount: p.Amount}
	if path == "/disbursements" {
		want.Type, want.NetAmount = string(payments.Disbursement), p.Amount
	}
	return s.insist(ctx, path, p, want)
}

// insist makes a transaction and remembers it. The answer tells of what was asked for, its id, its status, and what a collection nets.
func (s *Shopper) insist(ctx context.Context, path string, body any, want Transaction) (made Transaction, err error) {
	answer, err := s.Client.Insist(ctx, path, body)
	if err != nil {
		return made, err
	}
	made = want // a disbursement is answered with less than the whole
	if err := json.Unmarshal(answer.Body, &made); err != nil {
		return made, fmt.Errorf("reading the answer %s: %w", answer.Body, err)
	}
	made.ID = answer.TransactionID()
	want.ID, want.Status = made.ID, made.Status
	if want.NetAmount == 0 {
		want.NetAmount = made.NetAmount
	}
	if made != want || made.ID == "" || made.Status == "" {
		return made, fmt.Errorf("answered with %s, which is not %+v", answer.Body, want)
	}
	s.remember(made)
	return made, nil
}

func (s *Shopper) remember(t Transaction) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.told == nil {
		s.told = map[string]Transaction{}
	}
	s.told[t.Reference] = t
}
