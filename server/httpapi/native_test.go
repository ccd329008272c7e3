package httpapi_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/operators/operatorapi"
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

// mtn is a client of MTN's own API in a sandbox.
type mtn struct {
	f      *fixture
	base   string
	target string
	operatorapi.Credentials
	tokens map[string]string // by product
}

// mtn is a client with the credentials of an API key.
func (f *fixture) mtn(key string) *mtn {
	return &mtn{f, "/operators/mtn", "mtnrwanda", operators.NativeAPI(payments.MTN).Derive(key), map[string]string{}}
}

type nativeAnswer struct {
	dropped   bool // the connection ended without an answer
	malformed bool // what came is no JSON

	status int
	header http.Header
	raw    string
	body   object
}

// send makes a request as an SDK does. Headers replace what it would send; an empty one removes it.
func (m *mtn) send(method, path, body string, header map[string]string) nativeAnswer {
	m.f.t.Helper()
	got := m.try(method, path, body, header)
	if got.dropped || got.malformed {
		m.f.t.Fatalf("%s %s answered %d with what is no JSON: %s", method, path, got.status, got.raw)
	}
	return got
}

// try makes a request on which faults may act, on a connection of its own: a client repeats what fails on one that it used before.
func (m *mtn) try(method, path, body string, header map[string]string) nativeAnswer {
	m.f.t.Helper()
	r, err := http.NewRequestWithContext(m.f.t.Context(), method, m.f.url+m.base+path, strings.NewReader(body))
	if err != nil {
		m.f.t.Fatal(err)
	}
	r.Header.Set("Ocp-Apim-Subscription-Key", m.Key)
	r.Header.Set("X-Target-Environment", m.target)
	r.Header.Set("Content-Type", "application/json")
	for name, value := range header {
		if value == "" {
			r.Header.Del(name)
		} else {
			r.Header.Set(name, value)
		}
	}
	r.Close = true
	answer, err := http.DefaultClient.Do(r)
	if errors.Is(err, io.EOF) {
		return nativeAnswer{dropped: true}
	}
	if err != nil {
		m.f.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		m.f.t.Fatal(err)
	}
	got := nativeAnswer{status: answer.StatusCode, header: answer.Header, raw: string(text)}
	got.malformed = len(text) > 0 && json.Unmarshal(text, &got.body) != nil
	return got
}

// refresh makes the api read the configuration again, as it does for a key that it does not know.
func (m *mtn) refresh() {
	m.f.t.Helper()
	m.send("GET", "/v1_0/apiuser/x", "", map[string]string{"Ocp-Apim-Subscription-Key": "wrong"})
}

// call makes a request with a token of the product that the path begins with.
func (m *mtn) call(method, path, body string, header ...string) nativeAnswer {
	m.f.t.Helper()
	return m.send(method, path, body, m.authorized(path, header...))
}

// authorized are headers with those of a token of the product that the path begins with.
func (m *mtn) authorized(path string, header ...string) map[string]string {
	m.f.t.Helper()
	product := strings.Split(path, "/")[1]
	if m.tokens[product] == "" {
		got := m.token(product, m.User, m.UserKey)
		if got.status != http.StatusOK {
			m.f.t.Fatalf("the token call answered %d %s", got.status, got.raw)
		}
		m.tokens[product] = got.body["access_token"].(string)
	}
	all := map[string]string{"Authorization": "Bearer " + m.tokens[product]}
	for i := 0; i < len(header); i += 2 {
		all[header[i]] = header[i+1]
	}
	return all
}

func (m *mtn) token(product, user, key string) nativeAnswer {
	m.f.t.Helper()
	r, _ := http.NewRequestWithContext(m.f.t.Context(), http.MethodPost, m.f.url, nil)
	r.SetBasicAuth(user, key)
	return m.send(http.MethodPost, "/"+product+"/token/", "", map[string]string{"Authorization": r.Header.Get("Authorization")})
}

