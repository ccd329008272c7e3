package main

import (
	"fmt"
	"net/http"
	"sync"
)

// environment is an operator in a country, as the sandbox has it.
type environment struct {
	operator, country string
	currency          string
	commissionBPS     int64
	absorptionPct     int64
	maxAmount         int64  // 0: none
	unregistered      string // format of numbers of its operator that no test client has, for six digits
}

func (e environment) String() string { return e.operator + " " + e.country }

// largest is the largest amount that the operator's limit lets through.
func (e environment) largest() int64 {
	if e.maxAmount > 0 {
		return e.maxAmount
	}
	return largestAmount
}

// simCard is a test client of the sandbox.
type simCard struct {
	name   string
	msisdn string
	home   environment
	pays   bool // when it is asked to, by the rules that run together
}

// The sandbox: what sandbox.yaml says.
var (
	mtnRW    = environment{"mtn", "RW", "RWF", 150, 100, 2_000_000, "+250799%06d"}
	airtelRW = environment{"airtel", "RW", "RWF", 333, 50, 0, "+250729%06d"}
	orangeCI = environment{"orange", "CI", "XOF", 275, 0, 0, "+2250799%06d"} // passthrough; the others reject
	moovBJ   = environment{"moov", "BJ", "XOF", 125, 33, 0, "+2290145%06d"}
	mtnBJ    = environment{"mtn", "BJ", "XOF", 9999, 51, 0, "+2290142%06d"}
	moovTG   = environment{"moov", "TG", "XOF", 0, 100, 0, "+22879%06d"}

	environments = []environment{mtnRW, airtelRW, orangeCI, moovBJ, mtnBJ, moovTG}

	payer    = simCard{"payer", "+250788000001", mtnRW, true}
	blocked  = simCard{"blocked", "+250788000002", mtnRW, false}
	poor     = simCard{"poor", "+250788000003", mtnRW, false}
	cancels  = simCard{"cancels", "+250788000004", mtnRW, true}
	wrongPIN = simCard{"wrong-pin", "+250788000005", mtnRW, true}
	ignores  = simCard{"ignores", "+250788000006", mtnRW, true}
	ported   = simCard{"ported", "+250788000007", airtelRW, true}
	manual   = simCard{"manual", "+250788000008", mtnRW, true}
	foreign  = simCard{"foreign", "+33612345678", mtnRW, true}
	rich     = simCard{"rich", "+250788000009", mtnRW, true}

	airtelPayer   = simCard{"airtel-payer", "+250730000001", airtelRW, true}
	airtelBlocked = simCard{"airtel-blocked", "+250730000002", airtelRW, false}
	airtelPurse   = simCard{"airtel-purse", "+250730000003", airtelRW, false}
	orangePayer   = simCard{"orange-payer", "+2250707000001", orangeCI, true}
	orangeBlocked = simCard{"orange-blocked", "+2250707000002", orangeCI, false}
	orangePurse   = simCard{"orange-purse", "+2250707000003", orangeCI, false}
	moovPayer     = simCard{"moov-payer", "+2290195000001", moovBJ, true}
	moovBlocked   = simCard{"moov-blocked", "+2290195000002", moovBJ, false}
)

// Stores of the sandbox.
const (
	shop  = "shop"
	kiosk = "kiosk"
)

const (
	// poorsLimit is more than the SIM "poor" can ever pay.
	poorsLimit = 1_000_000
	// largestAmount is the largest of one transaction.
	largestAmount = 1_000_000_000_000
	// provision is what the merchant's float gets in each environment, so that there is something to pay out.
	provision = 100_000_000
	// pocketMoney is what a SIM gets that has to pay and cannot any more.
	pocketMoney = 10_000_000
)

// fixtures remembers which parts of the sandbox are there. Each is looked for once, when a rule first needs it.
type fixtures struct {
	mu    sync.Mutex
	found map[string]func() string
}

// lacks returns why a fixture cannot be used, or nothing.
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

