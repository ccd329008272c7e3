package console

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/go-chi/chi/v5"

	"github.com/cauri-dev/cauri/server/advice"
	"github.com/cauri-dev/cauri/server/console/locale"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/ledger/lists"
	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/server/service"
)

// mostRefunds is the maximum number of refunds on the page of a collection.
const mostRefunds = 100

// paymentDetail is a transaction with its movements, its refunds and its events.
type paymentDetail struct {
	paymentRow
	client  *ledger.TestClient // test client that has its number now; nil for none
	moves   []move
	parent  *payments.Transaction
	refunds []paymentRow     // oldest first
	events  []*service.Event // its event, and the callbacks of the operator's own API
}

func (c *Console) payment(v *visit) (page, error) {
	d, none, err := c.shownPayment(v)
	if d == nil {
		return none, err
	}
	return page{
		title: v.Text("Payment %s", d.ID.String()), body: paymentPage(v, d),
		live: []string{"lead", "payer-page", "timeline", "money", "facts", "raw"},
	}, nil
}

// shownPayment returns the transaction that the path names. If there is none, d is nil, and none is the page that says
// so.
func (c *Console) shownPayment(v *visit) (d *paymentDetail, none page, err error) {
	d, err = c.readPayment(v)
	if errors.Is(err, ledger.ErrNotFound) {
		return nil, page{title: v.Text("No such payment"), body: noPaymentPage(v), status: http.StatusNotFound}, nil
	}
	if err != nil {
		return nil, none, err
	}
	return d, none, nil
}

// readPayment returns the transaction that the path names, or [ledger.ErrNotFound].
func (c *Console) readPayment(v *visit) (*paymentDetail, error) {
	id, err := payments.ParseID(chi.URLParam(v.request, "id"))
	if err != nil {
		return nil, ledger.ErrNotFound
	}
	ctx, tenant := v.ctx(), v.who.Sandbox.Tenant
	t, err := c.Ledger.GetTransaction(ctx, tenant, id)
	if err != nil {
		return nil, err
	}
	client, err := c.Ledger.FindTestClient(ctx, tenant, t.MSISDN)
	if err != nil && !errors.Is(err, ledger.ErrNotFound) {
		return nil, err
	}
	d := &paymentDetail{paymentRow: paymentRow{Transaction: t}}
	if err == nil {
		d.client = client
	}
	names, err := c.Ledger.PartyNames(ctx, tenant, []payments.ID{id})
	if err != nil {
		return nil, err
	}
	d.name = names[id]
	if t.ParentID != nil {
		if d.parent, err = c.Ledger.GetTransaction(ctx, tenant, *t.ParentID); err != nil {
			return nil, err
		}
	}
	if d.refunds, err = c.refundsOf(v, t); err != nil {
		return nil, err
	}
	if d.moves, err = c.movesOf(v, t); err != nil {
		return nil, err
	}
	d.events, err = c.eventsOf(v, t)
	return d, err
}

// move is a movement of an account.
type move struct{ text, path string }

// movesOf returns the movements that a transaction made.
func (c *Console) movesOf(v *visit, t *payments.Transaction) (all []move, err error) {
	float, sim, err := c.Ledger.MovementsOf(v.ctx(), v.who.Sandbox.Tenant, t.ID)
	add := func(number int64, account, text string) {
		if number > 0 {
			all = append(all, move{text, pathWith("/ledger/"+account, url.Values{"to": {strconv.FormatInt(number, 10)}})})
		}
	}
	add(float, string(payments.CanonicalCurrency(t.Currency)), v.Text("Movement %s of the float", v.Number(float)))
	add(sim, t.MSISDN, v.Text("Movement %s of the phone", v.Number(sim)))
	return all, err
}

// refundsOf returns the refunds of a collection. It finds them by the order reference, which a refund has from its
// collection.
func (c *Console) refundsOf(v *visit, t *payments.Transaction) ([]paymentRow, error) {
	if t.Type != payments.Collection || t.Status != payments.Success {
		return nil, nil
	}
	of := lists.Filter{Type: payments.Refund, OrderRef: t.OrderRef}
	found, err := c.Ledger.ListTransactions(v.ctx(), v.who.Sandbox.Tenant, of, nil, mostRefunds)
	if err != nil {
		return nil, err
	}
	found = slices.DeleteFunc(found, func(r *payments.Transaction) bool { return *r.ParentID != t.ID })
	slices.Reverse(found)
	return c.paymentRows(v, found)
}

// eventsOf returns the event of a transaction and its callbacks, if they exist.
func (c *Console) eventsOf(v *visit, t *payments.Transaction) (all []*service.Event, err error) {
	ids := []payments.EventID{{ID: t.ID}}
	if t.NativeCall != "" {
		of := ledger.EventFilter{Transaction: &t.ID, Callback: new(true)}
		callbacks, err := c.Ledger.ListEvents(v.ctx(), v.who.Sandbox.Tenant, of, nil, payments.MaxCallbacks)
		if err != nil {
			return nil, err
		}
		for i := range callbacks {
			ids = append(ids, callbacks[i].EventID())
		}
	}
	for _, id := range ids {
		event, err := c.Service.ReadEvent(v.ctx(), v.who, id)
		switch {
		case err == nil:
			all = append(all, event)
		case !errors.Is(err, ledger.ErrNotFound):
			return nil, err
		}
	}
	return all, nil
}

