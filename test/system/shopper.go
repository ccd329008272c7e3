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

// Shopper is a careful client of a merchant. It makes transactions of all kinds one after the other, repeats each with
// the same reference until it has a result, and remembers the answers.
type Shopper struct {
	Client *Client
	Name   string                       // prefix of its references
	Payers map[payments.Behavior]string // numbers of SIMs that can pay, by behavior; purchases without a payer are skipped
	// Settled, if set, is called when the shopper sees the outcome of a payment that was pending, with the time at
	// which the request began. If nil, the shopper does not wait for outcomes.
	Settled func(begun time.Time)
	// Callbacks, if set, makes the shopper pay through the operators' own APIs too. The sandbox has the environments of
	// MTN and Airtel in Rwanda, Orange in Côte d'Ivoire and Moov in Benin, and the test numbers.
	Callbacks *Callbacks

	mu   sync.Mutex
	told map[string]Transaction
}

// Told returns the answers that the shopper got, by reference.
func (s *Shopper) Told() map[string]Transaction {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.told)
}

// Shop makes the n-th purchase and its follow-up requests.
func (s *Shopper) Shop(ctx context.Context, n int) error {
	reference := fmt.Sprintf("%s-%d", s.Name, n)
	for _, step := range []func(ctx context.Context, reference string, n int) error{
		s.payAndRefund, s.forceAnOutcome, s.waitForPayers, s.payOut, s.answerByHand, s.leavePending, s.payNatively,
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

// forceAnOutcome uses the scenarios in turn.
func (s *Shopper) forceAnOutcome(ctx context.Context, reference string, n int) error {
	scenario := payments.Scenarios[n%len(payments.Scenarios)]
	forced, err := s.buy(ctx, "/payments", NewPayment(reference+"-forced", Unregistered, string(scenario)))
	if want, _ := scenario.Status(); err == nil && forced.Status != string(want) {
		err = fmt.Errorf("the payment with the scenario %s ended %s, not %s", scenario, forced.Status, want)
	}
	return err
}

// decisions are the outcomes of payments, by the behavior of their payers.
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

// answerByHand makes a payment and answers its prompt for the payer.
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

// leavePending makes a payment from time to time that its payer never decides.
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

// insist makes a transaction and remembers it: the request, its id, its status, and the net amount of a collection.
func (s *Shopper) insist(ctx context.Context, path string, body any, want Transaction) (made Transaction, err error) {
	answer, err := s.Client.Insist(ctx, path, body)
	if err != nil {
		return made, err
	}
	made = want // the answer to a disbursement has fewer fields
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
