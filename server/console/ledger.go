package console

import (
	"net/url"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/proof"
)

// accountsOnPage is how many rows a page of the ledger has.
const accountsOnPage = 50

// accountList is a page of the balances of a sandbox.
type accountList struct {
	accounts []proof.AccountProof
	names    map[string]string // of the SIMs, by number
	balanced bool              // every balance of the sandbox, also those of other pages
	first    bool              // it is the first page
	next     string            // address of the next page; empty: there is none
}

func (c *Console) ledger(v *visit) (page, error) {
	l, err := c.listAccounts(v)
	return page{title: v.Text("Ledger"), body: ledgerPage(v, l), live: []string{"lead", "accounts"}}, err
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
	if len(l.accounts) > accountsOnPage { // a sandbox has fewer floats than this
		l.accounts = l.accounts[:accountsOnPage]
		l.next = pathWith("/ledger", url.Values{"after": {l.accounts[accountsOnPage-1].MSISDN}})
	}
	var numbers []string
	for i := range l.accounts {
		numbers = append(numbers, l.accounts[i].MSISDN)
	}
	l.names, err = c.Ledger.SIMNames(v.ctx(), v.who.Sandbox.Tenant, numbers)
	return l, err
}
