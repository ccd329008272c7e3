package cli

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/cauri-dev/cauri/cmd/cauri/sandboxapi"
	"github.com/cauri-dev/cauri/server/english"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
)

// codeNotVerified is the error code if no worker verified the ledger in time.
const codeNotVerified = "not_verified"

// wrongShown is the maximum number of printed mistakes of one account.
const wrongShown = 5

// checkLedger requests a verification of the whole ledger by a worker. Then checkLedger verifies the ledger from its
// entries, without totals of the service.
func checkLedger(ctx context.Context, api *sandboxapi.Client, c *checks) {
	var refused *sandboxapi.RefusedError
	if err := api.VerifyLedger(ctx); errors.As(err, &refused) && refused.Code == codeNotVerified {
		c.add("ledger, by a worker", resultSkipped, "no worker verified it in time: does one run?")
	} else {
		c.of("ledger, by a worker", err, "verified from the first movement on")
	}
	found, err := api.Ledger(ctx, math.MaxInt)
	if !c.of("ledger", err, "%s", english.Plural(len(found.Data), "account", "accounts")) {
		return
	}
	for i := range found.Data {
		a := &found.Data[i]
		name := "ledger of " + a.Account
		p := newProof(a)
		err := api.LedgerEntries(ctx, a, 0, wire.MaxEntries, func(page *wire.LedgerEntryList) (bool, error) {
			for i := range page.Data {
				if page.Data[i].Number > a.Movements { // recorded after the account was read
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
			c.add(name, resultOK, "%s, balance %s", english.Plural(p.number, "entry", "entries"), money(p.balance, a.Currency))
			continue
		}
		more := ""
		if n := len(p.wrong) - wrongShown; n > 0 {
			p.wrong, more = p.wrong[:wrongShown], fmt.Sprintf("; and %d more", n)
		}
		c.add(name, resultFailed, "%s%s", strings.Join(p.wrong, "; "), more)
	}
}
