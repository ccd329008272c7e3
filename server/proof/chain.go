package proof

import (
	"maps"
	"slices"

	"github.com/cauri-dev/cauri/server/payments"
)

// AccountTotals are what moved a balance, by kind. A delta that lowers the balance is negative.
type AccountTotals struct {
	Opening       int64
	Adjustments   int64 // but the opening
	Collections   int64
	Refunds       int64
	Disbursements int64
}

// movementKind is the type of a transaction, or adjustment.
type movementKind string

const adjustment movementKind = "adjustment"

// openingNumber is the number of the movement by which a balance is opened.
const openingNumber = 1

// movement is one change of a balance.
type movement struct {
	kind    movementKind
	number  int64
	delta   int64
	balance int64 // after it
}

// chainBreak is where a chain does not hold: between two numbers, or after the last one.
type chainBreak struct {
	after  int64
	before int64 // 0: the balance itself does not follow
	gap    int64 // by how much the balance is above the sum of the movements; negative: below
}

// chain follows the movements of one balance in the order of their numbers.
type chain struct {
	number  int64 // of the last movement that was added
	balance int64 // after it
	totals  AccountTotals
	opened  bool // the opening is in the totals

	early map[int64]movement // read before one with a smaller number

	breaks []chainBreak // the first few
	gaps   int64        // the sum of all
	lost   bool         // a number is missing or was given twice

	former *Imbalance // that the last pass found; nil for none
}

// keptBreaks bounds what is remembered of a chain that does not hold anywhere.
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

// addWhenNext adds a movement, or keeps it until those before it were added.
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

// add adds a movement at the end of the chain. All with smaller numbers were added before, but for those that are
// missing: it notes a break if the balance does not follow, or if the number is not the next.
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

// end compares the end of the chain with the balance and the number of its last movement as they stand. It adds what
// still waits for its turn.
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

// holds reports whether the chain is unbroken, so that nothing else has to be looked at.
func (c *chain) holds() bool { return len(c.breaks) == 0 && !c.lost }

// verdict is what is wrong with a chain that was followed from the first movement on; nil if it is balanced.
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
		found.Amount = at.gap // a balance on the way is wrong, and the sum is right
	}
	return found
}

// Imbalance tells that a balance does not follow from its movements.
type Imbalance struct {
	Amount int64 // by how much the balance is more than they tell; 0: a movement is missing that may have moved nothing
	After  int64 // number of the last movement before the break
	Before int64 // number of the first movement after the break; 0: there is none, the balance itself does not follow
}
