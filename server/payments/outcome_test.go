package payments_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/payments"
)

func TestCollectionOutcome(t *testing.T) {
	t.Parallel()
	limit := int64(1000)
	active := func(balance int64) *payments.SIM { return &payments.SIM{Balance: balance} }
	blocked := func(balance int64) *payments.SIM { return &payments.SIM{Blocked: true, Balance: balance} }
	tests := map[string]struct {
		facts payments.CollectionFacts
		want  payments.Status
	}{
		"active payer who can pay": {
			payments.CollectionFacts{Amount: 900, CustomerTotal: 900, Payer: active(901)}, payments.Pending,
		},
		"balance of exactly the total": {
			payments.CollectionFacts{Amount: 900, CustomerTotal: 909, Payer: active(909)}, payments.Pending,
		},
		"balance one below the total": {
			payments.CollectionFacts{Amount: 900, CustomerTotal: 909, Payer: active(908)}, payments.InsufficientFunds,
		},
		"blocked payer": {
			payments.CollectionFacts{Amount: 900, CustomerTotal: 900, Payer: blocked(5000)}, payments.AccountBlocked,
		},
		"blocked before balance": {
			payments.CollectionFacts{Amount: 900, CustomerTotal: 900, Payer: blocked(0)}, payments.AccountBlocked,
		},
		"unknown number, reject": {
			payments.CollectionFacts{Amount: 900, CustomerTotal: 900, Policy: payments.Reject}, payments.UnknownMSISDN,
		},
		"unknown number, passthrough": {
			payments.CollectionFacts{Amount: 900, CustomerTotal: 900, Policy: payments.Passthrough}, payments.Pending,
		},
		"unknown number, no policy": {
			payments.CollectionFacts{Amount: 900, CustomerTotal: 900}, payments.UnknownMSISDN,
		},
		"policy does not matter for a known payer": {
			payments.CollectionFacts{Amount: 900, CustomerTotal: 900, Policy: payments.Passthrough, Payer: blocked(5000)},
			payments.AccountBlocked,
		},
		"a payer's behavior does not matter yet": {
			payments.CollectionFacts{
				Amount: 900, CustomerTotal: 900, Payer: &payments.SIM{Balance: 900, Behavior: payments.Cancel},
			},
			payments.Pending,
		},
		"amount of exactly the limit": {
			payments.CollectionFacts{Amount: 1000, CustomerTotal: 1010, MaxAmount: &limit, Payer: active(5000)},
			payments.Pending,
		},
		"amount one above the limit": {
			payments.CollectionFacts{Amount: 1001, CustomerTotal: 1001, MaxAmount: &limit, Payer: active(5000)},
			payments.LimitExceeded,
		},
		"limit before a blocked payer": {
			payments.CollectionFacts{Amount: 1001, CustomerTotal: 1001, MaxAmount: &limit, Payer: blocked(0)},
			payments.LimitExceeded,
		},
		"limit before an unknown number": {
			payments.CollectionFacts{Amount: 1001, CustomerTotal: 1001, MaxAmount: &limit, Policy: payments.Reject},
			payments.LimitExceeded,
		},
		"limit before passthrough": {
			payments.CollectionFacts{Amount: 1001, CustomerTotal: 1001, MaxAmount: &limit, Policy: payments.Passthrough},
			payments.LimitExceeded,
		},
		"scenario before the limit": {
			payments.CollectionFacts{
				Scenario: payments.ScenarioSuccess, Amount: 1001, CustomerTotal: 1001, MaxAmount: &limit, Payer: active(5000),
			},
			payments.Success,
		},
		"scenario before a blocked payer": {
			payments.CollectionFacts{Scenario: payments.ScenarioSuccess, Amount: 900, CustomerTotal: 900, Payer: blocked(0)},
			payments.Success,
		},
		"scenario before an unknown number": {
			payments.CollectionFacts{Scenario: payments.ScenarioSuccess, Amount: 900, CustomerTotal: 900, Policy: payments.Reject},
			payments.Success,
		},
		"failing scenario before a payer who can pay": {
			payments.CollectionFacts{Scenario: payments.ScenarioPINInvalid, Amount: 900, CustomerTotal: 900, Payer: active(5000)},
			payments.PINInvalid,
		},
		"scenario that does not exist": {
			payments.CollectionFacts{Scenario: "lost", Amount: 900, CustomerTotal: 900, Payer: active(5000)}, payments.Pending,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, tt.facts.Outcome()); diff != "" {
				t.Errorf("Outcome() (-want +got):\n%s", diff)
			}
		})
	}
}

