package cli

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/cauri-dev/cauri/cmd/cauri/sandboxapi"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
)

// codeNotVerified is the error of a verification that no worker made in time.
const codeNotVerified = "not_verified"

// wrongShown is how many mistakes of one account are told.
const wrongShown = 5

// checkLedger lets a worker verify the whole ledger, and then verifies it by its entries, without trust in any total.
func checkLedger(ctx context.Context, api *sandboxapi.Client, c *checks) {
	var refused *sandboxapi.RefusedError
	if err := api.VerifyLedger(ctx); errors.As(err, &refused) && refused.Code == codeNotVerified {
		c.add("ledger, by a worker", resultSkipped, "no worker verified it in time: does one run?")
	} else {
		c.of("ledger, by a worker", err, "verified from the first movement on")
	}
	found, err := api.Ledger(ctx, math.MaxInt)
	if !c.of("ledger", err, "%d accounts", len(found.Data)) {
		return
	}
	for i := range found.Data {
		a := &found.Data[i]
		name := "ledger of " + a.Account
		p := newProof(a)
		err := api.LedgerEntries(ctx, a, 0, wire.MaxEntries, func(page *wire.LedgerEntryList) (bool, error) {
			for i := range page.Data {
				if page.Data[i].Number > a.Movements { // came after the account was read
					return false, nil
				}
				p.add(&page.Data[i])
			}
			return true, nil
		})
		if err != nil {
			c.of(name, err, "")
			continue
		}
		p.finish()
		if text := imbalance(a); text != "" && len(p.wrong) == 0 {
			p.problem("a worker found that %s", text)
		}
		if len(p.wrong) == 0 {
			c.add(name, resultOK, "%s, balance %s", plural(p.number, "entry", "entries"), money(p.balance, a.Currency))
			continue
		}
		more := ""
		if n := len(p.wrong) - wrongShown; n > 0 {
			p.wrong, more = p.wrong[:wrongShown], fmt.Sprintf("; and %d more", n)
		}
		c.add(name, resultFailed, "%s%s", strings.Join(p.wrong, "; "), more)
	}
}
