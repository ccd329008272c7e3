package mtn

import (
	"cmp"
	"encoding/json"
	"net/http"
	"regexp"
	"strings"

	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/payments"
)

// orderBody is the body of the calls that move money. Unknown fields are ignored.
type orderBody struct {
	Amount              json.RawMessage          `json:"amount"` // a JSON string (Documented) or number (Assumed)
	Currency            string                   `json:"currency"`
	ExternalID          operatorapi.TextOrNumber `json:"externalId"` // a JSON string (Documented) or number (Assumed)
	Payer               *partyBody               `json:"payer"`
	Payee               *partyBody               `json:"payee"`
	PayerMessage        string                   `json:"payerMessage"`
	PayeeNote           string                   `json:"payeeNote"`
	ReferenceIDToRefund operatorapi.TextOrNumber `json:"referenceIdToRefund"`
}

type partyBody struct {
	PartyIDType string                   `json:"partyIdType"`
	PartyID     operatorapi.TextOrNumber `json:"partyId"` // a JSON string (Documented) or number (Assumed)
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
	if err := r.Decode(operatorapi.Invalid, &o); err != nil {
		return nil, err
	}
	return &o, cmp.Or(
		wrongUnless(isMessage(o.PayerMessage), "payerMessage", messageForm), wrongUnless(isMessage(o.PayeeNote), "payeeNote", messageForm),
		wrongUnless(operatorapi.IsText(string(o.ExternalID), maxExternalID), "externalId", operatorapi.TextForm(0, maxExternalID)),
	)
}

// messageForm is what isMessage accepts.
var messageForm = operatorapi.TextForm(0, maxMessage) + ", without ' and &"

// isMessage reports whether MTN accepts a text for the payer or the payee. MTN refuses an apostrophe (Documented), and
// an ampersand (ThirdParty).
func isMessage(text string) bool {
	return operatorapi.IsText(text, maxMessage) && !strings.ContainsAny(text, "'&")
}

// wrongUnless returns a refusal of a part of the request if ok is false.
func wrongUnless(ok bool, part, form string) error {
	if ok {
		return nil
	}
	return operatorapi.Refuse(operatorapi.Invalid).Expect(part, form)
}

// amountOf parses an amount in whole units. It accepts "5.0", but refuses a fraction other than zero, because amounts here
// have no decimals.
func amountOf(raw json.RawMessage) (int64, error) {
	amount, ok := operatorapi.PayableAmount(raw)
	return amount, wrongUnless(ok, "amount", operatorapi.WholeUnits)
}

var digits = regexp.MustCompile(`^(?:\+?([1-9][0-9]{6,14})|0[0-9]{6,12})$`)

// msisdnOfParty returns the number of a party in E.164. It refuses e-mail addresses and party codes, because in Cauri only
// numbers have accounts. The parameter field is the name of the party's field.
func msisdnOfParty(field string, p *partyBody, country payments.Country) (string, error) {
	if p == nil || !strings.EqualFold(p.PartyIDType, msisdnType) {
		return "", operatorapi.Refuse(operatorapi.Invalid).Expect(field+".partyIdType", msisdnType+", because only numbers have accounts here")
	}
	msisdn, ok := msisdnFrom(string(p.PartyID), country)
	return msisdn, wrongUnless(ok, field+".partyId", "a number with its country code, such as "+country.CallingCode()+"..., of 7 to 15 digits")
}

// msisdnType is the type of a party that is a number.
const msisdnType = "MSISDN"

// msisdnFrom returns a number in E.164; ok is false if the text is no number. A number that begins with 0, as in MTN's
// samples, has no country code. It gets that of the target, and keeps its 0.
func msisdnFrom(text string, country payments.Country) (msisdn string, ok bool) {
	match := digits.FindStringSubmatch(strings.TrimSpace(text))
	switch {
	case match == nil || len(text) > maxPartyID:
		return "", false
	case match[1] == "":
		msisdn = "+" + country.CallingCode() + match[0]
	default:
		msisdn = "+" + match[1]
	}
	return msisdn, payments.ValidMSISDN(msisdn)
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
	return reference, wrongUnless(uuid4.MatchString(reference), referenceHeader, "a UUID of version 4")
}

// targetNames are MTN's names of target environments, by country. They are in the table of markets. A sandbox may have only
// some of them.
var targetNames = func() map[payments.Country]string {
	all := map[payments.Country]string{}
	for _, country := range payments.MTN.Countries() {
		if name := payments.Facts(payments.MTN, country).NameInAPI; name != "" {
			all[country] = name
		}
	}
	return all
}()

// targets are the names of all target environments, with the given text around each, in the order of the table.
func targets(around string) (names []string) {
	for _, country := range payments.Countries {
		if name := targetNames[country]; name != "" {
			names = append(names, around+name+around)
		}
	}
	return names
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
		"It means the first enabled environment of mtn. There, any number without a test client pays, as in MTN's own sandbox. Default true.",
}}

// targetOf returns the target environment that the header X-Target-Environment names.
func targetOf(s operatorapi.Sandbox, r *operatorapi.Request) (target, error) {
	name := strings.ToLower(strings.TrimSpace(r.Header.Get(targetHeader)))
	for _, e := range s.Environments() {
		if name == sandboxTarget {
			if wanted, set := e.Quirks[quirkSandboxTarget]; set && !wanted {
				break
			}
			e.AnyNumber = true
			return target{e, true}, nil
		}
		if name != "" && name == targetNames[e.Country] {
			return target{e, false}, nil
		}
	}
	return target{}, operatorapi.Refuse(wrongTarget).Expect(targetHeader, strings.Join(targetsOf(s), ", "))
}

// targetsOf returns the names of the target environments that a sandbox has.
func targetsOf(s operatorapi.Sandbox) (names []string) {
	for i, e := range s.Environments() {
		if on, set := e.Quirks[quirkSandboxTarget]; i == 0 && (on || !set) {
			names = append(names, sandboxTarget)
		}
		if name := targetNames[e.Country]; name != "" {
			names = append(names, name)
		}
	}
	return names
}

// takes reports whether the environment accepts a currency. The target environment sandbox also accepts EUR: there, one
// EUR equals one unit of the environment's currency.
func (t target) takes(currency string) bool {
	return currency == string(t.Currency) || t.sandbox && currency == sandboxCurrency
}

// refuseCurrency returns the refusal of a currency that the environment does not accept. The parameter part is the name
// of the field or of the parameter with the currency.
func (t target) refuseCurrency(part string) error {
	form := string(t.Currency)
	if t.sandbox {
		form += " or " + sandboxCurrency
	}
	return operatorapi.Refuse(wrongCurrency).Expect(part, form)
}

// currency returns the currency of the reported balance.
func (t target) currency() string {
	if t.sandbox {
		return sandboxCurrency
	}
	return string(t.Currency)
}
