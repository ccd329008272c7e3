package mpesa

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/cauri-dev/cauri/server/operators/operatorapi"
)

// text is a field that clients send as a text or as a number.
type text = operatorapi.TextOrNumber

var (
	textOrNumber = []string{"string", "integer"}
	textOrNull   = []string{"string", "integer", "null"} // some clients send null (ThirdParty)
)

const (
	shortCodeForm = `^[0-9]{5,7}$`
	numberForm    = `^254[0-9]{9}$`
	timeForm      = `^[0-9]{14}$`
)

var (
	shortCodes = regexp.MustCompile(shortCodeForm)
	numbers    = regexp.MustCompile(numberForm)
)

const (
	wantedNumber = "254 and the nine digits of a number of KE, without a plus sign"
	wantedTime   = "a time of 14 digits, YYYYMMDDHHmmss"
	wantedURL    = "an http or https URL whose host spec.callbackHosts allows"
	maxURL       = 2048
)

// decode decodes the body, a JSON object. The parameter first is the field that a body without fields lacks: the gateway
// reads a body of another type, or that is no JSON, as one without fields (Documented).
func decode(r *operatorapi.Request, first string, into any) error {
	if !r.IsJSON() {
		return operatorapi.Because(wrongField, wrongFieldPrefix+first).Expect("Content-Type", "application/json")
	}
	err := r.Decode(wrongField, into)
	var refused *operatorapi.Refusal
	if errors.As(err, &refused) {
		field, form, found := strings.Cut(refused.Detail, ":")
		if !found || strings.Contains(field, " ") { // the body as a whole
			field = first
		} else {
			field = field[strings.LastIndex(field, ".")+1:] // without the name of an embedded part
			refused.Detail = field + ":" + form
		}
		refused.ErrorCode = wrongFieldPrefix + field
	}
	return err
}

// decodeExpress decodes the body of a request to M-Pesa Express, which knows a field only by the exact letters of its name
// (ThirdParty: a client that wrote businessShortCode was refused). Package json takes a name in any case.
func decodeExpress(r *operatorapi.Request, fields []operatorapi.Field, into any) error {
	var sent map[string]json.RawMessage
	if json.Unmarshal(r.Body, &sent) != nil {
		return decode(r, fields[0].Name, into)
	}
	exact := map[string]json.RawMessage{}
	for _, f := range fields {
		value, there := sent[f.Name]
		if there {
			exact[f.Name] = value
			continue
		}
		for name := range sent {
			if strings.EqualFold(name, f.Name) {
				return refusedField(f.Name, "exactly this name: the body has it with other capitals")
			}
		}
	}
	body, err := json.Marshal(exact)
	if err != nil {
		return fmt.Errorf("encoding what was decoded: %w", err)
	}
	return decode(&operatorapi.Request{Header: r.Header, Body: body}, fields[0].Name, into)
}

// amountOf returns an amount in whole shillings, from a number or from a text with one.
func amountOf(raw json.RawMessage) (int64, error) {
	amount, ok := operatorapi.PayableAmount(raw)
	if !ok {
		return 0, refusedField("Amount", operatorapi.WholeUnits)
	}
	return amount, nil
}

// msisdnOf returns a number in E.164.
func msisdnOf(field string, number text) (string, error) {
	if !numbers.MatchString(string(number)) {
		return "", refusedField(field, wantedNumber)
	}
	return "+" + string(number), nil
}

// checkURL refuses a URL to which no callback may go.
func checkURL(s operatorapi.Sandbox, field, address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || !operatorapi.IsText(address, maxURL) || !s.MayCall(address) {
		return refusedField(field, wantedURL)
	}
	return nil
}

// isShortCode reports whether a text is a short code of the sandbox, see [publicShortCode].
func isShortCode(s operatorapi.Sandbox, code string) bool {
	return code == publicShortCode || s.Checks(shortCodeCheck, code)
}

// checkShortCode refuses a text that is no short code, or none of the sandbox.
func checkShortCode(s operatorapi.Sandbox, field string, code text) error {
	if !shortCodes.MatchString(string(code)) {
		return refusedField(field, "5 to 7 digits")
	}
	if !isShortCode(s, string(code)) {
		return operatorapi.Refuse(unknownMerchant).Expect(field, "mpesa-shortcode of the credentials Secret, or "+publicShortCode)
	}
	return nil
}

// signed are the fields that every request of M-Pesa Express has.
type signed struct {
	BusinessShortCode text `json:"BusinessShortCode"`
	Password          text `json:"Password"`
	Timestamp         text `json:"Timestamp"`
}

// check checks short code, timestamp and password. The password is the Base64 of short code, passkey and timestamp
// (Documented).
func (b *signed) check(s operatorapi.Sandbox, now time.Time) error {
	if !shortCodes.MatchString(string(b.BusinessShortCode)) {
		return refusedField("BusinessShortCode", "5 to 7 digits")
	}
	at, err := time.ParseInLocation(timestamp, string(b.Timestamp), nairobi)
	if err != nil {
		return refusedField("Timestamp", wantedTime)
	}
	strict := slices.ContainsFunc(s.Environments(), func(e operatorapi.Environment) bool { return e.Has(strictTimestamp) })
	if away := now.Sub(at).Abs(); strict && away >= time.Hour {
		return refusedField("Timestamp", "the time in Nairobi, UTC+3; this one is an hour or more away")
	}
	if b.Password == "" {
		return refusedField("Password", expected[wrongPassword].Form)
	}
	if err := checkShortCode(s, "BusinessShortCode", b.BusinessShortCode); err != nil {
		return err
	}
	decoded, err := base64.StdEncoding.DecodeString(string(b.Password))
	passkey, hasCode := strings.CutPrefix(string(decoded), string(b.BusinessShortCode))
	passkey, hasTime := strings.CutSuffix(passkey, string(b.Timestamp))
	isPublic := b.BusinessShortCode == publicShortCode && passkey == publicPasskey
	if err != nil || !hasCode || !hasTime || !isPublic && !s.Checks(passkeyCheck, passkey) {
		return operatorapi.Refuse(wrongPassword)
	}
	return nil
}
