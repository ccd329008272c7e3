package console

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/cauri-dev/cauri/server/httpfront"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/proof"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

const (
	// accountsOnPage is how many rows a page of the ledger has.
	accountsOnPage = 50
	// proofEvery is the interval in seconds at which the browser reads the pages of the ledger again. It must, because
	// no stream reports a verification.
	proofEvery = 10
)

// accountList is a page of the balances of a sandbox.
type accountList struct {
	accounts []proof.AccountProof
	names    map[string]string // of the SIMs, by number
	balanced bool              // whether every balance of the sandbox is right, on all pages
	first    bool              // it is the first page
	next     string            // address of the next page; empty: there is none
}

func (c *Console) ledger(v *visit) (page, error) {
	l, err := c.listAccounts(v)
	return page{
		title: v.Text("Ledger"), body: ledgerPage(v, l), live: []string{"proof", "accounts"}, every: proofEvery,
	}, err
}

func (c *Console) listAccounts(v *visit) (*accountList, error) {
	var after proof.Account
	query := v.request.URL.Query()
	if number := query.Get("after"); payments.ValidMSISDN(number) {
		after.MSISDN = number
	}
	l := &accountList{first: after == proof.Account{}}
	var err error
	l.accounts, l.balanced, err = c.Books.ListAccounts(v.ctx(), v.who.Sandbox.Tenant, after, accountsOnPage+1)
	if err != nil {
		return l, err
	}
	if len(l.accounts) > accountsOnPage { // then the last one is a SIM, because a sandbox has few floats
		l.accounts = l.accounts[:accountsOnPage]
		l.next = pathWith("/ledger", url.Values{"after": {l.accounts[accountsOnPage-1].MSISDN}})
	}
	v.ownFirst(l.accounts)
	var numbers []string
	for i := range l.accounts {
		numbers = append(numbers, l.accounts[i].MSISDN)
	}
	l.names, err = c.Ledger.SIMNames(v.ctx(), v.who.Sandbox.Tenant, numbers)
	return l, err
}

// ownFirst sorts the floats, which are before the SIMs, in the order of the sandbox's environments.
func (v *visit) ownFirst(accounts []proof.AccountProof) {
	place := func(a proof.AccountProof) uint { // the largest one for a SIM, and without an environment
		return uint(slices.IndexFunc(v.who.Sandbox.Markets, func(m sandboxes.Market) bool {
			return a.MSISDN == "" && v.who.Sandbox.Environments[m].Currency == a.Currency
		}))
	}
	slices.SortStableFunc(accounts, func(a, b proof.AccountProof) int { return cmp.Compare(place(a), place(b)) })
}

// verified returns what the proof found, and when a worker last verified the ledger, as a text.
func (l *accountList) verified(v *visit) string {
	var last time.Time
	for i := range l.accounts {
		if at := l.accounts[i].VerifiedAt; at != nil && at.After(last) {
			last = *at
		}
	}
	text := v.Text("Each balance is the one before it and its change, and no movement is missing.")
	if l.first && l.next == "" && len(l.accounts) > 1 {
		n := v.Number(int64(len(l.accounts)))
		text = v.Text("All %s accounts follow from their movements, and no movement is missing.", n)
	}
	if last.IsZero() {
		return text + " " + v.Text("A worker verifies the movements every 30 seconds.")
	}
	ago := v.Duration(time.Since(last).Truncate(time.Second))
	return text + " " + v.Text("Verified %s ago, and every 30 seconds while something moves.", ago)
}

// wrong returns the accounts of the page that are not balanced.
func (l *accountList) wrong() (all []*proof.AccountProof) {
	for i := range l.accounts {
		if l.accounts[i].Imbalance != nil {
			all = append(all, &l.accounts[i])
		}
	}
	return all
}

// nameOf returns the name of an account.
func nameOf(v *visit, a proof.Account, names map[string]string) string {
	if a.MSISDN == "" {
		return v.Text("Float in %s", string(a.Currency))
	}
	return cmp.Or(names[a.MSISDN], v.Text("Test client without a name"))
}

// differs returns a sentence that says by how much a balance differs from its movements, and where.
func differs(v *visit, a *proof.AccountProof) string {
	i := a.Imbalance
	where := v.Text("after movement %s, the last one", v.Number(i.After))
	if i.Before != 0 {
		where = v.Text("between the movements %s and %s", v.Number(i.After), v.Number(i.Before))
	}
	amount := v.Money(string(a.Currency), max(i.Amount, -i.Amount))
	switch {
	case i.Amount > 0:
		return v.Text("The balance is %s more than its movements tell, %s.", amount, where)
	case i.Amount < 0:
		return v.Text("The balance is %s less than its movements tell, %s.", amount, where)
	}
	return v.Text("A movement is missing, %s.", where)
}

// accountPath returns the address of an account.
func accountPath(a proof.Account) string { return "/ledger/" + cmp.Or(a.MSISDN, string(a.Currency)) }

// verifyLedger asks a worker to verify the whole ledger, and redirects to the page with the result.
func (c *Console) verifyLedger(v *visit) (httpfront.Answer, error) {
	back := "/ledger"
	if a, ok := accountOf(v.form("account")); ok {
		back = accountPath(a)
	}
	return httpfront.Answer{Await: func(ctx context.Context) (httpfront.Answer, error) {
		err := c.Service.VerifyLedger(ctx, v.who)
		if errors.Is(err, proof.ErrNotVerified) {
			err = newProblem(http.StatusServiceUnavailable, v.Text("No worker has verified the ledger yet"),
				v.Text("It was asked to, and does so as soon as it can. Open the ledger again in a minute."), "not_verified")
		}
		return v.goTo(back), err
	}}, nil
}

// accountOf returns the account that a text in a path names: the currency of a float, or the number of a SIM.
func accountOf(text string) (a proof.Account, ok bool) {
	if currency := payments.Currency(text); slices.Contains(payments.Currencies, currency) {
		return proof.Account{Currency: currency}, true
	}
	return proof.Account{MSISDN: text}, payments.ValidMSISDN(text)
}

// exportName returns the name of the file with the entries of an account.
func exportName(v *visit, a proof.Account) string {
	return fmt.Sprintf("%s-ledger-%s.csv", v.name, cmp.Or(a.MSISDN, string(a.Currency)))
}
