package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/cmd/cauri/cli"
	"github.com/cauri-dev/cauri/cmd/cauri/keypress"
	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/payments"
)

// devConsole prints the output of `cauri dev`. It is safe for concurrent use.
type devConsole struct {
	mutex  sync.Mutex
	out    io.Writer
	in     io.Reader
	colors bool
	keys   bool // whether the console reads keys
}

func newDevConsole(out io.Writer, in io.Reader) *devConsole {
	c := &devConsole{out: out, in: in}
	c.colors = cli.Colored(out)
	return c
}

func (c *devConsole) say(format string, args ...any) {
	c.print(cli.Sprintf(format, args...))
}

func (c *devConsole) print(text cli.Lines) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	cli.Fprintf(c.out, "%s\n", text)
}

// event prints a line with its time.
func (c *devConsole) event(at time.Time, line cli.Line) {
	c.print(cli.Lines(line.Layout(at, cli.Width(c.out), c.colors)))
}

// onKeys calls the function of each key that the user presses, until ctx ends. restore resets the terminal.
func (c *devConsole) onKeys(ctx context.Context, functions map[byte]func()) (restore func()) {
	restore, c.keys = keypress.On(ctx, c.in, func(key byte) {
		if f := functions[key]; f != nil {
			f()
		}
	})
	return restore
}

// devSandbox is a sandbox with its credentials.
type devSandbox struct {
	*v1alpha1.SandboxEnvironment
	uri, key, secret string
	native           []nativeVariables    // of the operators' own APIs
	payer            *v1alpha1.TestClient // a test client that pays; nil for none
	note             string               // note on its clock; empty for real time
}

// String returns the sandbox's name in the output.
func (s devSandbox) String() string { return s.Namespace + "/" + s.Name }

// variables returns the lines of an environment file.
func (s devSandbox) variables() string {
	lines := cli.EnvLine("CAURI_URI", s.uri) + cli.EnvLine("CAURI_API_KEY", s.key) + cli.EnvLine("CAURI_WEBHOOK_SECRET", s.secret)
	for _, n := range s.native {
		lines += n.lines
	}
	return lines
}

// nativeVariables has the lines of an environment file for an operator's own API. For example, the key mtn-api-key of
// the Secret becomes CAURI_MTN_API_KEY.
type nativeVariables struct {
	operator payments.Operator
	root     string // address of its root; empty for none
	lines    string
}

// nativeVariablesOf returns the variables of the operators' own APIs that have credentials in the Secret.
func nativeVariablesOf(secret map[string]string) (all []nativeVariables) {
	for _, api := range operators.NativeAPIs() {
		n := nativeVariables{operator: api.Operator, root: secret[string(api.Operator)+"-root-uri"]}
		addresses := slices.Sorted(maps.Keys(api.AddressEntries("any", "any")))
		for _, key := range append(addresses, slices.Sorted(maps.Keys(api.SecretEntries("", "")))...) {
			if value := secret[key]; value != "" {
				n.lines += cli.EnvLine("CAURI_"+strings.ToUpper(strings.ReplaceAll(key, "-", "_")), value)
			}
		}
		if n.lines != "" {
			all = append(all, n)
		}
	}
	return all
}

// nobody is a number outside every numbering plan.
const nobody = "+99999999999"

// firstPayment returns a command of the system's shell that makes a payment; "" if the sandbox has no enabled environment or
// no store.
func (s devSandbox) firstPayment(system, reference string) cli.Lines {
	e := firstEnabled(s.SandboxEnvironment)
	if len(s.Spec.Stores) == 0 || e == nil {
		return ""
	}
	country, operator, msisdn, scenario := e.Country, e.Operator, nobody, `,"scenario":"success"`
	numbers := operators.TestNumbersOf(payments.Operator(operator), payments.Country(country))
	switch {
	case s.payer != nil:
		country, operator, msisdn, scenario = s.payer.Status.Country, s.payer.Status.Operator, s.payer.Spec.MSISDN, ""
	case s.Spec.TestNumbers == string(payments.StandardTestNumbers) && len(numbers) > 0:
		msisdn, scenario = numbers[0].MSISDN, "" // the first test number approves
	}
	currency, _ := payments.Country(country).Currency()
	body := cli.Sprintf(`{"amount":1500,"currency":%q,"operator":%q,"country":%q,"msisdn":%q,"reference":%q,"application":%q%s}`,
		currency, operator, country, msisdn, reference, s.Spec.Stores[0].Slug, scenario)
	if system == "windows" { // curl of Windows PowerShell is another program, and its quotes are others
		return cli.Sprintf(`  Invoke-RestMethod -Method Post -Uri %s/api/v1/payments `+"`"+`
    -Headers @{Authorization = 'Bearer %s'} -ContentType 'application/json' `+"`"+`
    -Body '%s'`, s.uri, s.key, body)
	}
	return cli.Sprintf(`  curl -sS %s/api/v1/payments \
    -H 'Authorization: Bearer %s' -H 'Content-Type: application/json' \
    -d '%s'`, s.uri, s.key, body)
}

