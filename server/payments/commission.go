package payments

// MaxAmount is the largest amount of one transaction, in whole units of its currency.
const MaxAmount int64 = 1_000_000_000_000

// MaxBalance is the largest balance of a float or a SIM, in whole units of its currency: a transaction that would
// exceed it ends with [LimitExceeded]. MaxBalance is a thousand times the largest amount, so that nobody reaches it by
// chance, no sum overflows, and every JSON parser reads it exactly. A constraint of the database enforces it too.
const MaxBalance = 1000 * MaxAmount

// CommissionMode says who bears the larger share of a commission.
type CommissionMode string

// The two modes. With equal shares, the mode is MerchantPays.
const (
	MerchantPays CommissionMode = "merchant"
	CustomerPays CommissionMode = "customer"
)

// Terms are the commission of an environment: its rate in basis points (0-10000), and the percentage of it (0-100) that
// the merchant absorbs.
type Terms struct {
	CommissionBPS int
	AbsorptionPct int
}

// Split is an amount with its commission, and the shares of merchant and customer in it. CustomerTotal = NetAmount +
// Commission, always.
type Split struct {
	Amount        int64 // gross, as requested
	Commission    int64
	NetAmount     int64 // what the merchant gets
	CustomerTotal int64 // what the payer pays
	MerchantShare int64
	CustomerShare int64
	Mode          CommissionMode
}

// SplitCommission splits the commission of a collection. Halves round up; all arithmetic is in integers, and no
// intermediate value overflows for amounts up to [MaxAmount].
func (t Terms) SplitCommission(amount int64) Split {
	commission := roundHalfUp(amount*int64(t.CommissionBPS), 10_000)
	merchant := roundHalfUp(commission*int64(t.AbsorptionPct), 100)
	s := Split{
		Amount:        amount,
		Commission:    commission,
		NetAmount:     amount - merchant,
		CustomerTotal: amount - merchant + commission,
		MerchantShare: merchant,
		CustomerShare: commission - merchant,
		Mode:          CustomerPays,
	}
	if s.MerchantShare >= s.CustomerShare {
		s.Mode = MerchantPays
	}
	return s
}

// roundHalfUp divides two non-negative integers and rounds halves up.
func roundHalfUp(numerator, denominator int64) int64 {
	return (2*numerator + denominator) / (2 * denominator)
}
