package mpesa

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/operators/operatorapi/operatorapitest"
	"github.com/cauri-dev/cauri/server/payments"
)

// oneTransaction is a sandbox with one transaction. It keeps the results that are sent.
type oneTransaction struct {
	operatorapitest.Recorder
	found *payments.Transaction
	sent  []notice
}

func (s *oneTransaction) FindInMinute(
	_ context.Context, minute time.Time, is func(*payments.Transaction) bool,
) (*payments.Transaction, error) {
	if !s.found.CreatedAt.Truncate(time.Minute).Equal(minute) || !is(s.found) {
		return nil, operatorapi.Refuse(operatorapi.NotFound)
	}
	return s.found, nil
}

func (s *oneTransaction) FindCollection(_ context.Context, reference string) (*payments.Transaction, error) {
	if s.found.Reference != reference {
		return nil, operatorapi.Refuse(operatorapi.NotFound)
	}
	return s.found, nil
}

// A payment that was asked about may be recorded in the minute after that of its receipt.
func TestReceiptOfTheMinuteBefore(t *testing.T) {
	at := time.Date(2026, 11, 23, 8, 59, 55, 0, time.UTC)
	receipt := receiptFor(at, 7)
	for _, paid := range []payments.Transaction{
		{Details: payments.Details{Reference: receipt}, NativeCall: c2bCall},
		{Details: payments.Details{Reference: "ws_CO_231120261159559712000001"}, NativeCall: pushCall, NativeSent: json.RawMessage(`{"receipt": "` + receipt + `"}`)},
	} {
		paid.Type, paid.CreatedAt = payments.Collection, at.Add(8*time.Second)
		if found, err := findReceipt(t.Context(), &oneTransaction{found: &paid}, receipt, at.Add(time.Minute)); found != &paid {
			t.Errorf("%s is not found: %v", receipt, err)
		}
	}
}

func (s *oneTransaction) Notify(_ context.Context, n operatorapi.Notice) error {
	s.sent = append(s.sent, n.Sent.(notice))
	return nil
}

// A payment that was not paid has no receipt that a client sees. Whoever guesses it does not reverse the payment, and a status
// query tells its state.
func TestPaymentsThatWereNotPaid(t *testing.T) {
	for status, state := range map[payments.Status]string{
		payments.Pending: "Pending", payments.UserCancelled: "Cancelled", payments.Timeout: "Expired", payments.PINInvalid: "Declined",
	} {
		s := &oneTransaction{
			Recorder: operatorapitest.Recorder{T: t, In: inKenya, Check: func(*testing.T, operatorapi.Order) { t.Error("a refund was recorded") }},
			found: &payments.Transaction{
				Type: payments.Collection, Status: status, Amount: 500, CreatedAt: time.Date(2026, 11, 23, 8, 59, 0, 0, time.UTC),
			},
		}
		common := map[string]any{
			"Initiator": "x", "SecurityCredential": exampleCredential, "ResultURL": "https://shop.example/r", "QueueTimeOutURL": "https://shop.example/t",
			"Remarks": "remarked", "TransactionID": receiptOf(s.found), "Amount": 500, "ReceiverParty": "600000", "RecieverIdentifierType": 11,
			"PartyA": 600000, "IdentifierType": 4,
		}
		call := func(command string, handle operatorapi.Handler) notice {
			t.Helper()
			common["CommandID"] = command
			body, err := json.Marshal(common)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := handle(t.Context(), s, &operatorapi.Request{Body: body}); err != nil || len(s.sent) == 0 {
				t.Fatalf("%s: %v", command, err)
			}
			return s.sent[len(s.sent)-1]
		}
		if told := call(reversalCommand, reverse).Result; told.ResultCode != "R000002" {
			t.Errorf("%s: the reversal has the result %v", status, told)
		}
		told := call(statusCommand, askStatus).Status
		values := map[string]any{}
		for _, item := range told.ResultParameters.ResultParameter {
			values[item.Key] = item.Value
		}
		if ended := values["FinalisedTime"] != nil; values["TransactionStatus"] != state || ended != (status != payments.Pending) {
			t.Errorf("%s: the status is %v", status, values)
		}
	}
}

// Of what an encryption has, only one with the right padding and a text is ours, however short or mistyped.
func TestUnpadded(t *testing.T) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	s := operatorapitest.Recorder{Key: key}
	for text, want := range map[string][2]int{
		"": {1, 0}, "1": {1, 0}, "nope": {1, 0}, "Safaricom999!*!": {1, 0}, "abcdefghijklmnopqrstuvwxyz0123": {1, 1}, " ~ ~ ": {1, 0},
		"abcdefghijklmnopqrstuvwxyz0123\r\n": {1, 0}, "pässword": {1, 0}, strings.Repeat("x", 245): {1, 0}, "123\x1b5": {}, "123\x005": {},
		string(make([]byte, 30)): {},
	} {
		//lint:ignore SA1019 clients of M-Pesa use this padding
		sealed, err := rsa.EncryptPKCS1v15(rand.Reader, &key.PublicKey, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		padded, err := s.OpenCredential(t.Context(), sealed)
		if err != nil {
			t.Fatal(err)
		}
		password, isOurs, isLong := unpadded(padded)
		if isOurs != want[0] || isOurs == 1 && isLong != want[1] || isLong == 1 && isOurs == 1 && string(password) != text {
			t.Errorf("%q is %d %d %q", text, isOurs, isLong, password)
		}
		for _, at := range []int{0, 1, 2, 5} { // in the padding, whose first 8 bytes are not 0
			broken := append([]byte{}, padded...)
			if broken[at] = 1; at > 1 {
				broken[at] = 0
			}
			if _, isOurs, _ := unpadded(broken); isOurs == 1 {
				t.Errorf("%q with another byte %d is taken", text, at)
			}
		}
	}
}
