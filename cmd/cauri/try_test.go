package main

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/cmd/cauri/sandboxapi"
	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// quick makes a sandbox that answers at once, with one test client.
func quick(t *testing.T, database string, behavior payments.Behavior) {
	t.Helper()
	const sandbox = "11111111-1111-1111-1111-111111111111"
	db := ledgertest.Open(t, database)
	if _, err := db.ApplySandbox(t.Context(), sandboxes.Config{
		UID: sandbox, Namespace: "team", Name: "checkout", Stores: []string{"shop"},
		Environments: []sandboxes.EnvironmentConfig{{Operator: payments.MTN, Country: payments.Rwanda, Enabled: true,
			UnknownPolicy: payments.Reject}},
	}); err != nil {
		t.Fatal(err)
	}
	if err := db.ApplyCredentials(t.Context(), sandbox, sandboxes.Credentials{APIKeyHash: sha256.Sum256([]byte(apiKey)),
		SigningSecret: "whsec_dGVzdA=="}); err != nil {
		t.Fatal(err)
	}
	if _, err := db.ApplyTestClient(t.Context(), sandbox, sandboxes.TestClientConfig{
		UID: "22222222-2222-2222-2222-222222222222", Name: "alice", MSISDN: "+250788000001", Operator: payments.MTN, Country: payments.Rwanda,
		Behavior: behavior, Balance: 1000,
	}); err != nil {
		t.Fatal(err)
	}
}

// try runs the command as far as the trial, with the flags of a user.
func try(t *testing.T, o tryOptions) (said string, err error) {
	t.Helper()
	if o.amount == 0 {
		o.amount = 100
	}
	if o.application == "" {
		o.application = "shop"
	}
	if err := o.complete(); err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(t.Context(), o.timeout)
	defer cancel()
	var out strings.Builder
	api := sandboxapi.New(o.url, o.apiKey, nil)
	err = (&trial{options: o, api: api, out: &out, random: rand.Reader, interval: 20 * time.Millisecond}).run(ctx)
	return out.String(), err
}

// One payment, from the binding that a pod has to its outcome.
func TestTry(t *testing.T) {
	t.Parallel()
	database := ledgertest.URL(t)
	quick(t, database, payments.Approve)
	_, address, _ := startAPI(t, database)
	binding := t.TempDir()
	for name, text := range map[string]string{"uri": "http://" + address + "/sandboxes/team/checkout", "api-key": apiKey + "\n"} {
		if err := os.WriteFile(filepath.Join(binding, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for patience := 500 * time.Millisecond; ; patience *= 4 { // a slow machine may need more to pay at all
		said, err := try(t, tryOptions{binding: binding, timeout: patience})
		if err != nil && !strings.Contains(said, "PENDING") && patience < soon {
			continue
		}
		if err == nil || !strings.Contains(err.Error(), "still PENDING: is a worker running?") {
			t.Errorf("without a worker: %v\n%s", err, said)
		}
		break
	}
	startWorker(t, database)
	said, err := try(t, tryOptions{binding: binding, timeout: soon})
	if err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	for _, want := range []string{"sandbox  http://" + address + "/sandboxes/team/checkout", "payer    +250788000001, mtn in RW, balance ",
		"payment  TX_", "of 100 RWF: PENDING", "payment  SUCCESS"} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is missing in\n%s", want, said)
		}
	}
	if strings.Contains(said, apiKey) {
		t.Error("it says the key")
	}
	for name, c := range map[string]struct {
		options tryOptions
		says    string
	}{
		"too much": {tryOptions{amount: 5000}, "no TestClient of the sandbox can pay"},
		"another key": {tryOptions{apiKey: "cauri_sk_test_wrong", url: "http://" + address + "/sandboxes/team/checkout"},
			"answered 401 unauthorized"},
		"another store": {tryOptions{application: "stall"}, "stall"},
		"nobody":        {tryOptions{url: "http://127.0.0.1:1", apiKey: apiKey}, "nothing listens at 127.0.0.1:1"},
		"a poor payer":  {tryOptions{msisdn: "+250788000001", amount: 5000}, "ended INSUFFICIENT_FUNDS and not SUCCESS"},
		"no sandbox":    {tryOptions{apiKey: apiKey, url: "checkout"}, "--url"},
		"no key":        {tryOptions{url: "http://" + address}, "CAURI_API_KEY"},
		"no binding":    {tryOptions{binding: "/nowhere"}, "--binding"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.options.url == "" && c.options.apiKey == "" && c.options.binding == "" {
				c.options.binding = binding
			}
			c.options.timeout = soon
			said, err := try(t, c.options)
			if err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "cauri_sk") {
				t.Errorf("got %v, want %q\n%s", err, c.says, said)
			}
		})
	}
}

// The file of `cauri dev --env-file` names the sandbox, and wins over the variables.
func TestTryReadsTheFileOfDev(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "env")
	if err := os.WriteFile(file, []byte("CAURI_URI=http://127.0.0.1:1/sandboxes/a/b\nCAURI_API_KEY='k'\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	o := tryOptions{envFile: file, url: "http://other", amount: 1}
	if err := o.complete(); err != nil || o.url != "http://127.0.0.1:1/sandboxes/a/b" || o.apiKey != "k" {
		t.Errorf("%+v, %v", o, err)
	}
	o = tryOptions{envFile: file + "none", amount: 1}
	if err := o.complete(); err == nil || !strings.Contains(err.Error(), "--env-file") {
		t.Error(err)
	}
}
