package cli

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"sigs.k8s.io/yaml"

	"github.com/cauri-dev/cauri/cmd/cauri/sandboxapi"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/payments"
)

const (
	// controlling is a text that clears the screen, in both forms, and turns what follows around.
	controlling = "R1\x1b[2J\u009b31m\u202e\u2028\u200b\U000e0041"
	// hostile also begins lines, and has commands of GitHub Actions.
	hostile = controlling + "\nevil\n::error::evil\n##[error]evil"
)

// safe reports whether a text can go to a terminal and to the log of a pipeline.
func safe(text string) bool {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "evil") || strings.HasPrefix(line, "::") || strings.Contains(line, "##[") {
			return false
		}
	}
	return !strings.ContainsFunc(strings.ReplaceAll(text, "\r\n", "\n"), func(r rune) bool {
		return r != '\n' && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
	})
}

// What others chose controls no terminal, in any format, and programs read it as it is.
func TestWhatIsPrintedControlsNoTerminal(t *testing.T) {
	f := newFixture(t)
	const number = "+250788000077"
	f.client(hostile, number, payments.Approve)
	body, err := json.Marshal(map[string]any{
		"amount": 300, "currency": "RWF", "msisdn": number, "reference": hostile, "application": "shop", "order_ref": hostile,
		"description": hostile, "scenario": "success",
	})
	if err != nil {
		t.Fatal(err)
	}
	f.send(http.MethodPost, "/v1/payments", string(body))
	f.send(http.MethodPost, "/v1/payments", strings.Replace(string(body), "300", `"`+"\u009b\u202e"+`"`, 1))
	commands := [][]string{
		{"status"}, {"payers"}, {"events"}, {"requests"}, {"ledger"}, {"refund", hostile}, {"refund", "nothing" + hostile},
		{"ledger", "--entries"}, {"ledger", "--entries", "-o", "csv"}, {"ledger", "--entries", "-o", "json"},
		{"__complete", "payers", ""}, {"pay", "--scenario=" + hostile}, {"requests", "--status=400"}, {"requests", "--path=" + hostile},
		{"events", "--event=" + hostile}, {"events", "nothing" + hostile}, {"approve", hostile}, {"cancel", hostile}, {"wrong-pin", hostile},
		{"resend", hostile}, {"payout", "--msisdn=" + number, "--reference=" + hostile}, {"clock", "show"}, {"clock", "advance", "--to=" + hostile},
		{"check", "--ledger"}, {"console", "--msisdn=" + hostile}, {"verify", "nowhere" + hostile}, {"listen", "--forward-to=" + hostile},
		{"tail", "--types=" + hostile}, {"faults"}, {"faults", "on", hostile}, {"faults", "off", hostile}, {"status", hostile}, {"reset", hostile},
		{hostile}, {"pay", "--" + hostile}, {"report", "--output=" + "/nowhere/" + hostile},
	}
	shop := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, hostile) }))
	t.Cleanup(shop.Close)
	quoted, err := json.Marshal(hostile)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		`{transactions: {where: {orderRef: ` + string(quoted) + `}, count: 0}}`, `{merchant: {get: "` + shop.URL + `", json: {a: ` + string(quoted) + `}}}`,
		`{refunds: {of: ` + string(quoted) + `, total: 7}}`,
	} {
		file := expectFile(t, "within: 5s\nsettle: 0s\nexpect: ["+line+"]\n")
		for _, format := range []string{"", "json", "yaml", "name"} {
			commands = append(commands, []string{"expect", "-f", file, "-o", format})
		}
	}
	for _, one := range []string{"status", "payers", "events", "requests", "ledger"} {
		for _, format := range []string{"json", "yaml", "name"} {
			commands = append(commands, []string{one, "-o", format})
		}
	}
	events := entries[wire.EventSummary](t, f.run("events", "-o", "json"))
	for _, format := range []string{"", "json", "yaml"} {
		commands = append(commands, []string{"events", events[0].ID, "-o", format})
	}
	for _, command := range commands {
		got := f.run(command...)
		said := ""
		if got.err != nil {
			said = string(Complaint(got.err))
		}
		if !safe(got.out) || !safe(got.progress) || !safe(said) || got.out == "" && got.err == nil {
			t.Errorf("%q prints %q, %q, and ends with %q", command, got.out, got.progress, said)
		}
	}
	inJSON := entries[wire.TestClient](t, f.run("payers", "-o", "json"))
	var inYAML sandboxapi.List[wire.TestClient]
	if err := yaml.Unmarshal([]byte(f.run("payers", "-o", "yaml").out), &inYAML); err != nil {
		t.Fatal(err)
	}
	for _, clients := range [][]wire.TestClient{inJSON, inYAML.Data} {
		if !slices.ContainsFunc(clients, func(c wire.TestClient) bool { return c.Name == hostile }) {
			t.Errorf("a program reads %+v", clients)
		}
	}
}

