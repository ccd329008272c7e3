package rules

import (
	"encoding/csv"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/cauri-dev/cauri/test/conformance/suite"
)

// ledgerRules are the rules about the ledger, which is an optional part of the service.
func ledgerRules() []suite.Rule {
	return []suite.Rule{
		{ID: "ledger/adds-up", Check: ledgerAddsUp,
			Text: "of every account, the balance is the sum of what moved it, and it is balanced"},
		{ID: "ledger/double-entry", Check: ledgerDoubleEntry,
			Text: "a collection, its refund and a payout are double entries of the float, in this order, whose debits are their credits"},
		{ID: "ledger/pages", Check: ledgerPages,
			Text: "pages of entries have every number once, in order, and each balance is the one before, changed by the entry"},
		{ID: "ledger/table", Check: ledgerTable,
			Text: "with Accept: text/csv the entries are a table with a header, a line for each posting, and a link to the next page"},
		{ID: "ledger/refused", Check: ledgerRefused,
			Text: "invalid parameters are 400 invalid_params, and an account that the sandbox does not have is 404"},
	}
}

// theFloat asks for the entries of the float in RWF.
const theFloat = "/ledger/entries?currency=RWF"

func ledgerAddsUp(c *suite.Check) {
	needsCapability(c, "ledger")
	query := url.Values{"limit": {"7"}}
	for {
		page := c.Expect(c.Get("/ledger?"+query.Encode()), http.StatusOK)
		for _, account := range c.Items(page) {
			sum := int64(0)
			for _, name := range []string{"opening", "adjustments", "collections", "refunds", "disbursements"} {
				amount, _ := suite.IntegerOf(account[name])
				sum += amount
			}
			if balance, known := suite.IntegerOf(account["balance"]); !known || balance != sum || account["balanced"] != true {
				c.Problem("an account adds up to %d: %s", sum, suite.Show(account, true))
			}
		}
		next, more := page["nextCursor"].(string)
		if !more {
			return
		}
		query.Set("cursor", next)
	}
}

// entriesFrom reads the float's entries after a number, in pages of a size.
func entriesFrom(c *suite.Check, after, size int64) (all []suite.Object) {
	query := url.Values{"after": {strconv.FormatInt(after, 10)}, "limit": {strconv.FormatInt(size, 10)}}
	for {
		page := c.Expect(c.Get(theFloat+"&"+query.Encode()), http.StatusOK)
		all = append(all, c.Items(page)...)
		next, more := page["nextCursor"].(string)
		if !more {
			return all
		}
		query.Del("after")
		query.Set("cursor", next)
	}
}

// lastNumber is the number of the last movement of the float in RWF.
func lastNumber(c *suite.Check) int64 {
	for _, account := range c.Items(c.Expect(c.Get("/ledger"), http.StatusOK)) {
		if account["account"] == "float:RWF" {
			number, _ := suite.IntegerOf(account["movements"])
			return number
		}
	}
	c.Fail("the ledger has no float in RWF")
	return 0
}

// change is what an entry changes the float by. It records a problem if the debits are not the credits.
func change(c *suite.Check, entry suite.Object) (delta int64) {
	sum := int64(0)
	postings, _ := entry["postings"].([]any)
	for _, posting := range postings {
		p, _ := posting.(suite.Object)
		debit, _ := suite.IntegerOf(p["debit"])
		credit, _ := suite.IntegerOf(p["credit"])
		sum += credit - debit
		if p["account"] == "float:RWF" {
			delta += credit - debit
		}
	}
	if sum != 0 || len(postings) < 2 {
		c.Problem("the debits are not the credits: %s", suite.Show(entry, true))
	}
	return delta
}