var references atomic.Int64

// newReference is another UUID of version 4 each time.
func newReference() string {
	return fmt.Sprintf("%08x-0000-4000-8000-000000000000", references.Add(1))
}

// pay asks a number for money and returns the reference.
func (m *mtn) pay(msisdn string, header ...string) string {
	m.f.t.Helper()
	reference := newReference()
	got := m.call("POST", "/collection/v1_0/requesttopay", payBody(msisdn, "1000", "RWF"), append(header, "X-Reference-Id", reference)...)
	if got.status != http.StatusAccepted || got.raw != "" {
		m.f.t.Fatalf("the request to pay answered %d %s (%s)", got.status, got.raw, got.header.Get("X-Cauri-Reason"))
	}
	return reference
}

func payBody(msisdn, amount, currency string) string {
	return fmt.Sprintf(`{"amount": %q, "currency": %q, "externalId": "order-1042", "payer": {"partyIdType": "MSISDN", "partyId": %q},
		"payerMessage": "Two tickets", "payeeNote": "shop"}`, amount, currency, strings.TrimPrefix(msisdn, "+"))
}

func (a nativeAnswer) is(t *testing.T, status int, body string) {
	t.Helper()
	if a.status != status || a.raw != body {
		t.Errorf("answered %d %s (%s), want %d %s", a.status, a.raw, a.header.Get("X-Cauri-Reason"), status, body)
	}
}

func TestMTNRequestToPay(t *testing.T) {
	f := newFixture(t)
	f.client("alice", alice, 50_000, func(c *sandboxes.TestClientConfig) { c.Behavior = payments.Manual })
	m := f.mtn(key)
	reference := m.pay(alice)
	status := "/collection/v1_0/requesttopay/" + reference
	const asked = `"externalId":"order-1042","amount":"1000","currency":"RWF","payer":{"partyIdType":"MSISDN","partyId":"250788000001"},` +
		`"payerMessage":"Two tickets","payeeNote":"shop","status":`
	m.call("GET", status, "").is(t, http.StatusOK, `{`+asked+`"PENDING"}`)

	listed := f.call("GET", "/v1/payments?limit=1", nil).body["data"].([]any)[0].(object)
	if listed["reference"] != reference || listed["source"] != "native" || listed["orderRef"] != "order-1042" || listed["operator"] != "mtn" {
		t.Errorf("/v1 lists %v", listed)
	}
	prompts := f.call("GET", "/v1/test_clients/"+alice[1:]+"/prompts", nil)
	if prompts.status != http.StatusOK {
		prompts = f.call("GET", "/v1/test_clients/%2B"+alice[1:]+"/prompts", nil)
	}
	tx := prompts.body["data"].([]any)[0].(object)["id"].(string)
	f.call("POST", "/v1/test_clients/%2B"+alice[1:]+"/prompts/"+tx+"/approve", nil)
	paid := m.call("GET", status, "")
	number, _ := paid.body["financialTransactionId"].(string)
	paid.is(t, http.StatusOK, `{"financialTransactionId":"`+number+`",`+asked+`"SUCCESSFUL"}`)
	if len(number) != 10 {
		t.Errorf("financialTransactionId is %q", number)
	}
	m.call("GET", "/collection/v1_0/account/balance", "").is(t, http.StatusOK, `{"availableBalance":"1985","currency":"RWF"}`)

	duplicate := m.call("POST", "/collection/v1_0/requesttopay", payBody(alice, "1000", "RWF"), "X-Reference-Id", strings.ToUpper(reference))
	duplicate.is(t, http.StatusConflict, `{"message":"Duplicated reference id. Creation of resource failed.","code":"RESOURCE_ALREADY_EXIST"}`)
	if got := f.call("POST", "/v1/payments", payment(reference)); got.status != http.StatusConflict {
		t.Errorf("/v1 with the reference answered %d %s", got.status, got.raw)
	}
	f.conserved()
}
