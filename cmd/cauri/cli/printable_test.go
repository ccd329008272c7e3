package cli

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"unicode"

	"sigs.k8s.io/yaml"

	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/payments"
)

// hostile is a text that clears the screen, in both forms, and turns what follows around.
const hostile = "R1\x1b[2J\u009b31m\u202e\u2028\u200b\U000e0041"

// safe reports whether a text can go to a terminal.
func safe(text string) bool {
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
		{"__complete", "payers", ""}, {"pay", "--scenario=" + hostile},
	}
	for _, one := range []string{"status", "payers", "events", "requests", "ledger"} {
		for _, format := range []string{"json", "yaml", "name"} {
			commands = append(commands, []string{one, "-o", format})
		}
	}
	events := decoded[[]wire.EventSummary](t, f.run("events", "-o", "json"))
	for _, format := range []string{"", "json", "yaml"} {
		commands = append(commands, []string{"events", events[0].ID, "-o", format})
	}
	for _, command := range commands {
		if got := f.run(command...); !safe(got.out+got.progress) || got.out == "" && got.err == nil {
			t.Errorf("%q prints %q, %q, and ends with %v", command, got.out, got.progress, got.err)
		}
	}
	inJSON := decoded[[]wire.TestClient](t, f.run("payers", "-o", "json"))
	var inYAML []wire.TestClient
	if err := yaml.Unmarshal([]byte(f.run("payers", "-o", "yaml").out), &inYAML); err != nil {
		t.Fatal(err)
	}
	for _, clients := range [][]wire.TestClient{inJSON, inYAML} {
		if !slices.ContainsFunc(clients, func(c wire.TestClient) bool { return c.Name == hostile }) {
			t.Errorf("a program reads %+v", clients)
		}
	}
}

func TestPrintable(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		hostile: `R1\u001b[2J\u009b31m\u202e\u2028\u200b\U000e0041`, "Aïcha Koné, 漢字 🙂": "Aïcha Koné, 漢字 🙂",
		"\x9b2J": "\ufffd2J", "a\nb\tc": `a\u000ab\u0009c`,
	} {
		if got := Printable(text); got != want {
			t.Errorf("%q is printed as %q, want %q", text, got, want)
		}
	}
	if got := PrintableLines("a\n\tb\r\x1b"); got != "a\n\tb"+`\u000d\u001b` {
		t.Errorf("lines are printed as %q", got)
	}
}
