package cli

import (
	"slices"
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/server/httpapi/wire"
)

// A ledger that was changed in any way is found, and what the message says is where and by how much.
func TestProof(t *testing.T) {
	t.Parallel()
	entry := func(number, credit, balance int64) wire.LedgerEntry {
		return wire.LedgerEntry{Number: number, Type: "collection", TxID: new("TX_1"), Balance: balance, Postings: []wire.Posting{
			{Account: "outside:RWF", Debit: credit}, {Account: "float:RWF", Credit: credit},
		}}
	}
	type books struct {
		account wire.LedgerAccount
		entries []wire.LedgerEntry
	}
	for name, c := range map[string]struct {
		change func(*books)
		want   string // empty: nothing is wrong
	}{
		"nothing": {func(*books) {}, ""},
		"balance changed": {
			func(b *books) { b.account.Balance += 50 },
			"the balance is 650 and not 600, as after the number 3: it differs by 50",
		},
		"movement changed": {
			func(b *books) { b.entries[1].Postings[0].Debit, b.entries[1].Postings[1].Credit = 230, 230 },
			"the balance differs by -30 between the numbers 1 and 2: after 1 it is 100, the collection TX_1 changes it by 230, and after 2 it is 300",
		},
		"one side changed": {
			func(b *books) { b.entries[1].Postings[0].Debit = 250 },
			"number 2, the collection TX_1, debits 250 and credits 200: they differ by 50",
		},
		"movement removed": {
			func(b *books) { b.entries = slices.Delete(b.entries, 1, 2) },
			"the entry 2 is missing between the numbers 1 and 3: the balance goes from 100 to 300, by 200",
		},
		"first movements removed": {
			func(b *books) { b.entries = b.entries[2:] },
			"the entries 1 to 2 are missing between the numbers 0 and 3: the balance goes from 0 to 300, by 300",
		},
		"last movement removed": {func(b *books) { b.entries = b.entries[:2] }, "the entry 3 is missing after the number 2"},
		"total changed": {
			func(b *books) { b.account.Collections++ },
			"the entries of type collection change the balance by 600, and the totals say 601",
		},
	} {
		b := books{
			wire.LedgerAccount{Account: "float:RWF", Collections: 600, Balance: 600, Movements: 3},
			[]wire.LedgerEntry{entry(1, 100, 100), entry(2, 200, 300), entry(3, 300, 600)},
		}
		c.change(&b)
		p := newProof(&b.account)
		for i := range b.entries {
			p.add(&b.entries[i])
		}
		p.finish()
		if c.want == "" && len(p.wrong) > 0 || c.want != "" && !strings.Contains(strings.Join(p.wrong, "\n"), c.want) {
			t.Errorf("%s: it says\n%s\nwant %q", name, strings.Join(p.wrong, "\n"), c.want)
		}
	}
}
