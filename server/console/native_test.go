package console_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// nativeDigests are what the operators' own APIs accept of a sandbox with an API key, as the controller writes it.
func nativeDigests(key string) []byte {
	digests := sandboxes.NativeDigests{}
	for _, api := range operators.NativeAPIs() {
		c := api.Derive(key)
		digests[api.Operator] = sandboxes.DigestOf(c.Key, c.User, c.UserKey).With(c.Checked)
	}
	return digests.Encode()
}

// askOperator sends a request to an operator's own API, and returns what it answers. Headers come in pairs.
func (f *fixture) askOperator(operator payments.Operator, path, body string, header ...string) map[string]any {
	f.t.Helper()
	r, err := http.NewRequestWithContext(f.t.Context(), http.MethodPost, f.url+"/operators/"+string(operator)+path, strings.NewReader(body))
	if err != nil {
		f.t.Fatal(err)
	}
	c := operators.NativeAPI(operator).Derive(key)
	r.SetBasicAuth(c.User, c.UserKey) // a token in header replaces it
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		f.t.Fatal(err)
	}
	defer got.Body.Close()
	text, err := io.ReadAll(got.Body)
	var told map[string]any
	if err != nil || got.StatusCode/100 != 2 || len(text) > 0 && json.Unmarshal(text, &told) != nil {
		f.t.Fatalf("%s answered %d %s, %v", path, got.StatusCode, text, err)
	}
	return told
}

// payByMTN makes a payment by MTN's own API. Its outcome is told to callback, unless that is empty.
func (f *fixture) payByMTN(order, callback string) {
	f.t.Helper()
	subscription := []string{"Ocp-Apim-Subscription-Key", operators.NativeAPI(payments.MTN).Derive(key).Key, "X-Target-Environment", "mtnrwanda"}
	token := f.askOperator(payments.MTN, "/collection/token/", "", subscription...)["access_token"]
	sum := sha256.Sum256([]byte(order))
	header := append(subscription, "Authorization", fmt.Sprint("Bearer ", token), "X-Reference-Id",
		fmt.Sprintf("%x-0000-4000-8000-%x", sum[:4], sum[4:10]))
	if callback != "" {
		header = append(header, "X-Callback-Url", callback)
	}
	f.askOperator(payments.MTN, "/collection/v1_0/requesttopay", `{"amount":"100","currency":"RWF","externalId":"`+order+`",
		"payer":{"partyIdType":"MSISDN","partyId":"`+strings.TrimPrefix(stranger, "+")+`"},"payerMessage":"Two tickets","payeeNote":"shop"}`, header...)
}

// The list tells what came by an operator's own API from what came by /v1.
func TestPaymentsByAnOperatorsOwnAPIAreMarked(t *testing.T) {
	f := newFixture(t)
	f.pay(key, stranger, "by-v1", "")
	f.payByMTN("by-mtn", "")
	got := words(f.signedIn(checkout, key).get(checkout + "/payments").text)
	if byMTN, byV1, ok := strings.Cut(got, "by-mtn"); !ok || !strings.Contains(byMTN, "MTN RW own API") || strings.Contains(byV1, "own API") {
		t.Errorf("the rows are %s", got)
	}
}
