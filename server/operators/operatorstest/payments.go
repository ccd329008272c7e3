package operatorstest

import (
	"crypto/rand"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/cauri-dev/cauri/server/payments"
)

// maxBody is the maximum size of a request body, in bytes.
const maxBody = 64 << 10

// body decodes the JSON body of a request.
func (v *visit) body(into any) error {
	text, err := io.ReadAll(http.MaxBytesReader(v.w, v.r.Body, maxBody))
	if err != nil || json.Unmarshal(text, into) != nil {
		return invalidField("the body is not a JSON object of the expected form")
	}
	return nil
}

// keep stores a requested payment. It returns an error for a duplicate.
func (v *visit) keep(reference string, request any) (Payment, error) {
	p := Payment{Operator: v.operator, Reference: reference, NativeID: "N" + rand.Text(), CreatedAt: v.now(), request: request}
	if !v.Keep(p) {
		return p, problem{duplicate, "there is a payment of this id already"}
	}
	return p, nil
}

var digits = regexp.MustCompile(`^[1-9][0-9]{6,14}$`)

// maxAmount is the maximum amount of a payment.
const maxAmount = 1_000_000_000_000

// checkPayment validates the fields that the payments of all operators have.
func checkPayment(reference string, amount int64, currency, number string) error {
	switch {
	case reference == "" || !storable(reference):
		return invalidField("the payment's id is missing, or is not a text of at most 128 characters")
	case amount < 1 || amount > maxAmount:
		return invalidField("the amount has to be a whole number from 1 to 1000000000000")
	case !slices.Contains(payments.Currencies, payments.Currency(currency)):
		return invalidField("the currency has to be " + payments.OneOf(payments.Currencies))
	case !digits.MatchString(number):
		return invalidField("the payer's number has to be written in international form, without its plus sign")
	}
	return nil
}

// storable reports whether a text is a valid id of a payment.
func storable(text string) bool {
	return utf8.ValidString(text) && utf8.RuneCountInString(text) <= 128 && !strings.ContainsRune(text, 0)
}
