package payments_test

import (
	"math/big"
	"testing"

	"github.com/cauri-dev/cauri/server/payments"
)

// FuzzSplitCommission checks a commission against arithmetic that cannot overflow.
func FuzzSplitCommission(f *testing.F) {
	f.Add(int64(1), 1, 50)
	f.Add(int64(25_000), 150, 100)
	f.Add(payments.MaxAmount, 10_000, 100)
	f.Add(payments.MaxAmount-1, 9_999, 33)
	f.Fuzz(func(t *testing.T, amount int64, bps, pct int) {
		if amount < 1 || amount > payments.MaxAmount || bps < 0 || bps > 10_000 || pct < 0 || pct > 100 {
			return // refused by the request's schema and the resource's
		}
		s := payments.Terms{CommissionBPS: bps, AbsorptionPct: pct}.SplitCommission(amount)
		commission := exactHalfUp(amount, int64(bps), 10_000)
		merchant := exactHalfUp(commission, int64(pct), 100)
		want := payments.Split{
			Amount: amount, Commission: commission, NetAmount: amount - merchant, CustomerTotal: amount - merchant + commission,
			MerchantShare: merchant, CustomerShare: commission - merchant, Mode: payments.CustomerPays,
		}
		if merchant >= commission-merchant {
			want.Mode = payments.MerchantPays
		}
		if s != want {
			t.Errorf("%d at %d bps and %d %%: got %+v, want %+v", amount, bps, pct, s, want)
		}
		if s.NetAmount+s.Commission != s.CustomerTotal || s.MerchantShare+s.CustomerShare != s.Commission || s.NetAmount < 0 ||
			s.MerchantShare < 0 ||
			s.CustomerShare < 0 || s.Commission > amount || s.CustomerTotal < amount-s.Commission || s.CustomerTotal > 2*amount {
			t.Errorf("%d at %d bps and %d %%: it does not add up: %+v", amount, bps, pct, s)
		}
		made := payments.Transaction{Amount: s.Amount, Commission: s.Commission, NetAmount: s.NetAmount}
		if made.CustomerTotal() != s.CustomerTotal || made.MerchantShare() != s.MerchantShare || made.CustomerShare() != s.CustomerShare ||
			made.CommissionMode() != s.Mode {
			t.Errorf("%d at %d bps and %d %%: the transaction tells it in another way: %+v", amount, bps, pct, made)
		}
	})
}

// exactHalfUp is a*b/c with halves rounded up.
func exactHalfUp(a, b, c int64) int64 {
	n := new(big.Int).Mul(big.NewInt(a), big.NewInt(b))
	n.Mul(n, big.NewInt(2)).Add(n, big.NewInt(c))
	return n.Div(n, big.NewInt(2*c)).Int64()
}

// FuzzRefunds checks that refunds never take more than a collection, one after the other, each of a part or of what is left.
func FuzzRefunds(f *testing.F) {
	f.Add(int64(1000), int64(400), int64(600), int64(1), false)
	f.Add(int64(1000), int64(1000), int64(0), int64(-1), true)
	f.Add(payments.MaxAmount, payments.MaxAmount, int64(1), int64(1<<62), false)
	f.Fuzz(func(t *testing.T, amount, first, second, third int64, all bool) {
		if amount < 1 || amount > payments.MaxAmount {
			return
		}
		c := payments.Transaction{Type: payments.Collection, Status: payments.Success, Amount: amount}
		for i, wanted := range []int64{first, second, third} {
			left := c.Refundable()
			if left < 0 || left+c.Refunded != amount {
				t.Fatalf("%d of %d is left after %d", left, amount, c.Refunded)
			}
			part := &wanted
			if all && i == 2 {
				part = nil
			} else if wanted < 1 || wanted > payments.MaxAmount {
				continue // refused by the request's schema
			}
			err := c.CheckRefund(part)
			if possible := left > 0 && (part == nil || wanted <= left); possible != (err == nil) {
				t.Errorf("%d of %d, of which %d is left: %v", wanted, amount, left, err)
			}
			if err != nil {
				continue
			}
			if part == nil {
				wanted = left
			}
			c.Refunded += wanted
		}
		if c.Refunded > amount || c.Refundable() < 0 {
			t.Errorf("%d of %d is refunded", c.Refunded, amount)
		}
	})
}

// FuzzEventID checks that each event has one id.
func FuzzEventID(f *testing.F) {
	f.Add("evt_0SGCEVCRD35J7GWVBNSNZ5FWYM", []byte{1, 2, 3}, false)
	f.Add("evt_0SGCEVCRD35J7GWVBNSNZ5FWYN", []byte{255, 255}, true)
	f.Add("TX_0SGCEVCRD35J7GWVBNSNZ5FWYM", []byte{}, true)
	f.Fuzz(func(t *testing.T, text string, raw []byte, callback bool) {
		if id, err := payments.ParseEventID(text); err == nil && id.String() != text {
			t.Errorf("%q is taken for %s", text, id)
		}
		id := payments.EventID{Callback: callback}
		copy(id.ID[:], raw)
		if back, err := payments.ParseEventID(id.String()); err != nil || back != id {
			t.Errorf("%s is read as %s, %v", id, back, err)
		}
	})
}
