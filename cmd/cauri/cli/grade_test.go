package cli

import (
	"context"
	"encoding/xml"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/server/egress"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/junit"
	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/server/webhooks"
	"github.com/cauri-dev/cauri/server/worker"
	"github.com/cauri-dev/cauri/test/ports"
)

// graded is a receiver that verifies signatures, and refuses bodies that have a text.
func graded(t *testing.T, refused string) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		switch {
		case webhooks.Verify(r.Header, body, testSecret, time.Now()) != nil:
			w.WriteHeader(http.StatusUnauthorized)
		case refused != "" && strings.Contains(string(body), refused):
			w.WriteHeader(http.StatusInternalServerError)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func TestGradeOnThisMachine(t *testing.T) {
	t.Parallel()
	run(t, Options{}, "grade", "--receiver="+graded(t, ""), "--secret="+testSecret).
		want(t, ExitSuccess, "Grade: A. It answers each event as expected.")

	report := filepath.Join(t.TempDir(), "grade.xml")
	bad := run(t, Options{}, "grade", "--receiver="+graded(t, "TIMEOUT"), "--secret="+testSecret, "--junit="+report)
	bad.want(t, ExitNegative, "Grade: C. It answers 500 to a payment that ends TIMEOUT.", "status-timeout: Each payment that ends has an event",
		"the grade is C: a payment that ends TIMEOUT failed")
	text, err := os.ReadFile(report)
	if err != nil {
		t.Fatal(err)
	}
	var suites junit.Report
	if err := xml.Unmarshal(text, &suites); err != nil {
		t.Fatal(err)
	}
	for _, c := range suites.Suites[0].Cases {
		if failed := c.Failure != nil; failed != strings.HasPrefix(c.Name, "status-timeout:") {
			t.Errorf("%s: failed is %t", c.Name, failed)
		}
	}
	if s := suites.Suites[0]; s.Failures != 1 || s.Tests != len(s.Cases) || s.Tests < 20 {
		t.Errorf("the report is\n%s", text)
	}
	run(t, Options{}, "grade", "--receiver="+graded(t, ""), "--secret=another-secret-of-16").
		want(t, ExitNegative, "Grade: F. It answers 401 to a genuine event.")
	run(t, Options{}, "grade", "--receiver=localhost:0", "--secret="+testSecret).want(t, ExitUsage, "--receiver is \"localhost:0\": write a port")
}

// The events are of the market of the sandbox: of its first environment.
func TestGradeIsOfTheSandboxesMarket(t *testing.T) {
	f := abroad(t)
	for _, market := range []string{"RWF", "XOF"} {
		f.apply(t)
		f.run("grade", "--receiver="+graded(t, market), "--secret="+testSecret).
			want(t, ExitNegative, "It answers 500 to an event of a payment")
		slices.Reverse(f.config.Environments)
	}
}

// Where nothing was judged, every report is red, also in place of a green one of an earlier run.
func TestGradeOfNothing(t *testing.T) {
	path := http.NewServeMux()
	path.HandleFunc("/webhooks", func(http.ResponseWriter, *http.Request) { t.Error("the path is mistyped") })
	server := httptest.NewServer(path)
	t.Cleanup(server.Close)
	free := "http://127.0.0.1:" + ports.ForTest(t)
	for name, c := range map[string]struct {
		args       []string
		code       int
		said       string
		tests      int
		suggestsTx bool
	}{
		"a mistyped path": {[]string{"--receiver=" + server.URL + "/webhook"}, ExitNegative, "The URL may be wrong: the answer is 404", 31, true},
		"nothing listens": {[]string{"--receiver=" + free}, ExitNegative, "No program was reached at the URL: dial tcp", 2, false},
		"no sandbox":      {[]string{"--url=" + free + "/sandboxes/team/shop", "--api-key=" + testKey}, ExitUnavailable, "", 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			report, summary := filepath.Join(t.TempDir(), "grade.xml"), filepath.Join(t.TempDir(), "summary.md")
			t.Setenv(summaryVariable, summary)
			for _, file := range []string{report, summary} {
				if err := os.WriteFile(file, nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			r := run(t, Options{}, append(c.args, "grade", "--secret="+testSecret, "--junit="+report, "--github")...)
			r.want(t, c.code, c.said)
			if strings.Contains(r.err.Error(), "--tx") != c.suggestsTx {
				t.Errorf("it says %s", r.err)
			}
			text, err := os.ReadFile(report)
			if err != nil {
				t.Fatal(err)
			}
			var suites junit.Report
			if err := xml.Unmarshal(text, &suites); err != nil {
				t.Fatalf("%v: %s", err, text)
			}
			if s := suites.Suites[0]; s.Failures != 1 || s.Tests != c.tests || !strings.Contains(s.Cases[0].Failure.Message, c.said) {
				t.Errorf("the report is\n%s", text)
			}
			if text, err := os.ReadFile(summary); err != nil || !strings.Contains(string(text), "| no grade | the receiver |") {
				t.Errorf("%v: the summary is\n%s", err, text)
			}
		})
	}
}

func TestGradeOfAPaymentThatIsKnown(t *testing.T) {
	f := newFixture(t)
	f.run("pay", "--scenario=success", "--amount=300", "--order-ref=order-1")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch {
		case webhooks.Verify(r.Header, body, testSecret, time.Now()) != nil:
			w.WriteHeader(http.StatusUnauthorized)
		case !strings.Contains(string(body), `"order-1"`):
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	t.Cleanup(server.Close)
	f.run("grade", "--receiver="+server.URL, "--secret="+testSecret).
		want(t, ExitNegative, "there is no grade: It answers 404", "Pass the id of one with --tx")
	events := entries[wire.EventSummary](t, f.run("events", "-o", "json"))
	f.run("grade", "--receiver="+server.URL, "--secret="+testSecret, "--tx="+events[0].TxID).want(t, ExitSuccess, "Grade: A.", "needs allow")
	f.run("grade", "--receiver="+server.URL, "--secret="+testSecret, "--tx=1").want(t, ExitUsage, "--tx=1: write the id of a payment")
}

func TestGradeBySandbox(t *testing.T) {
	f := newFixture(t)
	f.run("grade").want(t, ExitRefused, "has no webhook URL to send events to")
	f.config.Webhook = &sandboxes.WebhookConfig{URL: graded(t, "")}
	if _, err := f.store.ApplySandbox(t.Context(), f.config); err != nil {
		t.Fatal(err)
	}
	if err := f.directory.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	w := worker.New(worker.Options{
		Database: ledgertest.OpenAs(t, f.db, ledgertest.Worker), Log: slog.New(slog.DiscardHandler),
		Sender: webhooks.NewSender(egress.Guard{AllowLoopback: true}, "test", standing()),
	})
	ctx, stop := context.WithCancel(t.Context())
	go func() { defer close(ended); w.Run(ctx) }()
	f.run("grade").want(t, ExitSuccess, "Grade: A.")
	f.run("grade").want(t, ExitUnavailable, "less than a minute ago")
	stop()
	<-ended
}
