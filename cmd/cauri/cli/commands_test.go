package cli

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cauri-dev/cauri/cmd/cauri/sandboxapi"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
)

func TestPaying(t *testing.T) {
	f := newFixture(t)
	f.run("pay", "--scenario=success", "--amount=300").want(t, ExitSuccess, "SUCCESS                  300 RWF  mtn/RW     "+alice)
	f.run("pay", "--scenario=blocked").want(t, ExitNegative, "ended ACCOUNT_BLOCKED and not SUCCESS")
	f.run("pay", "--scenario=blocked", "--expect=ACCOUNT_BLOCKED").want(t, ExitSuccess)
	f.run("pay", "--msisdn=+250788999999").want(t, ExitUsage, "--currency=RWF --operator=mtn --country=RW")
	f.run("pay", "--wait=false", "-o", "name").want(t, ExitSuccess, "TX_")
	f.run("pay", "--timeout=1ms").want(t, ExitUnavailable, "still PENDING after 1 ms") // there is no worker

	first := decoded[wire.Payment](t, f.run("pay", "--scenario=success", "--reference=order-1", "-o", "json"))
	again := decoded[wire.Payment](t, f.run("pay", "--scenario=success", "--reference=order-1", "-o", "json"))
	if first.ID == "" || first.ID != again.ID {
		t.Errorf("one reference made %s and %s", first.ID, again.ID)
	}
	f.run("pay", "--scenario=timeout", "--reference=order-1").want(t, ExitRefused, "duplicate_reference")

	f.run("refund", first.ID, "--amount=40").want(t, ExitSuccess, "refund", "SUCCESS                   40 RWF")
	f.run("refund", first.ID, "--amount=1000").want(t, ExitRefused, "exceeds_refundable")
	f.run("payout", "--msisdn="+alice, "--amount=20").want(t, ExitSuccess, "disbursement", "SUCCESS                   20 RWF")
	f.run("payout", "--amount=20").want(t, ExitUsage, "pass --msisdn")
	f.run("status").want(t, ExitSuccess, f.url, "Pending payments: 2. Failed events: 0.", "disbursement", "order-1")
}

func TestAnsweringPrompts(t *testing.T) {
	f := newFixture(t)
	pending := func() string {
		t.Helper()
		return strings.TrimSpace(f.run("pay", "--msisdn="+manual, "--wait=false", "-o", "name").out)
	}
	f.run("approve", manual).want(t, ExitRefused, "no payment waits for "+manual)
	first := pending()
	f.run("payers").want(t, ExitSuccess, manual, "Manual", first)
	f.run("approve", manual).want(t, ExitSuccess, first, "SUCCESS")
	f.run("cancel", first).want(t, ExitRefused, "prompt_closed")
	second, third := pending(), pending()
	f.run("cancel", manual).want(t, ExitUsage, "2 payments wait", second, third)
	f.run("cancel", second).want(t, ExitSuccess, "USER_CANCELLED")
	f.run("wrong-pin", third).want(t, ExitSuccess, "PIN_INVALID")
	f.run("approve", "TX_nothing").want(t, ExitRefused, "Write the id of a payment")
}

