package proof

import (
	"maps"
	"slices"

	"github.com/cauri-dev/cauri/server/payments"
)

// AccountTotals has the sums of an account's movements by kind. A movement that lowers the balance counts as negative.
type AccountTotals struct {
	Opening       int64
	Adjustments   int64 // without the opening
	Collections   int64
	Refunds       int64
	Disbursements int64
}

// movementKind is the type of a transaction, or adjustment.
type movementKind string

const adjustment movementKind = "adjustment"

// openingNumber is the number of the movement that opens a balance.
const openingNumber = 1

// movement is one change of a balance.
type movement struct {
	kind    movementKind
	number  int64
	delta   int64
	balance int64 // after it
}

// chainBreak is a place at which the balance does not match the movements: between two of them, or after the last one.
type chainBreak struct {
	after  int64
	before int64 // 0: the account's balance does not follow from the last movement
	gap    int64 // the balance less the sum of the movements
}

// chain follows the movements of one balance in the order of their numbers.
type chain struct {
	number  int64 // of the last added movement
	balance int64 // after that movement
	totals  AccountTotals
	opened  bool // the opening is in the totals

	early map[int64]movement // movements that wait for one with a smaller number

	breaks []chainBreak // at most keptBreaks
	gaps   int64        // the sum of the gaps of all breaks
	lost   bool         // a number is missing or occurs twice

	former *Imbalance // the imbalance that the last pass found; nil: none
}

// keptBreaks is the most breaks that a chain remembers.
const keptBreaks = 10

func (c *chain) broken(after, before, gap int64) {
	c.gaps += gap
	if len(c.breaks) < keptBreaks {
		c.breaks = append(c.breaks, chainBreak{after, before, gap})
	}
}

func (c *chain) addToTotals(kind movementKind, delta int64) {
	switch kind {
	case adjustment:
		c.totals.Adjustments += delta
	case movementKind(payments.Collection):
		c.totals.Collections += delta
	case movementKind(payments.Refund):
		c.totals.Refunds += delta
	default:
		c.totals.Disbursements += delta
	}
}

// addWhenNext adds a movement once all movements with smaller numbers were added. Until then, it keeps the movement in
// c.early.
func (c *chain) addWhenNext(m movement) {
	if m.number > c.number+1 {
		if c.early == nil {
			c.early = map[int64]movement{}
		}
		if _, twice := c.early[m.number]; twice {
			c.lost = true
			return
		}
		c.early[m.number] = m
		return
	}
	c.add(m)
	for len(c.early) > 0 {
		next, read := c.early[c.number+1]
		if !read {
			return
		}
		delete(c.early, next.number)
		c.add(next)
	}
}

// add adds a movement at the end of the chain. It notes a break if the balance does not follow, if numbers in between
// are missing, or if the number is not higher than the last one.
func (c *chain) add(m movement) {
	if m.number <= c.number {
		c.lost = true
		c.broken(m.number, m.number, 0)
		return
	}
	gap := m.balance - m.delta - c.balance
	missing := m.number != c.number+1
	c.lost = c.lost || missing
	if gap != 0 || missing {
		c.broken(c.number, m.number, gap)
	}
	c.number, c.balance = m.number, m.balance
	if m.kind == adjustment && m.number == openingNumber && m.balance == m.delta && !c.opened {
		c.opened = true
		c.totals.Opening = m.delta
		return
	}
	c.addToTotals(m.kind, m.delta)
}

// end adds the movements that are left in c.early. Then it compares the end of the chain with the account's balance and
// with the number of the account's last movement.
func (c *chain) end(balance, movements int64) {
	for _, number := range slices.Sorted(maps.Keys(c.early)) {
		c.add(c.early[number])
	}
	c.early = nil
	wrongCount := movements != c.number
	c.lost = c.lost || wrongCount
	if gap := balance - c.balance; gap != 0 || wrongCount {
		c.broken(c.number, 0, gap)
	}
	c.number, c.balance = movements, balance
}

// holds reports whether the chain is unbroken.
func (c *chain) holds() bool { return len(c.breaks) == 0 && !c.lost }

// verdict returns what is wrong with a chain that begins at the first movement. It returns nil if the chain is
// balanced.
func (c *chain) verdict() *Imbalance {
	if c.holds() {
		return nil
	}
	at := chainBreak{after: c.number}
	if len(c.breaks) > 0 {
		at = c.breaks[0]
	}
	found := &Imbalance{Amount: c.gaps, After: at.after, Before: at.before}
	if found.Amount == 0 {
		found.Amount = at.gap // an intermediate balance is wrong, but the sum is right
	}
	return found
}

// Imbalance says where and by how much a balance does not follow from its movements.
type Imbalance struct {
	Amount int64 // the balance less the sum of the movements; 0: the sums agree, but a number is missing
	After  int64 // number of the last movement before the break
	Before int64 // number of the first movement after the break; 0: the balance does not follow from the last movement
}
