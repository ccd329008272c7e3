package webhooks

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"

	"github.com/cauri-dev/cauri/server/payments"
)

// EventID returns the id of the event of a transaction, evt_<code>. A transaction has one event, with the same code.
func EventID(id payments.ID) string { return payments.EventID{ID: id}.String() }

// body is the body of every event, in the order of the contract. Missing values are null.
type body struct {
	fields
	Raw json.RawMessage `json:"raw"`
}

// fields are those before the payload of the operator.
type fields struct {
	Event                 string  `json:"event"`
	TxID                  string  `json:"tx_id"`
	OrgID                 string  `json:"org_id"`
	EnvID                 string  `json:"env_id"`
	Country               string  `json:"country"`
	Operator              string  `json:"operator"`
	Amount                string  `json:"amount"`
	Commission            string  `json:"commission"`
	NetAmount             string  `json:"net_amount"`
	CustomerTotal         string  `json:"customer_total"`
	MerchantAbsorptionPct int     `json:"merchant_absorption_pct"`
	MerchantShare         string  `json:"merchant_share"`
	CustomerShare         string  `json:"customer_share"`
	CommissionMode        string  `json:"commission_mode"`
	Currency              string  `json:"currency"`
	MSISDN                string  `json:"msisdn"`
	Reference             string  `json:"reference"`
	OrderRef              string  `json:"order_ref"`
	OrderURL              *string `json:"order_url"`
	Status                string  `json:"status"`
	LatencyMs             int64   `json:"latency_ms"`
	CreatedAt             string  `json:"created_at"`
	CompletedAt           string  `json:"completed_at"`
	Scenario              *string `json:"scenario"`
	ProviderTxID          string  `json:"provider_tx_id"`
	Description           *string `json:"description"`
	ParentTxID            string  `json:"parent_tx_id,omitempty"` // refunds only
}

// Body builds the event of a terminal transaction. The parameter raw is the operator's payload; nil for none. Body
// returns an error for a pending transaction.
func Body(organizationID string, t *payments.Transaction, raw json.RawMessage) ([]byte, error) {
	if !t.Status.Terminal() || t.CompletedAt == nil {
		return nil, fmt.Errorf("%s is %s: only a terminal transaction has an event", t.ID, t.Status)
	}
	b := body{Raw: raw, fields: fields{
		Event: t.Type.Event(), TxID: t.ID.String(), OrgID: organizationID, EnvID: t.EnvironmentID,
		Country: string(t.Country), Operator: string(t.Operator),
		Amount: strconv.FormatInt(t.Amount, 10), Commission: decimal(t.Commission), NetAmount: decimal(t.NetAmount),
		CustomerTotal: decimal(t.CustomerTotal()), MerchantAbsorptionPct: t.AbsorptionPct,
		MerchantShare: decimal(t.MerchantShare()), CustomerShare: decimal(t.CustomerShare()),
		CommissionMode: string(t.CommissionMode()), Currency: t.Currency, MSISDN: t.MSISDN, Reference: t.Reference,
		OrderRef: t.OrderRef, OrderURL: t.OrderURL, Status: string(t.Status), LatencyMs: t.Latency.Milliseconds(),
		CreatedAt: payments.FormatTime(t.CreatedAt), CompletedAt: payments.FormatTime(*t.CompletedAt),
		ProviderTxID: t.ProviderTxID(), Description: t.Description,
	}}
	if t.Scenario != "" {
		scenario := string(t.Scenario)
		b.Scenario = &scenario
	}
	if t.ParentID != nil {
		b.ParentTxID = t.ParentID.String()
	}
	text, err := b.encode()
	if err != nil {
		return nil, fmt.Errorf("encoding the event of %s: %w", t.ID, err)
	}
	return text, nil
}

// encode writes one blank, after the comma before raw, and no other. No JSON library does: it writes a blank after each comma, or
// after none. So a receiver that parses a body and writes it again has other bytes for every event, and its first test shows it.
func (b *body) encode() ([]byte, error) {
	before, err := encoded(&b.fields)
	raw, invalid := encoded(b.Raw)
	return fmt.Appendf(nil, `%s, "raw":%s}`, bytes.TrimSuffix(before, []byte("}")), raw), errors.Join(err, invalid)
}

// encoded returns a value as compact JSON. A description is sent unchanged: nothing is escaped for HTML.
func encoded(value any) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), err
}

// AsSent restores the sent form of an event's body that a program has parsed and written again, with other spaces,
// another order or other escapes. It does not restore the order within the field raw. It returns nil for a text that is
// no event.
func AsSent(rewritten []byte) []byte {
	var b body
	if json.Unmarshal(rewritten, &b) != nil || b.Event == "" {
		return nil
	}
	b.Raw = textInJSON.ReplaceAllFunc(b.Raw, func(text []byte) []byte {
		var value string
		if json.Unmarshal(text, &value) != nil {
			return text
		}
		sent, _ := encoded(value) // every string can be encoded
		return sent
	})
	text, err := b.encode()
	if err != nil {
		return nil
	}
	return text
}

var textInJSON = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

// decimal writes an amount with two decimal places, which are always 00: the currencies have no smaller unit.
func decimal(amount int64) string { return strconv.FormatInt(amount, 10) + ".00" }
