package proof

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/payments"
)

func TestPostings(t *testing.T) {
	t.Parallel()
	float, alice := Account{Currency: payments.RWF}, Account{Currency: payments.RWF, MSISDN: "+250788123456"}
	of := func(kind payments.Type, merchant, sim, commission int64) []Posting {
		return (&transfer{kind, payments.RWF, merchant, sim, commission, "+250788123456"}).postings()
	}
	const payer, merchant, outside = "testClient:+250788123456", "float:RWF", "outside:RWF"
	for name, c := range map[string]struct{ got, want []Posting }{
		"collection":                    {of(payments.Collection, 985, -1000, 15), []Posting{{payer, 1000, 0}, {merchant, 0, 985}, {"commission:RWF", 0, 15}}},
		"collection without commission": {of(payments.Collection, 1000, -1000, 0), []Posting{{payer, 1000, 0}, {merchant, 0, 1000}}},
		"collection from outside":       {of(payments.Collection, 985, 0, 15), []Posting{{outside, 1000, 0}, {merchant, 0, 985}, {"commission:RWF", 0, 15}}},
		"refund":                        {of(payments.Refund, -400, 400, 0), []Posting{{merchant, 400, 0}, {payer, 0, 400}}},
		"refund to outside":             {of(payments.Refund, -400, 0, 0), []Posting{{merchant, 400, 0}, {outside, 0, 400}}},
		"disbursement":                  {of(payments.Disbursement, -400, 400, 0), []Posting{{merchant, 400, 0}, {payer, 0, 400}}},
		"opening":                       {adjusted(EntryOpening, float, 500), []Posting{{"opening:RWF", 500, 0}, {merchant, 0, 500}}},
		"opening of nothing":            {adjusted(EntryOpening, alice, 0), []Posting{{"opening:RWF", 0, 0}, {payer, 0, 0}}},
		"adjustment down":               {adjusted(EntryAdjustment, alice, -20), []Posting{{"adjustment:RWF", 0, 20}, {payer, 20, 0}}},
	} {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		var debits, credits int64
		for _, p := range c.got {
			debits, credits = debits+p.Debit, credits+p.Credit
		}
		if debits != credits {
			t.Errorf("%s: debits of %d, credits of %d", name, debits, credits)
		}
	}
	changed := of(payments.Collection, 985, -900, 15) // by hand
	if changed[0].Debit == changed[1].Credit+changed[2].Credit {
		t.Errorf("a record that was changed is told as if it was not: %v", changed)
	}
}