func indented(lines string) (text cli.Lines) {
	for line := range strings.Lines(lines) {
		text += cli.Sprintf("  %s\n", strings.TrimSuffix(line, "\n"))
	}
	return text
}

// banner prints the URLs, the credentials and a command for a first payment.
func (c *devConsole) banner(baseURL string, sandboxes []devSandbox, after time.Duration) {
	var text strings.Builder
	cli.Fprintf(&text, "Cauri is ready at %s after %s. Its API is described at %s/docs.\n", baseURL,
		payments.FormatDuration(after), baseURL)
	for _, s := range sandboxes {
		cli.Fprintf(&text, "\nSandbox %s\n\n", s)
		cli.Fprintf(&text, "%s", indented(devSandbox{uri: s.uri, key: s.key, secret: s.secret}.variables()))
		cli.Fprintf(&text, "  the console is at %s/console\n", s.uri)
		if s.Spec.Webhook != nil {
			cli.Fprintf(&text, "  webhooks go to %s\n", s.Spec.Webhook.URL)
		}
		if s.note != "" {
			cli.Fprintf(&text, "  %s\n", s.note)
		}
		access := meta.FindStatusCondition(s.Status.Conditions, v1alpha1.ConditionOperatorCredentialsReady)
		if access != nil && access.Status == metav1.ConditionFalse {
			cli.Fprintf(&text, "  %s\n", access.Message)
		}
		for _, n := range s.native {
			cli.Fprintf(&text, "\n  %[1]s's own API is at %[2]s/operators/%[1]s, described at %[2]s/docs/%[1]s\n", n.operator, s.uri)
			if n.root != "" {
				cli.Fprintf(&text, "  for clients that join absolute paths to their base URL: %s\n", n.root)
			}
			cli.Fprintf(&text, "%s", indented(n.lines))
		}
	}
	if len(sandboxes) > 0 {
		if call := sandboxes[0].firstPayment(runtime.GOOS, fmt.Sprintf("TRY-%d", time.Now().Unix())); call != "" {
			cli.Fprintf(&text, "\nA first payment:\n\n%s\n", call)
		}
	}
	text.WriteString("\nCtrl-C stops it.")
	if c.keys {
		text.WriteString(" The key s shows the state of the sandboxes.")
		if len(sandboxes) > 0 {
			cli.Fprintf(&text, " The key o opens the console of %s.", sandboxes[0])
		}
	}
	c.say("%s\n", cli.Lines(text.String()))
}

// status prints the state of the sandboxes and their test clients.
func (c *devConsole) status(sandboxes []v1alpha1.SandboxEnvironment, clients []v1alpha1.TestClient) {
	var text strings.Builder
	of := cli.Table{Titles: "SANDBOX READY TRANSACTIONS PENDING DELIVERED FAILED FLOATS", Shorten: "FLOATS READY", Drop: "FAILED DELIVERED"}
	for i := range sandboxes {
		s := &sandboxes[i]
		var floats []string
		for _, b := range s.Status.Balances {
			floats = append(floats, fmt.Sprintf("%d %s", b.Amount, b.Currency))
		}
		transactions, webhook := cmp.Or(s.Status.Transactions, &v1alpha1.TransactionCounts{}), cmp.Or(s.Status.Webhook, &v1alpha1.WebhookStatus{})
		of.Rows = append(of.Rows, []string{s.Namespace + "/" + s.Name, readiness(s.Generation, s.Status.Conditions),
			fmt.Sprint(transactions.Total),
			fmt.Sprint(transactions.Pending), fmt.Sprint(webhook.Delivered), fmt.Sprint(webhook.Failed), strings.Join(floats, ", ")})
	}
	of.Print(&text, cli.Width(c.out))
	text.WriteString("\n")
	of = cli.Table{Titles: "TEST-CLIENT READY NUMBER STATE BEHAVIOR BALANCE", Shorten: "TEST-CLIENT", Drop: "STATE"}
	for i := range clients {
		t := &clients[i]
		balance := t.Spec.Balance
		if t.Status.Balance != nil {
			balance = *t.Status.Balance
		}
		of.Rows = append(of.Rows, []string{t.Namespace + "/" + t.Name, readiness(t.Generation, t.Status.Conditions),
			t.Spec.MSISDN, string(t.Spec.State),
			string(t.Spec.Behavior), fmt.Sprintf("%d %s", balance, t.Status.Currency)})
	}
	of.Print(&text, cli.Width(c.out))
	c.say("%s", cli.Lines(text.String()))
}

// readiness returns the condition Ready of a resource in two words. A condition of an earlier generation says nothing.
func readiness(generation int64, conditions []metav1.Condition) string {
	ready := meta.FindStatusCondition(conditions, v1alpha1.ConditionReady)
	if ready == nil || ready.ObservedGeneration < generation {
		return "-"
	}
	if ready.Status == metav1.ConditionTrue {
		return "yes"
	}
	return "no: " + ready.Reason
}

// writePrivately writes a file atomically. Only the file's owner can read it.
func writePrivately(path, content string) error {
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-") // CreateTemp sets the mode 0600
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(file.Name()) }() // has no effect after the rename
	_, err = file.WriteString(content)
	if err := cmp.Or(err, file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}
