package suite

import (
	"fmt"
	"net/http"
	"sync"
)

// Environment is an environment of the sandbox.
type Environment struct {
	Operator, Country string
	Currency          string
	CommissionBPS     int64
	AbsorptionPct     int64
	MaxAmount         int64  // 0: no limit
	unregistered      string // format of unregistered numbers of its operator, with six digits; none is a test number
}

func (e Environment) String() string { return e.Operator + " " + e.Country }

// largest is the largest amount below the operator's limit.
func (e Environment) largest() int64 {
	if e.MaxAmount > 0 {
		return e.MaxAmount
	}
	return LargestAmount
}

// SimCard is a test client of the sandbox.
type SimCard struct {
	Name   string
	MSISDN string
	Home   Environment
	pays   bool // when the rules that run in parallel need it
}

// The content of the sandbox, as in sandbox.yaml.
var (
	MtnRW    = Environment{"mtn", "RW", "RWF", 150, 100, 2_000_000, "+250799%06d"}
	AirtelRW = Environment{"airtel", "RW", "RWF", 333, 50, 0, "+250729%06d"}
	OrangeCI = Environment{"orange", "CI", "XOF", 275, 0, 0, "+2250799%06d"} // passthrough; the others reject
	MoovBJ   = Environment{"moov", "BJ", "XOF", 125, 33, 0, "+2290158%06d"}
	MtnBJ    = Environment{"mtn", "BJ", "XOF", 9999, 51, 0, "+2290159%06d"}
	MoovTG   = Environment{"moov", "TG", "XOF", 0, 100, 0, "+22879%06d"}
	MPesaKE  = Environment{"mpesa", "KE", "KES", 250, 100, 0, "+254799%06d"}

	Environments = []Environment{MtnRW, AirtelRW, OrangeCI, MoovBJ, MtnBJ, MoovTG, MPesaKE}

	Payer    = SimCard{"payer", "+250788000001", MtnRW, true}
	Blocked  = SimCard{"blocked", "+250788000002", MtnRW, false}
	Poor     = SimCard{"poor", "+250788000003", MtnRW, false}
	Cancels  = SimCard{"cancels", "+250788000004", MtnRW, true}
	WrongPIN = SimCard{"wrong-pin", "+250788000005", MtnRW, true}
	Ignores  = SimCard{"ignores", "+250788000006", MtnRW, true}
	Ported   = SimCard{"ported", "+250788000007", AirtelRW, true}
	Manual   = SimCard{"manual", "+250788000008", MtnRW, true}
	Foreign  = SimCard{"foreign", "+33612345678", MtnRW, true}
	Rich     = SimCard{"rich", "+250788000009", MtnRW, true}
	Taken    = SimCard{"taken", "+250790000908", MtnRW, true} // a test number

	AirtelPayer   = SimCard{"airtel-payer", "+250730000001", AirtelRW, true}
	AirtelBlocked = SimCard{"airtel-blocked", "+250730000002", AirtelRW, false}
	AirtelPurse   = SimCard{"airtel-purse", "+250730000003", AirtelRW, false}
	OrangePayer   = SimCard{"orange-payer", "+2250707000001", OrangeCI, true}
	OrangeBlocked = SimCard{"orange-blocked", "+2250707000002", OrangeCI, false}
	OrangePurse   = SimCard{"orange-purse", "+2250707000003", OrangeCI, false}
	MoovPayer     = SimCard{"moov-payer", "+2290195000001", MoovBJ, true}
	MPesaPayer    = SimCard{"mpesa-payer", "+254712000001", MPesaKE, true}
	MPesaBlocked  = SimCard{"mpesa-blocked", "+254712000002", MPesaKE, false}
	MoovBlocked   = SimCard{"moov-blocked", "+2290195000002", MoovBJ, false}
)

// Stores of the sandbox.
const (
	Shop  = "shop"
	Kiosk = "kiosk"
)

const (
	// PoorsLimit is more than the SIM "poor" can ever pay.
	PoorsLimit = 1_000_000
	// LargestAmount is the largest amount of one transaction.
	LargestAmount = 1_000_000_000_000
	// provision is the deposit to the merchant's float in each environment, for disbursements.
	provision = 100_000_000
	// pocketMoney is the deposit for a SIM that must pay and has too little money.
	pocketMoney = 10_000_000
)

// fixtures caches which resources of the sandbox exist. The first rule that needs a resource looks for it.
type fixtures struct {
	mu    sync.Mutex
	found map[string]func() string
}