func TestPrintable(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		controlling: `R1\u001b[2J\u009b31m\u202e\u2028\u200b\U000e0041`, "Aïcha Koné, 漢字 🙂": "Aïcha Koné, 漢字 🙂",
		"\x9b2J": "\ufffd2J", "a\nb\tc": `a\u000ab\u0009c`, "::error::a": `\u003a:error::a`, " ::error::a": ` \u003a:error::a`,
		"\u00a0::a": "\u00a0" + `\u003a:a`, "a::b": "a::b", "a ##[error]b ##vso[c]": `a ##\u005berror]b ##vso\u005bc]`, "# [a] ## b": "# [a] ## b",
	} {
		if got := Printable(text); got != want {
			t.Errorf("%q is printed as %q, want %q", text, got, want)
		}
	}
	if got := PrintableLines("a\n\tb\r\x1b"); got != "a\n\tb"+`\u000d\u001b` {
		t.Errorf("lines are printed as %q", got)
	}
}

// Whatever a text is, only the format of what is printed has line breaks. An error has them too, and each of its lines begins with the name
// of the program.
func TestOnlyFormatsHaveLines(t *testing.T) {
	t.Parallel()
	for want, got := range map[string]Lines{
		`a b\u000ac`:                     Sprintf("a %s", "b\nc"),
		"1 true 0.5 2m0s b":              Sprintf("%d %t %g %s %s", 1, true, 0.5, 2*time.Minute, payments.Status("b")),
		`[a\u000ab c]`:                   Sprintf("%v", []string{"a\nb", "c"}),
		"a\nb":                           Sprintf("%s", Sprintf("a\n%s", "b")),
		"cauri: a\ncauri: " + `\u003a:b`: Complaint(errors.New("a\n::b")),
		`no answer came in time`:         Sprintf("%v", context.DeadlineExceeded),
	} {
		if string(got) != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// There is one writer: no other file of the program prints, so that none prints what somebody else wrote as it is.
func TestThereIsOneWriter(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../*.go")
	if err != nil {
		t.Fatal(err)
	}
	own, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range append(files, own...) {
		if strings.HasSuffix(file, "_test.go") || file == "output.go" {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for n, line := range strings.Split(string(text), "\n") {
			for _, writer := range []string{"fmt.Fprint", "fmt.Print", "fmt.Append", "io.WriteString(", "os.Stdout", "os.Stderr", ".Println(", "println("} {
				if strings.Contains(line, writer) && !slices.Contains(otherWriters, filepath.Base(file)+" "+writer) {
					t.Errorf("%s:%d writes by %s: use Fprintf of package cli", file, n+1, writer)
				}
			}
		}
	}
}

// otherWriters are the uses of other writers: the stream of the errors, the log, whose handlers quote, and the protocol of the MCP server,
// which is JSON. The lines of its sandbox are written by cauri dev.
var otherWriters = []string{"main.go os.Stderr", "logging.go os.Stderr", "mcp.go os.Stdout", "mcp.go os.Stderr", "mcp_dev.go os.Stderr"}
