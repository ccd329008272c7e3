package mtn

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"

	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/payments"
)

// orderBody is the body of the calls that move money. Unknown fields are ignored.
type orderBody struct {
	Amount              json.RawMessage `json:"amount"` // a JSON string (Documented) or number (Assumed)
	Currency            string          `json:"currency"`
	ExternalID          string          `json:"externalId"`
	Payer               *Party          `json:"payer"`
	Payee               *Party          `json:"payee"`
	PayerMessage        string          `json:"payerMessage"`
	PayeeNote           string          `json:"payeeNote"`
	ReferenceIDToRefund string          `json:"referenceIdToRefund"`
}

// sent has the fields of a request that the answers about its transaction repeat.
type sent struct {
	Currency     string `json:"currency"`
	ExternalID   string `json:"externalId"`
	Party        Party  `json:"party"`
	PayerMessage string `json:"payerMessage"`
	PayeeNote    string `json:"payeeNote"`
	Second       bool   `json:"second,omitempty"` // version 2_0 of the call

	// These fields are set only for a test party. Begins is MTN's status while the payment is pending. Reason is the
	// reason of the failure, if the payment ends with the status ReasonOf.
	Begins   string          `json:"begins,omitempty"`
	Reason   string          `json:"reason,omitempty"`
	ReasonOf payments.Status `json:"reasonOf,omitempty"`
}

const (
	maxPartyID     = 40 // in bytes, with the spaces around the number (Assumed)
	maxMessage     = 160
	maxExternalID  = 500 // Assumed: MTN says only that it is free text
	maxOrderRef    = 120
	maxCallbackURL = 2048
)

func readOrder(r *operatorapi.Request) (*orderBody, error) {
	var o orderBody
	if err := json.Unmarshal(r.Body, &o); err != nil {
		return nil, r.Unreadable(operatorapi.Invalid)
	}
	for _, text := range []string{o.PayerMessage, o.PayeeNote} {
		if !operatorapi.IsText(text, maxMessage) || strings.ContainsRune(text, '\'') {
			return nil, operatorapi.Refuse(operatorapi.Invalid)
		}
	}
	if !operatorapi.IsText(o.ExternalID, maxExternalID) {
		return nil, operatorapi.Refuse(operatorapi.Invalid)
	}
	return &o, nil
}

// amountOf parses an amount in whole units. It accepts "5.0", but refuses a fraction other than zero, because the
// currencies have no decimals.
func amountOf(raw json.RawMessage) (int64, error) {
	amount, ok := operatorapi.PayableAmount(raw)
	if !ok {
		return 0, operatorapi.Refuse(operatorapi.Invalid)
	}
	return amount, nil
}

var digits = regexp.MustCompile(`^\+?([1-9][0-9]{6,14})$`)

// msisdnOfParty returns the number of a party in E.164. It refuses e-mail addresses and party codes, because in Cauri only
// numbers have accounts.
func msisdnOfParty(p *Party) (string, error) {
	if p == nil || !strings.EqualFold(p.PartyIDType, "MSISDN") {
		return "", operatorapi.Refuse(operatorapi.Invalid)
	}
	return msisdnFrom(p.PartyID)
}

func msisdnFrom(text string) (string, error) {
	match := digits.FindStringSubmatch(strings.TrimSpace(text))
	if match == nil || len(text) > maxPartyID {
		return "", operatorapi.Refuse(operatorapi.Invalid)
	}
	return "+" + match[1], nil
}

var uuid4 = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)

// canonicalReference returns a reference in the form in which it is stored: without the spaces at its ends, and a UUID
// in lower case.
func canonicalReference(text string) string {
	text = strings.TrimSpace(text)
	if lower := strings.ToLower(text); uuid4.MatchString(lower) {
		return lower
	}
	return text
}

// referenceOf returns the X-Reference-Id of a request.
func referenceOf(h http.Header) (string, error) {
	reference := strings.ToLower(strings.TrimSpace(h.Get(referenceHeader)))
	if !uuid4.MatchString(reference) {
		return "", operatorapi.Refuse(operatorapi.Invalid)
	}
	return reference, nil
}

// targets are MTN's names of target environments, with their countries (Documented). A sandbox may have only some of
// them.
var targets = map[string]payments.Country{
	"mtnivorycoast": payments.CoteDIvoire, "mtnbenin": payments.Benin, "mtnrwanda": payments.Rwanda,
}

// target is the target environment of a request.
type target struct {
	operatorapi.Environment
	sandbox bool // whether the request names the target environment sandbox
}

const (
	sandboxTarget = "sandbox"
	// quirkSandboxTarget is the quirk that accepts the target environment sandbox, with the currency of MTN's own
	// sandbox.
	quirkSandboxTarget = "mtnSandboxTarget"
	sandboxCurrency    = "EUR"
)

var quirks = []operatorapi.Quirk{{
	Name: quirkSandboxTarget,
	About: "mtnSandboxTarget is whether MTN's API takes the target environment sandbox, with the currency EUR and MTN's test numbers.\n" +
		"It means the first enabled environment of mtn. Default true.",
}}

// targetOf returns the target environment that the header X-Target-Environment names.
func targetOf(s operatorapi.Sandbox, r *operatorapi.Request) (target, error) {
	name := strings.ToLower(strings.TrimSpace(r.Header.Get(targetHeader)))
	for _, e := range s.Environments() {
		if name == sandboxTarget {
			if wanted, set := e.Quirks[quirkSandboxTarget]; set && !wanted {
				break
			}
			return target{e, true}, nil
		}
		if country, known := targets[name]; known && country == e.Country {
			return target{e, false}, nil
		}
	}
	return target{}, operatorapi.Refuse(wrongTarget)
}

// takes reports whether the environment accepts a currency. The target environment sandbox also accepts EUR: there, one
// EUR equals one unit of the environment's currency.
func (t target) takes(currency string) bool {
	return currency == string(t.Currency) || t.sandbox && currency == sandboxCurrency
}

// currency returns the currency of the reported balance.
func (t target) currency() string {
	if t.sandbox {
		return sandboxCurrency
	}
	return string(t.Currency)
}