// lacks returns why a fixture is unusable, or an empty string.
func (f *fixtures) lacks(name string, look func() string) string {
	f.mu.Lock()
	if f.found == nil {
		f.found = map[string]func() string{}
	}
	once, known := f.found[name]
	if !known {
		once = sync.OnceValue(look)
		f.found[name] = once
	}
	f.mu.Unlock()
	return once()
}

// Needs ends the check if the sandbox lacks one of the environments.
func (c *Check) Needs(environments ...Environment) {
	for _, e := range environments {
		if why := c.fixtures.lacks(e.String(), func() string { return c.Suite.provide(e) }); why != "" {
			c.NotChecked(why)
		}
	}
}

// Available returns those of the environments that the sandbox has. If there are none, the check ends.
func (c *Check) Available(environments []Environment) []Environment {
	var found []Environment
	for _, e := range environments {
		if c.fixtures.lacks(e.String(), func() string { return c.Suite.provide(e) }) == "" {
			found = append(found, e)
		}
	}
	if len(found) == 0 {
		c.NotChecked("the sandbox has none of the environments")
	}
	return found
}

// NeedsTerms ends the check unless the sandbox has the environments with the commissions of sandbox.yaml.
func (c *Check) NeedsTerms(environments ...Environment) {
	c.Needs(environments...)
	for _, e := range environments {
		if why := c.fixtures.lacks("terms of "+e.String(), func() string { return c.Suite.examine(e) }); why != "" {
			c.NotChecked(why)
		}
	}
}

// NeedsSIM ends the check if the sandbox lacks one of the test clients or its environment.
func (c *Check) NeedsSIM(cards ...SimCard) {
	for _, card := range cards {
		c.Needs(card.Home)
		if why := c.fixtures.lacks(card.Name, func() string { return c.Suite.insert(card) }); why != "" {
			c.NotChecked(why)
		}
	}
}

// NeedsStore ends the check if the sandbox lacks the store.
func (c *Check) NeedsStore(slug string) {
	c.Needs(MtnRW)
	why := c.fixtures.lacks("store "+slug, func() string {
		a, err := c.Suite.attempt(c.Collection(MtnRW, Object{"application": slug, "scenario": "maintenance"}))
		if err == nil && a.Status == http.StatusNotFound {
			return "the sandbox has no store " + slug
		}
		return ""
	})
	if why != "" {
		c.NotChecked(why)
	}
}

// provide looks for an environment and adds money to the merchant's float. It only reports a missing environment. The
// rules find other problems.
func (s *Suite) provide(e Environment) string {
	a, err := s.attempt(s.Collection(e, Object{"scenario": "success", "amount": provision}))
	if err != nil || a.Status != http.StatusNotFound {
		return ""
	}
	if o, _ := a.Object(); o["error"] == "not_found" {
		return "the sandbox has no store " + Shop
	}
	return fmt.Sprintf("the sandbox has no enabled environment %s", e)
}

// RoundAmount has an integer commission at every rate.
const RoundAmount = 10_000

// examine compares the commission of an environment with the specification.
func (s *Suite) examine(e Environment) string {
	a, err := s.attempt(s.Collection(e, Object{"scenario": "maintenance", "amount": RoundAmount}))
	if err != nil {
		return ""
	}
	o, _ := a.Object()
	want := Object{"commission": e.CommissionBPS, "merchantAbsorptionPct": e.AbsorptionPct}
	if problems := Compare("", o, want); len(problems) > 0 {
		return fmt.Sprintf("the sandbox has other terms for %s, see amounts/configured", e)
	}
	return ""
}

// insert looks for a test client and gives it money if it must pay and has too little. It asks other test clients for
// more than they can have, so that they lose nothing.
func (s *Suite) insert(card SimCard) string {
	amount := card.Home.largest()
	if card.pays {
		amount = 1000
	}
	a, err := s.attempt(s.Collection(card.Home, Object{"msisdn": card.MSISDN, "amount": amount}))
	if err != nil {
		return ""
	}
	o, _ := a.Object()
	switch status := o["status"]; {
	case status == "UNKNOWN_MSISDN", status == "SERVICE_UNAVAILABLE", status == "PENDING" && !card.pays:
		return fmt.Sprintf("the sandbox has no test client %s at %s", card.MSISDN, card.Home)
	case status == "INSUFFICIENT_FUNDS" && card.pays:
		_, _ = s.Client.send(s.ctx, Request{Method: "POST", Path: "/disbursements",
			Body: s.Disbursement(card.Home, Object{"msisdn": card.MSISDN, "amount": pocketMoney})})
	}
	return ""
}

func (s *Suite) attempt(payment Object) (Answer, error) {
	return s.Client.send(s.ctx, Request{Method: "POST", Path: "/payments", Body: payment})
}
