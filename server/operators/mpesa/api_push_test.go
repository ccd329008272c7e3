package mpesa

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/operators/operatorapi/operatorapitest"
	"github.com/cauri-dev/cauri/server/payments"
)

// movingClock is a sandbox whose clock moves while a shop accepts a payment.
type movingClock struct {
	operatorapitest.Recorder
	now time.Time
	by  time.Duration
}

func (s *movingClock) Now(context.Context) (time.Time, error) { return s.now, nil }

func (s *movingClock) Kept(_ context.Context, _ string, into any) error {
	*into.(*c2bURLs) = c2bURLs{ResponseType: "Completed", Confirmation: "https://shop.example/paid", Validation: "https://shop.example/may-pay"}
	return nil
}

func (s *movingClock) Holder(context.Context, operatorapi.Environment, string) (operatorapi.Holder, error) {
	return operatorapi.Holder{Active: true}, nil
}

func (s *movingClock) Ask(context.Context, operatorapi.Notice, time.Duration) (*operatorapi.Reply, error) {
	s.now = s.now.Add(s.by)
	return &operatorapi.Reply{Status: http.StatusOK, Body: []byte(`{"ResultCode":"0","ResultDesc":"Accepted"}`)}, nil
}

// The shop was told a receipt, which begins with a time. A push is not recorded at another time, at which nobody would look for
// its receipt.
func TestPushWhoseValidationTakesLong(t *testing.T) {
	begun := time.Date(2026, 11, 23, 8, 59, 55, 0, time.UTC)
	const at = "20261123115955"
	body := fmt.Appendf(nil, `{"BusinessShortCode":%q,"Password":%q,"Timestamp":%q,"TransactionType":"CustomerPayBillOnline","Amount":1,
		"PartyA":"254712000001","PartyB":"174379","PhoneNumber":"254712000001","CallBackURL":"https://shop.example/x",
		"AccountReference":"order-1042","TransactionDesc":"x"}`, publicShortCode,
		base64.StdEncoding.EncodeToString([]byte(publicShortCode+publicPasskey+at)), at)
	for by, want := range map[time.Duration]bool{8 * time.Second: true, time.Hour: false} {
		var recorded []operatorapi.Order
		check := func(_ *testing.T, o operatorapi.Order) { recorded = append(recorded, o) }
		s := &movingClock{now: begun, by: by, Recorder: operatorapitest.Recorder{In: inKenya, T: t, Check: check}}
		answer, err := push(t.Context(), s, &operatorapi.Request{Body: body})
		if !want {
			if !operatorapi.IsRefused(err, busy) || len(recorded) != 0 {
				t.Errorf("after %s: %v, %v, recorded are %+v", by, answer, err, recorded)
			}
			continue
		}
		if err != nil || len(recorded) != 1 {
			t.Fatalf("after %s: %v, recorded are %+v", by, err, recorded)
		}
		kept, err := json.Marshal(recorded[0].Sent)
		if err != nil {
			t.Fatal(err)
		}
		paid := payments.Transaction{
			Details: recorded[0].Details, Type: payments.Collection, CreatedAt: s.now, NativeCall: pushCall, NativeSent: kept,
		}
		receipt := recorded[0].Sent.(sent).Receipt
		if found, err := findReceipt(t.Context(), &oneTransaction{found: &paid}, receipt, s.now.Add(time.Minute)); found != &paid {
			t.Errorf("%s is not found: %v", receipt, err)
		}
	}
}
