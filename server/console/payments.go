package console

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/cauri-dev/cauri/server/httpfront"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/server/service"
)

// paymentsOnPage is how many rows a page of the list of payments has.
const paymentsOnPage = 25

// paymentList is a page of the list of payments.
type paymentList struct {
	paymentFilter
	rows         []paymentRow
	checkouts    []openCheckout // only on the first page, and only without filters
	newer, older string         // addresses of the pages beside this one; empty: there is none
}

// paymentRow is a transaction in the list.
type paymentRow struct {
	*payments.Transaction
	name     string          // of the SIM at the time; empty: there is none
	delivery ledger.Delivery // of its event; zero value: there is none yet
}

func (c *Console) payments(v *visit) (page, error) {
	l, err := c.listPayments(v)
	p := page{title: v.Text("Payments"), body: paymentsPage(v, l)}
	if l.newer == "" { // rows on a later page stay where they are
		p.live = []string{"lead", "orders", "list"}
		if len(v.pageOperators()) > 0 {
			p.every = ordersEvery
		}
	}
	return p, err
}

func (c *Console) listPayments(v *visit) (*paymentList, error) {
	query := v.request.URL.Query()
	l := &paymentList{paymentFilter: readPaymentFilter(query)}
	if len(l.wrong) > 0 {
		return l, nil
	}
	ctx, tenant := v.ctx(), v.who.Sandbox.Tenant
	reader := listReader[*payments.Transaction, payments.ID]{
		parse: payments.ParseID, id: func(t **payments.Transaction) string { return (*t).ID.String() },
		after: func(id *payments.ID, limit int) ([]*payments.Transaction, error) {
			return c.Ledger.ListTransactions(ctx, tenant, l.Filter, id, limit)
		},
		before: func(id payments.ID, limit int) ([]*payments.Transaction, error) {
			return c.Ledger.ListNewerTransactions(ctx, tenant, l.Filter, id, limit)
		},
	}
	p, err := reader.read(&l.listing, query, paymentsOnPage)
	if err == nil && len(p.rows) == 0 && l.OrderRef != "" && p.first { // the text may be a reference
		l.OrderRef, l.Reference = "", l.OrderRef
		p, err = reader.read(&l.listing, query, paymentsOnPage)
	}
	if err != nil {
		return l, err
	}
	l.newer, l.older = p.newer, p.older
	if p.first && len(l.set) == 0 {
		if l.checkouts, err = c.readCheckouts(v); err != nil {
			return l, err
		}
	}
	l.rows, err = c.paymentRows(v, p.rows)
	return l, err
}

// paymentRows returns the rows of transactions, with the names of the SIMs and the deliveries of the events.
func (c *Console) paymentRows(v *visit, found []*payments.Transaction) ([]paymentRow, error) {
	if len(found) == 0 {
		return nil, nil
	}
	var ids []payments.ID
	for _, t := range found {
		ids = append(ids, t.ID)
	}
	names, err := c.Ledger.PartyNames(v.ctx(), v.who.Sandbox.Tenant, ids)
	if err != nil {
		return nil, err
	}
	deliveries, err := c.Ledger.Deliveries(v.ctx(), v.who.Sandbox.Tenant, found)
	rows := make([]paymentRow, len(found))
	for i, t := range found {
		rows[i] = paymentRow{t, names[t.ID], deliveries[t.ID]}
	}
	return rows, err
}

// lead returns the sentence that describes the list.
func (l *paymentList) lead(v *visit) string {
	switch {
	case len(l.wrong) > 0:
		return v.Text("A filter cannot be read. The field says what to write.")
	case len(l.set) > 0 && len(l.rows) == 0 && l.newer == "":
		return v.Text("No transaction since the last reset matches.")
	case len(l.set) > 0:
		return v.Text("The transactions that match, newest first, in sandbox time.")
	}
	return v.Text("All transactions since the last reset, newest first, in sandbox time.")
}

// none reports whether the sandbox has no transactions.
func (l *paymentList) none() bool { return len(l.rows) == 0 && len(l.set) == 0 && l.newer == "" }

// who returns the name of the payer or of the recipient. Without a name, it says what the number is.
func (r *paymentRow) who(v *visit) string {
	switch {
	case r.name != "":
		return r.name
	case service.TestNumberIn(v.who.Sandbox, sandboxes.Market{Operator: r.Operator, Country: r.Country}, r.MSISDN) != nil:
		return v.Text("Test number")
	}
	return v.Text("No test client")
}

// outgoing reports whether a transaction takes money from the float.
func outgoing(t *payments.Transaction) bool { return t.Type != payments.Collection }

// floatChange returns the change of the float, before commissions. It is negative for a payout that succeeded. For a
// transaction that moved nothing, it is the amount.
func (r *paymentRow) floatChange() int64 {
	if outgoing(r.Transaction) && r.Status == payments.Success {
		return -r.Amount
	}
	return r.Amount
}

// shortID returns an id with … in place of its middle.
func shortID(id payments.ID) string {
	text := id.String()
	return text[:9] + "…" + text[len(text)-4:]
}

// firstPayment returns a command for a payment that succeeds. It returns "" if the sandbox has no test numbers.
func (v *visit) firstPayment() string {
	for _, n := range service.TestNumbers(v.who.Sandbox) {
		if n.Behavior == payments.Approve {
			currency, _ := n.Country.Currency()
			return fmt.Sprintf(`curl -sS "$CAURI_URI/api/v1/payments" \
  -H "Authorization: Bearer $CAURI_API_KEY" -H 'Content-Type: application/json' -d '{
  "amount": 1500, "currency": "%s", "msisdn": "%s",
  "reference": "FIRST-%s", "application": "%s"
}'`, currency, n.MSISDN, v.clock.Now.UTC().Format("20060102150405"), v.who.Sandbox.FirstStore)
		}
	}
	return ""
}

// find redirects to what a person searches for: a transaction, an event, a number, an order or a reference.
func (c *Console) find(v *visit) (httpfront.Answer, error) {
	text := strings.TrimSpace(v.request.URL.Query().Get("q"))
	id, err := payments.ParseID(text)
	if event, notEvent := payments.ParseEventID(text); notEvent == nil {
		if v.opens("/webhooks/{id}") {
			return v.goTo("/webhooks/" + event.String()), nil
		}
		id, err = event.ID, nil
	}
	switch {
	case err == nil && v.opens("/payments/{id}"):
		return v.goTo("/payments/" + id.String()), nil
	case text == "":
		return v.goTo("/payments"), nil
	case asMSISDN(text) != "":
		return v.goTo(pathWith("/payments", url.Values{"number": {asMSISDN(text)}})), nil
	}
	return v.goTo(pathWith("/payments", url.Values{"order": {text}})), nil
}