// TestCollectionOutcomeOfEveryScenario checks that each scenario has the last word, whatever the other facts are.
func TestCollectionOutcomeOfEveryScenario(t *testing.T) {
	t.Parallel()
	limit := int64(1)
	for _, s := range payments.Scenarios {
		t.Run(string(s), func(t *testing.T) {
			t.Parallel()
			want, _ := s.Status()
			facts := payments.CollectionFacts{
				Scenario: s, Amount: 900, CustomerTotal: 900, MaxAmount: &limit, Payer: &payments.SIM{Blocked: true},
			}
			if diff := cmp.Diff(want, facts.Outcome()); diff != "" {
				t.Errorf("Outcome() (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSettlementOutcome(t *testing.T) {
	t.Parallel()
	payer := func(b payments.Behavior, balance int64) *payments.SIM {
		return &payments.SIM{Behavior: b, Balance: balance}
	}
	blocked := func(b payments.Behavior) *payments.SIM {
		return &payments.SIM{Behavior: b, Blocked: true}
	}
	tests := map[string]struct {
		facts payments.SettlementFacts
		want  payments.Status
	}{
		"approves and can pay": {
			payments.SettlementFacts{CustomerTotal: 900, Payer: payer(payments.Approve, 901)}, payments.Success,
		},
		"approves with exactly the total": {
			payments.SettlementFacts{CustomerTotal: 900, Payer: payer(payments.Approve, 900)}, payments.Success,
		},
		"approves and cannot pay any more": {
			payments.SettlementFacts{CustomerTotal: 900, Payer: payer(payments.Approve, 899)},
			payments.InsufficientFunds,
		},
		"approves by default": {
			payments.SettlementFacts{CustomerTotal: 900, Payer: payer("", 900)}, payments.Success,
		},
		"cancels": {
			payments.SettlementFacts{CustomerTotal: 900, Payer: payer(payments.Cancel, 5000)},
			payments.UserCancelled,
		},
		"cancels without money": {
			payments.SettlementFacts{CustomerTotal: 900, Payer: payer(payments.Cancel, 0)},
			payments.UserCancelled,
		},
		"enters a wrong PIN": {
			payments.SettlementFacts{CustomerTotal: 900, Payer: payer(payments.WrongPIN, 5000)},
			payments.PINInvalid,
		},
		"enters a wrong PIN without money": {
			payments.SettlementFacts{CustomerTotal: 900, Payer: payer(payments.WrongPIN, 0)},
			payments.PINInvalid,
		},
		"ignores": {
			payments.SettlementFacts{CustomerTotal: 900, Payer: payer(payments.Ignore, 5000)}, payments.Pending,
		},
		"waits for a hand": {
			payments.SettlementFacts{CustomerTotal: 900, Payer: payer(payments.Manual, 5000)}, payments.Pending,
		},
		"blocked meanwhile": {
			payments.SettlementFacts{CustomerTotal: 900, Payer: blocked(payments.Approve)},
			payments.AccountBlocked,
		},
		"blocked before what the payer does": {
			payments.SettlementFacts{CustomerTotal: 900, Payer: blocked(payments.Cancel)},
			payments.AccountBlocked,
		},
		"blocked does not wait": {
			payments.SettlementFacts{CustomerTotal: 900, Payer: blocked(payments.Manual)},
			payments.AccountBlocked,
		},
		"gone meanwhile": {
			payments.SettlementFacts{CustomerTotal: 900}, payments.UnknownMSISDN,
		},
		"expired, waiting": {
			payments.SettlementFacts{CustomerTotal: 900, Expired: true, Payer: payer(payments.Manual, 5000)},
			payments.Timeout,
		},
		"expired before approval": {
			payments.SettlementFacts{CustomerTotal: 900, Expired: true, Payer: payer(payments.Approve, 5000)},
			payments.Timeout,
		},
		"expired before blocked": {
			payments.SettlementFacts{CustomerTotal: 900, Expired: true, Payer: blocked(payments.Ignore)},
			payments.Timeout,
		},
		"expired before gone": {
			payments.SettlementFacts{CustomerTotal: 900, Expired: true}, payments.Timeout,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, tt.facts.Outcome()); diff != "" {
				t.Errorf("Outcome() (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSIMCurrency(t *testing.T) {
	t.Parallel()
	sim := payments.SIM{Country: payments.Rwanda}
	if diff := cmp.Diff(payments.RWF, sim.Currency()); diff != "" {
		t.Errorf("Currency() (-want +got):\n%s", diff)
	}
}