func TestEventsAndReset(t *testing.T) {
	f := newFixture(t)
	f.run("pay", "--scenario=success")
	all := entries[wire.EventSummary](t, f.run("events", "-o", "json"))
	if len(all) != 1 || all[0].State != "recorded" {
		t.Fatalf("there are the events %+v", all)
	}
	id := all[0].ID
	f.run("events", "--state=failed").want(t, ExitSuccess, "There are no such events.")
	f.run("events", id).want(t, ExitSuccess, id, `"event":"payment.completed"`)
	e, err := f.api.Event(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if body := f.run("events", id, "--body"); body.out != e.Body {
		t.Errorf("the body is printed as %q, want %q", body.out, e.Body)
	}
	f.run("resend", id).want(t, ExitRefused, "no_webhook")
	f.run("resend").want(t, ExitUsage, "--failed")
	f.run("resend", "--failed").want(t, ExitSuccess, "No event has failed.")

	f.run("reset").want(t, ExitSuccess, "The sandbox "+f.url+" is empty: no transactions")
	if left, err := f.api.Payments(t.Context(), nil, 10); err != nil || len(left) != 0 {
		t.Errorf("the reset left %v, %v", left, err)
	}
	f.run("suspend").want(t, ExitUsage, "--sandbox=namespace/name")
	f.run("check").want(t, ExitSuccess, "version v1.2.3", "is SUCCESS")
	run(t, Options{}, "check", "--url="+f.url, "--api-key=wrong").want(t, ExitNegative, "unauthorized")
}

// A credential of another kind in the key's place is named.
func TestAKeyOfAnotherKindIsNamed(t *testing.T) {
	f := newFixture(t)
	for key, want := range map[string]string{testSecret: "is the signing secret of the webhooks", strings.Repeat("0a", 16): "key or a user of an operator's own API"} {
		r := run(t, Options{}, "payers", "--url="+f.url, "--api-key="+key)
		r.want(t, ExitRefused, want)
		if strings.Contains(Message(r.err), key) {
			t.Errorf("%v shows the key", r.err)
		}
	}
}

// A list is read page by page up to its limit.
func TestListsHaveALimit(t *testing.T) {
	f := newFixture(t)
	for range 3 {
		f.run("pay", "--scenario=success")
	}
	for limit, want := range map[int]int{1: 1, 3: 3, 500: 3} {
		if found, err := f.api.Payments(t.Context(), nil, limit); err != nil || len(found) != want {
			t.Errorf("up to %d: %d, %v", limit, len(found), err)
		}
	}
}

func TestReportHoldsNothingPrivate(t *testing.T) {
	f := newFixture(t)
	c := newCluster(t, f.url)
	f.run("pay", "--scenario=success", "--reference=my-reference", "--description=my-description", "--order-ref=my-order")
	path := filepath.Join(t.TempDir(), "report.zip")
	c.run("report", "checkout", "--file="+path).want(t, ExitSuccess, path)
	c.run("report", "checkout", "--file="+path).want(t, ExitUsage, "exists")
	archive, err := zip.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = archive.Close() }()
	whole := ""
	for _, file := range archive.File {
		content, err := file.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(content)
		if err != nil {
			t.Fatal(err)
		}
		whole += file.Name + string(text)
	}
	for _, needed := range []string{"sandbox.json", "transactions.json", "events.json", "versions.json", "*********0001", "DeliveryFailing", "v1.36.1"} {
		if !strings.Contains(whole, needed) {
			t.Errorf("the report has no %q:\n%s", needed, whole)
		}
	}
	for _, private := range []string{testKey, testSecret, alice, "my-", "http:", "answered 500"} {
		if strings.Contains(whole, private) {
			t.Errorf("the report holds %q", private)
		}
	}
}

// No command prints a credential, but for the flag that asks for it.
func TestSecretsAreNotPrinted(t *testing.T) {
	f := newFixture(t)
	c := newCluster(t, f.url)
	c.applied = reconciled
	for _, command := range [][]string{
		{"status"}, {"status", "-o", "yaml"}, {"payers", "-o", "json"}, {"pay", "--scenario=success"}, {"events"}, {"check"},
		{"rotate", "key"}, {"reset"},
	} {
		args := append([]string{command[0], "checkout"}, command[1:]...)
		r := c.run(args...)
		if r.err != nil {
			t.Errorf("%v: %v", args, r.err)
		}
		for _, secret := range []string{testKey, testSecret} {
			if strings.Contains(r.out+r.progress, secret) {
				t.Errorf("%v prints a credential:\n%s%s", args, r.out, r.progress)
			}
		}
	}
	if r := c.run("listen", "checkout", "--print-secret"); r.out != testSecret+"\n" {
		t.Errorf("listen --print-secret prints %q, %v", r.out, r.err)
	}
}

func TestExitCodesOfErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		want int
	}{
		{nil, ExitSuccess}, {errors.New("what"), ExitFailure}, {usage(errors.New("what")), ExitUsage},
		{&sandboxapi.RefusedError{Status: 404}, ExitRefused}, {&sandboxapi.RefusedError{Status: 503}, ExitUnavailable},
		{&sandboxapi.RefusedError{Status: 429}, ExitUnavailable}, {&sandboxapi.UnreachableError{Err: io.EOF}, ExitUnavailable},
		{&sandboxapi.RefusedError{Status: 502}, ExitUnavailable}, {&sandboxapi.ForeignError{Err: io.EOF}, ExitRefused},
		{negativeError{errors.New("what")}, ExitNegative}, {refusedError{errors.New("what")}, ExitRefused},
		{fmt.Errorf("the wait: %w", context.Canceled), ExitUnavailable}, {context.DeadlineExceeded, ExitUnavailable},
		{&fs.PathError{Op: "open", Path: "a", Err: fs.ErrNotExist}, ExitUsage},
		{&net.OpError{Op: "listen", Err: syscall.EADDRINUSE}, ExitUsage}, {&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, ExitUnavailable},
		{&url.Error{Op: "Get", URL: "https://cluster", Err: io.EOF}, ExitUnavailable}, {&net.DNSError{Name: "none"}, ExitUnavailable},
		{&pgconn.ConnectError{}, ExitUnavailable}, {&pgconn.PgError{Code: "42501"}, ExitRefused},
		{apierrors.NewNotFound(schema.GroupResource{}, "a"), ExitRefused}, {apierrors.NewTooManyRequestsError("a"), ExitUnavailable},
		{&sandboxapi.UnreachableError{Err: apierrors.NewForbidden(schema.GroupResource{}, "a", io.EOF)}, ExitRefused},
	} {
		if got := ExitCode(c.err); got != c.want {
			t.Errorf("%v: %d, want %d", c.err, got, c.want)
		}
	}
	page, err := os.ReadFile("../../../docs/commands.md")
	if err != nil {
		t.Fatal(err)
	}
	for code, meaning := range ExitCodes {
		if row := fmt.Sprintf("\n| %d | %s |\n", code, meaning); !strings.Contains(string(page), row) {
			t.Errorf("docs/commands.md has no row %s", row)
		}
	}
	if len(ExitCodes) != ExitNegative+1 {
		t.Errorf("%d exit codes are explained", len(ExitCodes))
	}
}

func TestAnAPIThatIsNone(t *testing.T) {
	t.Parallel()
	unused := "http://127.0.0.1:1/sandboxes/a/b"
	run(t, Options{}, "payers", "--url="+unused, "--api-key=k").want(t, ExitUnavailable, "cannot be reached")
	run(t, Options{}, "pay", "--url="+unused, "--api-key=k", "--msisdn="+alice, "--currency=RWF", "--operator=mtn", "--country=RW",
		"--reference=r1").want(t, ExitUnavailable, "--reference=r1, which records nothing twice")
}

func TestMistakesInTheCommandLine(t *testing.T) {
	t.Parallel()
	known := []string{"--url=http://127.0.0.1:1", "--api-key=k"}
	for _, c := range []struct{ args, want string }{
		{"approve", "PAYMENT is missing: write `cauri approve PAYMENT`"},
		{"payers a", `"a" is one argument too many: write ` + "`cauri payers`"},
		{"pay 1500", "write `cauri pay --amount=1500`"},
		{"pay +250788000001", "write `cauri pay --msisdn=+250788000001`"},
		{"status -o xml", "write json, yaml or name"},
		{"tail -o yaml", "write json"},
		{"tail --types=money", "transaction,event,attempt"},
		{"pay --amount=0", "write 1 or more"},
		{"refund TX_1 --amount=0", "write 1 or more"},
		{"refund TX_1 --amount=", "write a whole number"},
		{"pay --msisdn=0788123456", "--msisdn=0788123456: write the whole number with +"},
		{"payout --msisdn=250788123456", "--msisdn=250788123456: write the whole number with +"},
		{"pay --expect=DONE", "write one of SUCCESS"},
		{"pay --scenario=rain", "success, pin_invalid"},
		{"events --body", "write the id of one event"},
		{"clock advance", "one of --by=61m"},
		{"clock advance --by=1h --next", "one of --by=61m"},
		{"clock advance --by=-1h", "never goes back"},
		{"clock advance --to=tomorrow", "2026-12-01T00:00:00Z"},
		{"listen --forward-to=localhost", "write a URL"},
		{"listen --forward-to=localhost/webhooks", "or localhost:3000/webhooks"},
		{"listen --forward-to=http://:3000/webhooks", "write a URL"},
		{"listen --forward-to=http://[::1%25lo]:3000/webhooks", "write a URL"},
	} {
		run(t, Options{}, append(strings.Fields(c.args), known...)...).want(t, ExitUsage, c.want)
	}
	run(t, Options{}, "payers", "--env-file=/none").want(t, ExitUsage, "--env-file")
	run(t, Options{Plugin: true}, "status").want(t, ExitUsage, "name a kubeconfig")
	run(t, Options{Plugin: true}, "pay", "+250788000001").want(t, ExitUsage, "write `cauri pay [NAME] --msisdn=+250788000001`")
	run(t, Options{Plugin: true}, "rotate", "checkout", "key", "key").want(t, ExitUsage, `"key" is one argument too many`)
	run(t, Options{Plugin: true}, "status", "checkout", "--kubeconfig=/none").want(t, ExitUsage, "name a kubeconfig")
}