func ledgerDoubleEntry(c *suite.Check) {
	needsCapability(c, "ledger")
	c.NeedsTerms(suite.MtnRW, suite.AirtelRW)
	c.NeedsSIM(suite.AirtelPurse)
	before := lastNumber(c)
	paid := c.Paid(suite.MtnRW, nil)
	refunded := c.Refund(paid, suite.Object{"amount": 100, "reference": c.Reference()})
	payout := c.Disburse(suite.AirtelRW, suite.Object{"msisdn": suite.AirtelPurse.MSISDN, "amount": 50})
	net, _ := suite.IntegerOf(paid["netAmount"])
	want := []struct {
		id, kind string
		delta    int64
	}{
		{suite.TextOf(paid, "id"), "collection", net}, {suite.TextOf(refunded, "id"), "refund", -100},
		{suite.TextOf(payout, "tx_id"), "disbursement", -50},
	}
	for _, entry := range entriesFrom(c, before, 100) {
		if len(want) == 0 || suite.TextOf(entry, "txId") != want[0].id {
			continue // of another rule
		}
		if delta := change(c, entry); delta != want[0].delta || entry["type"] != want[0].kind {
			c.Problem("it changes the float by %d, want %d: %s", delta, want[0].delta, suite.Show(entry, true))
		}
		want = want[1:]
	}
	for _, missing := range want {
		c.Problem("the %s %s has no entry where it has to be", missing.kind, missing.id)
	}
}

func ledgerPages(c *suite.Check) {
	needsCapability(c, "ledger")
	c.Needs(suite.MtnRW)
	for range 5 {
		c.Paid(suite.MtnRW, nil)
	}
	number := max(lastNumber(c)-5, 0)
	balance := int64(-1)
	for _, entry := range entriesFrom(c, number, 2) {
		number++
		got, _ := suite.IntegerOf(entry["number"])
		after, _ := suite.IntegerOf(entry["balance"])
		delta := change(c, entry)
		if got != number || balance >= 0 && after != balance+delta {
			c.Problem("after the balance %d, the entry %d is %s", balance, number, suite.Show(entry, true))
		}
		balance = after
	}
	if balance < 0 {
		c.Problem("there are no entries")
	}
}

func ledgerTable(c *suite.Check) {
	needsCapability(c, "ledger")
	c.Needs(suite.MtnRW)
	c.Paid(suite.MtnRW, suite.Object{"reference": "=" + c.Reference()})
	path := theFloat + "&limit=1&after=" + strconv.FormatInt(max(lastNumber(c)-2, 0), 10)
	a := c.Send(suite.Request{Method: "GET", Path: path, Header: map[string]string{"Accept": "text/csv"}, Foreign: true})
	records, err := csv.NewReader(strings.NewReader(string(a.Body))).ReadAll()
	switch {
	case a.Status != http.StatusOK || !strings.HasPrefix(a.Header.Get("Content-Type"), "text/csv"):
		c.Problem("%s with the Content-Type %q", a, a.Header.Get("Content-Type"))
	case err != nil || len(records) < 3 || records[0][0] != "account":
		c.Problem("the table is %q", a.Body)
	case !strings.HasSuffix(a.Header.Get("Link"), `; rel="next"`):
		c.Problem("the header Link is %q", a.Header.Get("Link"))
	}
	for _, record := range records {
		for _, field := range record {
			if field != "" && strings.ContainsAny(field[:1], "=+-@") {
				c.Problem("the table has the formula %q", field)
			}
		}
	}
}

func ledgerRefused(c *suite.Check) {
	needsCapability(c, "ledger")
	for _, path := range []string{
		"/ledger?limit=0", "/ledger?cursor=x", "/ledger?verify=yes", "/ledger/entries?currency=USD", "/ledger/entries?msisdn=12", theFloat + "&limit=1001",
		theFloat + "&after=-1", theFloat + "&cursor=x", theFloat + "&msisdn=%2B250788000001",
	} {
		c.Refused(c.Get(path), http.StatusBadRequest, "invalid_params")
	}
	c.Refused(c.Get("/ledger/entries?msisdn=%2B250799999999"), http.StatusNotFound, "not_found")
}
