package mpesa

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/payments"
)

// The kinds of callbacks of C2B.
const (
	validationKind   = "validation"
	confirmationKind = "confirmation"
)

// c2bSent has what the callbacks of a payment need beside its transaction.
type c2bSent struct {
	BillRef      string    `json:"bill_ref,omitempty"`
	Goods        bool      `json:"goods,omitempty"`  // whether a till was paid
	Masked       bool      `json:"masked,omitempty"` // whether the payer's number is masked, and not hashed
	FirstName    string    `json:"first_name,omitempty"`
	ThirdPartyID string    `json:"third_party_id,omitempty"`
	Code         string    `json:"code,omitempty"`  // RequestID of the QR code that the payer scanned
	Asked        *c2bAsked `json:"asked,omitempty"` // only for a validation, which has no transaction
}

// c2bAsked is the payment of a validation.
type c2bAsked struct {
	TransID string    `json:"trans_id"`
	At      time.Time `json:"at"`
	Amount  int64     `json:"amount"`
	Payer   string    `json:"payer"`
}

// name sets how callbacks name the payer. It reports whether the payer's number has an account.
func (c *c2bSent) name(
	ctx context.Context, s operatorapi.Sandbox, e operatorapi.Environment, urls *c2bURLs, payer string,
) (isKnown bool, err error) {
	holder, err := s.Holder(ctx, e, payer)
	if operatorapi.IsRefused(err, operatorapi.NotFound) {
		return false, nil
	}
	first, _ := holder.Names()
	c.FirstName, c.Masked = strings.ToUpper(first), urls.Masked
	return true, err
}

// C2BPayload is the body of a validation and of a confirmation. All values are texts (Documented).
type C2BPayload struct {
	TransactionType   string `json:"TransactionType"`
	TransID           string `json:"TransID"`
	TransTime         string `json:"TransTime"`
	TransAmount       string `json:"TransAmount"`
	BusinessShortCode string `json:"BusinessShortCode"`
	BillRefNumber     string `json:"BillRefNumber"`
	InvoiceNumber     string `json:"InvoiceNumber"`
	OrgAccountBalance string `json:"OrgAccountBalance"` // empty in a validation (Documented)
	ThirdPartyTransID string `json:"ThirdPartyTransID"`
	MSISDN            string `json:"MSISDN"`
	FirstName         string `json:"FirstName"`
	MiddleName        string `json:"MiddleName"`
	LastName          string `json:"LastName"`
}

// newC2BCallback returns a validation or a confirmation. The transaction is nil for a validation.
func newC2BCallback(t *payments.Transaction, s *sent) operatorapi.Callback {
	c := s.Told
	if c == nil {
		c = &c2bSent{}
	}
	body := C2BPayload{
		TransactionType: "Pay Bill", BusinessShortCode: s.ShortCode, BillRefNumber: c.BillRef, ThirdPartyTransID: c.ThirdPartyID, FirstName: c.FirstName,
	}
	if c.Goods {
		body.TransactionType = "Buy Goods"
	}
	asked := c.Asked
	if t != nil {
		asked = &c2bAsked{TransID: receiptOf(t), Amount: t.Amount, Payer: t.MSISDN}
		body.TransTime = completedAt(t)
		if t.MerchantBalanceAfter != nil {
			body.OrgAccountBalance = shillings(*t.MerchantBalanceAfter).String()
		}
	} else if asked != nil {
		body.TransTime = asked.At.In(nairobi).Format(timestamp)
	}
	if asked != nil {
		body.TransID, body.TransAmount, body.MSISDN = asked.TransID, shillings(asked.Amount).String(), hidden(asked.Payer, c.Masked)
	}
	return unsigned(body, "")
}

// hidden returns a number as callbacks of C2B have it: masked in the second version (Documented), and hashed in the first
// one (ThirdParty).
func hidden(msisdn string, masked bool) string {
	digits := strings.TrimPrefix(msisdn, "+")
	if masked && len(digits) > 7 {
		return fmt.Sprintf("%s ***** %s", digits[:4], digits[len(digits)-3:])
	}
	hash := sha256.Sum256([]byte(digits))
	return hex.EncodeToString(hash[:])
}
