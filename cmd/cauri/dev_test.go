package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/payments"
)

func TestVariablesOfDev(t *testing.T) {
	for flag, want := range map[string]string{
		"database-url": "CAURI_DATABASE_URL", "key": "CAURI_API_KEY", "webhook-secret": "CAURI_WEBHOOK_SECRET", "port": "CAURI_PORT",
	} {
		if got := variablesOf(devName, flag); !slices.Equal(got, []string{want}) {
			t.Errorf("--%s: got %s, want %s", flag, got, want)
		}
	}
}

// The page lists every flag with its default.
func TestDevFlagsAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/dev.md")
	if err != nil {
		t.Fatal(err)
	}
	newDevCommand().LocalFlags().VisitAll(func(flag *pflag.Flag) {
		if !strings.Contains(string(page), "| `--"+flag.Name+"`") {
			t.Errorf("docs/dev.md does not list --%s", flag.Name)
		}
	})
}

func TestDevOptionsCheck(t *testing.T) {
	good := devOptions{port: 8080, key: "cauri_sk_test_" + strings.Repeat("a", 40), webhookSecret: strings.Repeat("b", 16)}
	if err := good.check(); err != nil {
		t.Error(err)
	}
	for want, o := range map[string]devOptions{
		"--key (CAURI_API_KEY)":                   {key: "secret"},
		"--webhook-secret (CAURI_WEBHOOK_SECRET)": {webhookSecret: "short"},
		"--port=70000":                            {port: 70000},
		"--data is the folder":                    {data: "x", databaseURL: "y"},
		"--watch needs --file":                    {watch: true},
		"--base-url must be":                      {baseURL: "localhost"},
	} {
		if err := o.check(); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret\"") {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// ledgerOf is a source of a tail: transactions and events, oldest first.
type ledgerOf struct {
	transactions []*payments.Transaction
	events       []ledger.Event
	err          error
	afterRead    func() // what happens between two reads
}

func (l *ledgerOf) ListTransactions(_ context.Context, _ int64, _ ledger.Filter, after *payments.ID, limit int) (
	page []*payments.Transaction, err error,
) {
	for _, found := range slices.Backward(l.transactions) {
		if (after == nil || found.ID.Code() < after.Code()) && len(page) < limit {
			page = append(page, found)
		}
	}
	l.wasRead()
	return page, l.err
}

func (l *ledgerOf) ListEvents(_ context.Context, _ int64, f ledger.EventFilter, _ *payments.EventID, limit int) (
	page []ledger.Event, err error,
) {
	for _, e := range slices.Backward(l.events) {
		if (f.Transaction == nil || e.ID == *f.Transaction) && len(page) < limit {
			page = append(page, e)
		}
	}
	l.wasRead()
	return page, l.err
}

func (l *ledgerOf) wasRead() {
	if happens := l.afterRead; happens != nil {
		l.afterRead = nil
		happens()
	}
}

// add adds a payment and returns its index.
func (l *ledgerOf) add() int {
	n := len(l.transactions)
	l.transactions = append(l.transactions, &payments.Transaction{
		ID: payments.ID{14: byte(n >> 8), 15: byte(n)}, Type: payments.Collection, Status: payments.Pending, Amount: int64(n),
		Currency: "RWF", Operator: payments.MTN, Country: payments.Rwanda, MSISDN: "+250788000001", Reference: fmt.Sprintf("ref-%d", n),
	})
	return n
}

func (l *ledgerOf) end(n int, state ledger.EventState) {
	l.events = append(l.events, ledger.Event{ID: l.transactions[n].ID, Type: payments.Collection, Status: payments.Success, State: state})
}

func TestTail(t *testing.T) {
	source := &ledgerOf{}
	source.add() // before the tail
	var lines []string
	follow := newTail(source, 1, func(_ time.Time, line string) { lines = append(lines, line) })
	poll := func(want ...string) {
		t.Helper()
		lines = nil
		if err := follow.poll(t.Context()); err != nil {
			t.Fatal(err)
		}
		for i, w := range want {
			if i >= len(lines) || !strings.Contains(lines[i], w) {
				t.Fatalf("got\n%s\nwant %s in line %d", strings.Join(lines, "\n"), w, i+1)
			}
		}
		if len(lines) != len(want) {
			t.Fatalf("got\n%s\nwant %d lines", strings.Join(lines, "\n"), len(want))
		}
	}
	poll() // what was there before is not printed
	first := source.add()
	poll("collection  " + source.transactions[first].ID.String() + "  PENDING  1 RWF  mtn/RW +250788000001  ref ref-1")
	poll()
	source.end(first, ledger.EventQueued)
	poll("payment.completed")
	source.events[0].Attempts, source.events[0].LastError = 1, new("connection refused")
	source.events[0].NextAttemptAt = new(time.Now())
	poll("connection refused, the next one at ")
	for range 250 { // more than a page, at once
		source.add()
	}
	lines = nil
	if err := follow.poll(t.Context()); err != nil || len(lines) != 250 || !strings.Contains(lines[0], "ref-2") {
		t.Fatalf("%d lines, %v", len(lines), err)
	}
	for n := 2; n < 150; n++ { // so that the first event is on no page any more
		source.end(n, ledger.EventRecorded)
	}
	if err := follow.poll(t.Context()); err != nil {
		t.Fatal(err)
	}
	e := &source.events[0]
	e.Attempts, e.State, e.LastStatus, e.LastError, e.NextAttemptAt = 2, ledger.EventDelivered, new(200), nil, nil
	poll("attempt 2               " + source.transactions[first].ID.String() + "  answered 200, delivered")
	source.err = errors.New("away")
	if err := follow.poll(t.Context()); err == nil {
		t.Error("an error is lost")
	}
}

// A payment that ends at once, between the reads of one poll, has both its lines, in their order.
func TestTailOfWhatHappensMeanwhile(t *testing.T) {
	source := &ledgerOf{}
	var lines []string
	follow := newTail(source, 1, func(_ time.Time, line string) { lines = append(lines, line) })
	for range 3 {
		if err := follow.poll(t.Context()); err != nil {
			t.Fatal(err)
		}
		if len(source.transactions) == 0 {
			source.afterRead = func() { source.end(source.add(), ledger.EventRecorded) }
		}
	}
	if len(lines) != 2 || !strings.HasPrefix(lines[0], "collection") || !strings.HasPrefix(lines[1], "payment.completed") {
		t.Errorf("got\n%s", strings.Join(lines, "\n"))
	}
}

func TestDevConsole(t *testing.T) {
	var out bytes.Buffer
	c := &devConsole{out: &out, colors: true}
	c.event(time.Now(), "collection  TX_1  SUCCESS  1 RWF")
	c.event(time.Now(), "payment.completed  TX_1  PIN_INVALID")
	if got := out.String(); !strings.Contains(got, green+"  SUCCESS"+plain+"  1 RWF") || !strings.Contains(got, red+"  PIN_INVALID"+plain) {
		t.Errorf("got %q", got)
	}
	out.Reset()
	sandbox := v1alpha1.SandboxEnvironment{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "shop"}}
	sandbox.Spec.Environments = []v1alpha1.Environment{{Operator: "mtn", Country: "RW"}}
	sandbox.Spec.Stores = []v1alpha1.Store{{Slug: "kiosk"}}
	sandbox.Status.Balances = []v1alpha1.Balance{{Currency: "RWF", Amount: 77}}
	client := v1alpha1.TestClient{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "alice"}}
	client.Spec.MSISDN = "+250788000001"
	c.status([]v1alpha1.SandboxEnvironment{sandbox}, []v1alpha1.TestClient{client})
	c.banner("http://127.0.0.1:8080", []devSandbox{{SandboxEnvironment: &sandbox, uri: "http://x", key: "k", secret: "s"}}, time.Second)
	for _, want := range []string{
		"77 RWF", "default/alice", "CAURI_URI=http://x\n", `"msisdn":"` + nobody + `"`, `"scenario":"success"`, `"application":"kiosk"`,
		`"currency":"RWF"`,
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s is missing in\n%s", want, out.String())
		}
	}
}

