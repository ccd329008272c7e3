package grade

import (
	"crypto/rand"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/webhooks"
)

// Known is the event of a transaction that the receiver knows.
type Known struct {
	ID   payments.ID // of the transaction, which is a collection
	Body []byte      // of its event
}

// Message is one request to the receiver.
type Message struct {
	Header http.Header
	Body   []byte
	Cuts   []int // offsets in Body: each piece between them arrives on its own
}

// event is what a message is made of.
type event struct {
	id   payments.ID
	body []byte
	name string
	at   time.Time
}

// maker makes the events of a check.
type maker struct {
	secret string
	known  *Known
	allow  bool
	now    func() time.Time
	market Market
	nonce  string // in the orders of invented transactions, so that no two checks share one
	made   int
}

// orderPrefix begins the orders of invented transactions.
const orderPrefix = "cauri-check-"

// What an invented payment costs, in any currency. The commission is 2 %, and the merchant bears it.
const (
	inventedAmount     = 1_000
	inventedCommission = 20
)

// invented returns a transaction that exists nowhere.
func (m *maker) invented() (*payments.Transaction, error) {
	now := m.now().UTC()
	id, err := payments.NewID(now, rand.Reader)
	if err != nil {
		return nil, err
	}
	m.made++
	order := orderPrefix + m.nonce + "-" + strconv.Itoa(m.made)
	currency, _ := m.market.Country.Currency()
	description := "A check of your receiver by Cauri: this payment does not exist"
	return &payments.Transaction{
		Details: payments.Details{
			Reference: strings.ToUpper(order), Description: &description, Currency: string(currency),
			MSISDN: operators.ExampleNumber(m.market.Operator, m.market.Country),
		},
		ID: id, Type: payments.Collection, Status: payments.Success, OrderRef: order, Store: "cauri-check",
		EnvironmentID: "env_check", Operator: m.market.Operator, Country: m.market.Country,
		Amount: inventedAmount, Commission: inventedCommission, NetAmount: inventedAmount - inventedCommission,
		AbsorptionPct: 100, Latency: time.Second, CreatedAt: now.Add(-time.Second), CompletedAt: &now,
	}, nil
}

func (m *maker) of(t *payments.Transaction) (*event, error) {
	raw := json.RawMessage(`{"_simulated":true,"check":true}`)
	body, err := webhooks.Body("org_check", t, raw)
	return &event{t.ID, body, t.Type.Event(), m.now()}, err
}

// payment returns the event of a payment that succeeded: of the known one, or of an invented one.
func (m *maker) payment() (*event, error) {
	if m.known != nil {
		d, err := parseDocument(m.known.Body) // which an earlier version of Cauri may have stored without the blank
		return &event{m.known.ID, d.asSent(), payments.Collection.Event(), m.now()}, err
	}
	t, err := m.invented()
	if err != nil {
		return nil, err
	}
	return m.of(t)
}

// earlyRefund returns the event of a refund, and for an invented payment that of the payment, which follows.
func (m *maker) earlyRefund() (events []*event, err error) {
	refund, err := m.invented()
	if err != nil {
		return nil, err
	}
	refund.Type, refund.Commission, refund.NetAmount = payments.Refund, 0, inventedAmount
	payment, err := m.payment()
	if err != nil {
		return nil, err
	}
	refund.ParentID = &payment.id
	of, err := m.of(refund)
	if err != nil {
		return nil, err
	}
	parent, err := parseDocument(payment.body)
	if err != nil {
		return nil, err
	}
	d, err := parseDocument(of.body)
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"order_ref", "currency", "country", "operator", "msisdn"} { // a refund has those of its payment
		d = d.with(name, parent.text(name))
	}
	of.body = d.asSent()
	if m.known != nil {
		return []*event{of}, nil
	}
	return []*event{of, payment}, nil
}

// changed returns the event of a payment after a change of its fields.
func (m *maker) changed(change func(document) document) (*event, error) {
	e, err := m.payment()
	if err != nil {
		return nil, err
	}
	d, err := parseDocument(e.body)
	if err != nil {
		return nil, err
	}
	d = change(d)
	e.body, e.name = d.asSent(), d.text("event")
	return e, nil
}

// sign returns the message of an event, signed with a secret.
func (m *maker) sign(e *event, secret string) Message {
	signed := webhooks.Sign(webhooks.Delivery{ID: e.id, Secret: secret, Body: e.body, At: e.at})
	header := http.Header{}
	for name, value := range map[string]string{
		"Content-Type": "application/json", webhooks.HeaderEvent: e.name, webhooks.HeaderDelivery: webhooks.EventID(e.id),
		webhooks.HeaderSignature: signed.Signature, webhooks.HeaderStandardID: webhooks.EventID(e.id),
		webhooks.HeaderStandardTimestamp: strconv.FormatInt(e.at.Unix(), 10), webhooks.HeaderStandardSignature: signed.Standard,
	} {
		header.Set(name, value)
	}
	return Message{Header: header, Body: e.body}
}