// needs ends the check unless the sandbox has the environments.
func (c *check) needs(environments ...environment) {
	for _, e := range environments {
		if why := c.fixtures.lacks(e.String(), func() string { return c.suite.provide(e) }); why != "" {
			c.notChecked(why)
		}
	}
}

// available are those of the environments that the sandbox has. Without any the check ends.
func (c *check) available(environments []environment) []environment {
	var found []environment
	for _, e := range environments {
		if c.fixtures.lacks(e.String(), func() string { return c.suite.provide(e) }) == "" {
			found = append(found, e)
		}
	}
	if len(found) == 0 {
		c.notChecked("the sandbox has none of the environments")
	}
	return found
}

// needsTerms ends the check unless the sandbox has the environments, with the commissions that sandbox.yaml gives them.
func (c *check) needsTerms(environments ...environment) {
	c.needs(environments...)
	for _, e := range environments {
		if why := c.fixtures.lacks("terms of "+e.String(), func() string { return c.suite.examine(e) }); why != "" {
			c.notChecked(why)
		}
	}
}

// needsSIM ends the check unless the sandbox has the test clients, and their environments.
func (c *check) needsSIM(cards ...simCard) {
	for _, card := range cards {
		c.needs(card.home)
		if why := c.fixtures.lacks(card.name, func() string { return c.suite.insert(card) }); why != "" {
			c.notChecked(why)
		}
	}
}

// needsStore ends the check unless the sandbox has the store.
func (c *check) needsStore(slug string) {
	c.needs(mtnRW)
	why := c.fixtures.lacks("store "+slug, func() string {
		a, err := c.suite.attempt(c.collection(mtnRW, object{"application": slug, "scenario": "maintenance"}))
		if err == nil && a.status == http.StatusNotFound {
			return "the sandbox has no store " + slug
		}
		return ""
	})
	if why != "" {
		c.notChecked(why)
	}
}

// provide looks for an environment and puts money into the merchant's float. What is wrong in another way than that the
// environment is missing is for the rules to find.
func (s *suite) provide(e environment) string {
	a, err := s.attempt(s.collection(e, object{"scenario": "success", "amount": provision}))
	if err != nil || a.status != http.StatusNotFound {
		return ""
	}
	if o, _ := a.object(); o["error"] == "not_found" {
		return "the sandbox has no store " + shop
	}
	return fmt.Sprintf("the sandbox has no enabled environment %s", e)
}

// roundAmount has a commission without a remainder at any rate.
const roundAmount = 10_000

// examine compares what an environment charges with what it should.
func (s *suite) examine(e environment) string {
	a, err := s.attempt(s.collection(e, object{"scenario": "maintenance", "amount": roundAmount}))
	if err != nil {
		return ""
	}
	o, _ := a.object()
	want := object{"commission": e.commissionBPS, "merchantAbsorptionPct": e.absorptionPct}
	if problems := compare("", o, want); len(problems) > 0 {
		return fmt.Sprintf("the sandbox has other terms for %s, see amounts/configured", e)
	}
	return ""
}

// insert looks for a test client, and gives it money if it has to pay and cannot. One that does not have to is asked for
// more than it can have, so that nothing is taken from it.
func (s *suite) insert(card simCard) string {
	amount := card.home.largest()
	if card.pays {
		amount = 1000
	}
	a, err := s.attempt(s.collection(card.home, object{"msisdn": card.msisdn, "amount": amount}))
	if err != nil {
		return ""
	}
	o, _ := a.object()
	switch status := o["status"]; {
	case status == "UNKNOWN_MSISDN", status == "PENDING" && !card.pays:
		return fmt.Sprintf("the sandbox has no test client %s at %s", card.msisdn, card.home)
	case status == "INSUFFICIENT_FUNDS" && card.pays:
		_, _ = s.client.send(s.ctx, request{method: "POST", path: "/disbursements",
			body: s.disbursement(card.home, object{"msisdn": card.msisdn, "amount": pocketMoney})})
	}
	return ""
}

func (s *suite) attempt(payment object) (answer, error) {
	return s.client.send(s.ctx, request{method: "POST", path: "/payments", body: payment})
}