func TestWritePrivately(t *testing.T) {
	path := filepath.Join(t.TempDir(), "env")
	if err := os.WriteFile(path, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := writePrivately(path, "new"); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	text, readErr := os.ReadFile(path)
	if err := errors.Join(err, readErr); err != nil || info.Mode().Perm() != 0o600 || string(text) != "new" {
		t.Errorf("%v, %q, %v", info.Mode(), text, err)
	}
	if err := writePrivately(filepath.Join(path, "x"), ""); err == nil {
		t.Error("a file in a file")
	}
}

// A sandbox that was removed by its ttl is named; one that was removed from the files is not.
func TestSayGone(t *testing.T) {
	var out bytes.Buffer
	d := &dev{console: &devConsole{out: &out}}
	named := func(name string, expires time.Time) devSandbox {
		s := &v1alpha1.SandboxEnvironment{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
		s.Spec.TTL, s.Status.ExpiresAt = "1m", &metav1.Time{Time: expires}
		return devSandbox{SandboxEnvironment: s}
	}
	stays := named("stays", time.Now())
	d.sayGone([]devSandbox{stays, named("ended", time.Now()), named("removed", time.Now().Add(time.Hour))}, []devSandbox{stays})
	if got := out.String(); got != "The sandbox default/ended was removed: its ttl of 1m has ended.\n" {
		t.Errorf("got %q", got)
	}
}
