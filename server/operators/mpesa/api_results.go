package mpesa

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/payments"
)

// resultKind is the kind of the callbacks with the result of a request that recorded no transaction, or of a payout.
const resultKind = "result"

// resultPause is the time until the result of an inquiry, in sandbox time (Assumed: the portal says minutes).
const resultPause = 2 * time.Second

// inquiry is a request whose result comes later.
type inquiry struct {
	at                       time.Time
	conversation, originator string
	resultURL                string
}

// resultTo returns the callback with the result of a payout or of a reversal.
func resultTo(address string) []payments.PlannedCallback {
	return []payments.PlannedCallback{{URL: address, Kind: resultKind}}
}

// newInquiry returns an inquiry with ids of its own.
func newInquiry(ctx context.Context, s operatorapi.Sandbox, resultURL string) (*inquiry, error) {
	now, err := s.Now(ctx)
	if err != nil {
		return nil, err
	}
	originator, err := madeID(s)
	return &inquiry{now, conversationID(now, originator), originator, resultURL}, err
}

// accepted is the answer to the request.
func (i *inquiry) accepted(description string) acceptance {
	return acceptance{i.conversation, i.originator, "0", description}
}

// failure returns the result of an inquiry that failed, whose code is a text.
func (i *inquiry) failure(code, text string, of ReferenceData) Result {
	return Result{
		ResultType: 0, ResultCode: code, ResultDesc: text, OriginatorConversationID: i.originator, ConversationID: i.conversation,
		TransactionID: genericID(i.at), ReferenceData: of,
	}
}

// notice has the result of an inquiry: one of both.
type notice struct {
	Result *Result       `json:"result,omitempty"`
	Status *StatusResult `json:"status,omitempty"`
}

// notify queues the result of an inquiry.
func (i *inquiry) notify(ctx context.Context, s operatorapi.Sandbox, n notice) error {
	return s.Notify(ctx, operatorapi.Notice{URL: i.resultURL, Kind: resultKind, Sent: n, After: resultPause})
}

// newResultCallback returns the callback with a result: of a payout or of a reversal, or of an inquiry if there is no
// transaction.
func newResultCallback(t *payments.Transaction, kept json.RawMessage, how operatorapi.StatusView) operatorapi.Callback {
	var body any
	if t != nil {
		s := keptOf(kept)
		body = newResult(t, &s, how)
	} else {
		var n notice
		d := json.NewDecoder(bytes.NewReader(kept))
		d.UseNumber() // amounts have two decimals
		_ = d.Decode(&n)
		if body = n.Result; n.Status != nil {
			body = n.Status
		}
	}
	return unsigned(map[string]any{"Result": body}, "")
}

// The checks of fields that several calls have.

func checkInitiatorName(field string, name text) error {
	if name == "" || !operatorapi.IsText(string(name), maxRemarks) {
		return refusedField(field, "mpesa-initiator-name of the credentials Secret")
	}
	return nil
}

func checkCommand(command string, allowed ...string) error {
	if slices.Contains(allowed, command) {
		return nil
	}
	return refusedField("CommandID", strings.Join(allowed, ", "))
}

// checkParty refuses a short code that is none of the sandbox.
func checkParty(s operatorapi.Sandbox, field string, code text) error {
	if !shortCodes.MatchString(string(code)) || !isShortCode(s, string(code)) {
		return refusedField(field, expected[unknownMerchant].Form)
	}
	return nil
}

func checkRemarks(remarks text, least int) error {
	if len([]rune(string(remarks))) < least || !operatorapi.IsText(string(remarks), maxRemarks) {
		return refusedField("Remarks", operatorapi.TextForm(least, maxRemarks))
	}
	return nil
}

func checkResultURLs(s operatorapi.Sandbox, timeout, result string) error {
	if err := checkURL(s, "QueueTimeOutURL", timeout); err != nil {
		return err
	}
	return checkURL(s, "ResultURL", result)
}

func checkIdentifier(field string, kind text, allowed ...string) error {
	if slices.Contains(allowed, string(kind)) {
		return nil
	}
	return refusedField(field, strings.Join(allowed, ", "))
}

const (
	exampleInitiator    = "apihk2m9q4t"
	exampleConversation = "53e3-4aa8-9fe0-8fb5e4092cdd3405976"
	exampleReceipt      = "UKS2Q7M4XB"
)

// exampleCredential is the example of a credential, which the reader replaces. It is for no certificate.
var exampleCredential = base64.StdEncoding.EncodeToString(bytes.Repeat(hashed("example", "credential"), lengthOfCredential/16))
