package payments_test

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/payments"
)

func TestSplitCommission(t *testing.T) {
	t.Parallel()
	const most = payments.MaxAmount
	tests := map[string]struct {
		terms payments.Terms
		want  payments.Split // its Amount is what is split
	}{
		"merchant bears all": {
			terms: payments.Terms{CommissionBPS: 100, AbsorptionPct: 100},
			want: payments.Split{
				Amount: 25_000, Commission: 250, NetAmount: 24_750, CustomerTotal: 25_000,
				MerchantShare: 250, CustomerShare: 0, Mode: payments.MerchantPays,
			},
		},
		"customer bears all": {
			terms: payments.Terms{CommissionBPS: 100, AbsorptionPct: 0},
			want: payments.Split{
				Amount: 25_000, Commission: 250, NetAmount: 25_000, CustomerTotal: 25_250,
				MerchantShare: 0, CustomerShare: 250, Mode: payments.CustomerPays,
			},
		},
		"both bear some, the customer more": {
			terms: payments.Terms{CommissionBPS: 100, AbsorptionPct: 40},
			want: payments.Split{
				Amount: 25_000, Commission: 250, NetAmount: 24_900, CustomerTotal: 25_150,
				MerchantShare: 100, CustomerShare: 150, Mode: payments.CustomerPays,
			},
		},
		"both bear some, the merchant more": {
			terms: payments.Terms{CommissionBPS: 100, AbsorptionPct: 60},
			want: payments.Split{
				Amount: 25_000, Commission: 250, NetAmount: 24_850, CustomerTotal: 25_100,
				MerchantShare: 150, CustomerShare: 100, Mode: payments.MerchantPays,
			},
		},
		"a tie is the merchant's": {
			terms: payments.Terms{CommissionBPS: 100, AbsorptionPct: 50},
			want: payments.Split{
				Amount: 25_000, Commission: 250, NetAmount: 24_875, CustomerTotal: 25_125,
				MerchantShare: 125, CustomerShare: 125, Mode: payments.MerchantPays,
			},
		},
		"odd amount and rate": { // 169.1265 and 55.77
			terms: payments.Terms{CommissionBPS: 137, AbsorptionPct: 33},
			want: payments.Split{
				Amount: 12_345, Commission: 169, NetAmount: 12_289, CustomerTotal: 12_458,
				MerchantShare: 56, CustomerShare: 113, Mode: payments.CustomerPays,
			},
		},
		"half a unit of commission rounds up": { // 0.5
			terms: payments.Terms{CommissionBPS: 100, AbsorptionPct: 0},
			want: payments.Split{
				Amount: 50, Commission: 1, NetAmount: 50, CustomerTotal: 51,
				MerchantShare: 0, CustomerShare: 1, Mode: payments.CustomerPays,
			},
		},
		"less than half a unit of commission rounds down": { // 0.49
			terms: payments.Terms{CommissionBPS: 100, AbsorptionPct: 100},
			want: payments.Split{
				Amount: 49, Commission: 0, NetAmount: 49, CustomerTotal: 49,
				MerchantShare: 0, CustomerShare: 0, Mode: payments.MerchantPays,
			},
		},
		"half a unit of share is the merchant's": { // 1.5 of 3
			terms: payments.Terms{CommissionBPS: 100, AbsorptionPct: 50},
			want: payments.Split{
				Amount: 300, Commission: 3, NetAmount: 298, CustomerTotal: 301,
				MerchantShare: 2, CustomerShare: 1, Mode: payments.MerchantPays,
			},
		},
		"no commission": {
			terms: payments.Terms{CommissionBPS: 0, AbsorptionPct: 0},
			want: payments.Split{
				Amount: 25_000, Commission: 0, NetAmount: 25_000, CustomerTotal: 25_000,
				MerchantShare: 0, CustomerShare: 0, Mode: payments.MerchantPays,
			},
		},
		"smallest amount, smallest rate": {
			terms: payments.Terms{CommissionBPS: 1, AbsorptionPct: 1},
			want: payments.Split{
				Amount: 1, Commission: 0, NetAmount: 1, CustomerTotal: 1,
				MerchantShare: 0, CustomerShare: 0, Mode: payments.MerchantPays,
			},
		},
		"largest amount, largest rate, merchant bears all": {
			terms: payments.Terms{CommissionBPS: 10_000, AbsorptionPct: 100},
			want: payments.Split{
				Amount: most, Commission: most, NetAmount: 0, CustomerTotal: most,
				MerchantShare: most, CustomerShare: 0, Mode: payments.MerchantPays,
			},
		},
		"largest amount, largest rate, customer bears all": {
			terms: payments.Terms{CommissionBPS: 10_000, AbsorptionPct: 0},
			want: payments.Split{
				Amount: most, Commission: most, NetAmount: most, CustomerTotal: 2 * most,
				MerchantShare: 0, CustomerShare: most, Mode: payments.CustomerPays,
			},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, tt.terms.SplitCommission(tt.want.Amount)); diff != "" {
				t.Errorf("%+v of %d (-want +got):\n%s", tt.terms, tt.want.Amount, diff)
			}
		})
	}
}

// TestSplitCommissionProperties checks for many amounts and terms what holds for every split, with arithmetic that cannot
// overflow.
func TestSplitCommissionProperties(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(2026, 5))
	for range 20_000 {
		amount := 1 + random.Int64N(payments.MaxAmount)
		if random.IntN(2) == 0 {
			amount = 1 + random.Int64N(20_000) // where rounding matters most
		}
		terms := payments.Terms{CommissionBPS: random.IntN(10_001), AbsorptionPct: random.IntN(101)}
		s := terms.SplitCommission(amount)

		commission := halfUp(amount, int64(terms.CommissionBPS), 10_000)
		share := halfUp(commission, int64(terms.AbsorptionPct), 100)
		mode := payments.CustomerPays
		if 2*share >= commission {
			mode = payments.MerchantPays
		}
		want := payments.Split{
			Amount: amount, Commission: commission, NetAmount: amount - share, CustomerTotal: s.NetAmount + s.Commission,
			MerchantShare: s.Amount - s.NetAmount, CustomerShare: s.Commission - s.MerchantShare, Mode: mode,
		}
		if diff := cmp.Diff(want, s); diff != "" {
			t.Fatalf("%+v of %d (-want +got):\n%s", terms, amount, diff)
		}
		if s.NetAmount < 0 || s.MerchantShare < 0 || s.CustomerShare < 0 {
			t.Fatalf("%+v of %d is negative somewhere: %+v", terms, amount, s)
		}
	}
}

// halfUp is value times rate over whole, rounded half up.
func halfUp(value, rate, whole int64) int64 {
	product := new(big.Rat).SetFrac(
		new(big.Int).Mul(big.NewInt(value), big.NewInt(rate)),
		big.NewInt(whole),
	)
	product.Add(product, big.NewRat(1, 2))
	return new(big.Int).Div(product.Num(), product.Denom()).Int64()
}