// party returns the name of the payer or recipient, or the number if there is no name.
func (d *paymentDetail) party() string {
	if d.name != "" {
		return isolated(d.name)
	}
	return isolated(locale.Phone(d.MSISDN))
}

// lead returns a sentence with the outcome of the transaction.
func (d *paymentDetail) lead(v *visit) string {
	who, amount, store := d.party(), v.Money(d.Currency, d.Amount), isolated(d.Store)
	if d.Status == payments.Pending {
		if d.Type == payments.Collection {
			return v.Text("%s is asked to pay %s by %s. There is no outcome yet.", who, store, d.by())
		}
		return v.Text("There is no outcome yet.")
	}
	day, clock := v.Date(*d.CompletedAt), v.Clock(*d.CompletedAt)
	succeeded := d.Status == payments.Success
	switch {
	case d.Type == payments.Refund && succeeded:
		return v.Text("%s got %s back from %s, on %s at %s.", who, amount, store, day, clock)
	case d.Type == payments.Disbursement && succeeded:
		return v.Text("%s got %s from %s by %s, on %s at %s.", who, amount, store, d.by(), day, clock)
	case succeeded:
		return v.Text("%s paid %s by %s, on %s at %s.", who, store, d.by(), day, clock)
	case d.Type != payments.Collection:
		return v.Text("%s got nothing from %s, on %s at %s.", who, store, day, clock) + " " + d.because(v)
	}
	return v.Text("%s did not pay %s, on %s at %s.", who, store, day, clock) + " " + d.because(v)
}

// by returns the operator and its country, as a text.
func (d *paymentDetail) by() string { return operatorName(d.Operator) + " " + string(d.Country) }

// refundedLine returns a sentence that says how much of a collection was refunded; "" for nothing.
func (d *paymentDetail) refundedLine(v *visit) string {
	switch {
	case d.Refunded == 0:
		return ""
	case d.Refundable() == 0:
		return v.Text("All of it went back.")
	}
	return v.Text("%s of it went back; %s can still be refunded.", v.Money(d.Currency, d.Refunded), v.Number(d.Refundable()))
}

// because returns a sentence that says why a transaction failed.
func (d *paymentDetail) because(v *visit) string {
	o := advice.Outcome{
		Status: d.Status, Type: d.Type, Scenario: string(d.Scenario), Amount: v.Money(d.Currency, d.CustomerTotal()), Of: d.elsewhere(),
		Length: v.lengthOf(d.MSISDN),
	}
	if limit := d.environment(v).MaxAmount; limit != nil && d.Amount > *limit {
		o.Limit = v.Money(d.Currency, *limit)
	}
	cause := advice.OfOutcome(&o)
	return v.Say(cause.What)
}

// elsewhere returns the operator and the country of the test client. It returns "" if they are those of the
// transaction, or if there is no test client.
func (d *paymentDetail) elsewhere() string {
	if d.client == nil || d.client.Of(d.Operator, d.Country) {
		return ""
	}
	return operatorName(d.client.Operator) + " " + string(d.client.Country)
}

// otherMarket returns a sentence that the test client has another operator or country than the transaction. It returns
// "" if that is not so, or if the outcome already says it.
func (d *paymentDetail) otherMarket(v *visit) string {
	if d.elsewhere() == "" || d.Status == payments.UnknownMSISDN || d.Scenario != "" {
		return ""
	}
	return v.Text("Its test client is of %s. /v1 knows a test client by its number alone; the operator's own API does not know this one.", d.elsewhere())
}

// lengthOf returns a sentence that says what is wrong with the length of a number; "" if it is right.
func (v *visit) lengthOf(msisdn string) string {
	if w := operators.CheckLength(v.who.Sandbox.Known, msisdn); w != nil {
		return v.Say(w.Phrase()) + "."
	}
	return ""
}

func (d *paymentDetail) environment(v *visit) sandboxes.Environment {
	return v.who.Sandbox.Environments[sandboxes.Market{Operator: d.Operator, Country: d.Country}]
}

// rate returns the rate of the commission in percent. It returns "" if the terms of the environment have changed since
// the transaction.
func (d *paymentDetail) rate(v *visit) string {
	terms := d.environment(v).Terms
	if terms.SplitCommission(d.Amount).Commission != d.Commission {
		return ""
	}
	return v.Percent(terms.CommissionBPS)
}

// moved reports whether the transaction moved money, or may still do so.
func (d *paymentDetail) moved() bool {
	return d.Status == payments.Success || d.Status == payments.Pending
}

// payerPage returns the address of the operator's page on which the payer confirms a forwarded payment; "" for none. It
// also returns "" if the session may change nothing, because the page can cancel the payment.
func (d *paymentDetail) payerPage(v *visit) string {
	var raw struct {
		PaymentURL string `json:"payment_url"`
	}
	if d.Status != payments.Pending || !v.may(full) || json.Unmarshal(d.NativeRaw, &raw) != nil {
		return ""
	}
	return raw.PaymentURL
}

// raw returns the operator's payload as indented JSON.
func (d *paymentDetail) raw() string { return indented(operators.Raw(d.Transaction)) }

// indented returns a JSON text, indented. Invisible characters become escapes.
func indented(text []byte) string {
	var out bytes.Buffer
	if json.Indent(&out, text, "", "  ") != nil {
		return asJSON.visible(string(text))
	}
	lines := strings.Split(out.String(), "\n")
	for i := range lines {
		lines[i] = asJSON.visible(lines[i])
	}
	return strings.Join(lines, "\n")
}
