package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

var update = flag.Bool("update", false, "write the golden files again")

const (
	maxToolsList    = 40 << 10
	maxInstructions = 1536
)

func listTools(t *testing.T, o Options) []*sdk.Tool {
	t.Helper()
	found, err := connect(t, New(o), nil).ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return found.Tools
}

// The tools are listed as the golden file has them. It is what agents see, so a change of it is one of the interface.
func TestToolsAreListed(t *testing.T) {
	t.Parallel()
	const golden = "testdata/tools.jsonl"
	tools := listTools(t, Options{})
	sent, err := json.Marshal(tools)
	if err != nil || len(sent) > maxToolsList {
		t.Errorf("tools/list has %d bytes, want at most %d (%v)", len(sent), maxToolsList, err)
	}
	var text bytes.Buffer
	for _, tool := range tools { // one a line
		line, err := json.Marshal(tool)
		if err != nil {
			t.Fatal(err)
		}
		text.Write(append(line, '\n'))
	}
	if *update {
		err := errors.Join(os.WriteFile(golden, text.Bytes(), 0o644), os.WriteFile(toolsPage, []byte(withTools(t, tools)), 0o644))
		if err != nil {
			t.Fatal(err)
		}
	}
	if page, err := os.ReadFile(toolsPage); err != nil || string(page) != withTools(t, tools) {
		t.Errorf("%s has another table of the tools (%v): go test ./cmd/cauri/mcp -run TestToolsAreListed -update", toolsPage, err)
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), text.String()); diff != "" {
		t.Errorf("the tools have changed: go test ./cmd/cauri/mcp -run TestToolsAreListed -update (-want +got):\n%s", diff)
	}
}

// toolsPage is the page with the table of the tools.
const toolsPage = "../../../docs/agents.md"

// withTools returns the page with the table of the tools.
func withTools(t *testing.T, tools []*sdk.Tool) string {
	t.Helper()
	const begin, end = "-run TestToolsAreListed -update`. -->\n", "<!-- End of the tools. -->\n"
	page, err := os.ReadFile(toolsPage)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, begins := strings.Cut(string(page), begin)
	_, after, ends := strings.Cut(rest, end)
	if !begins || !ends {
		t.Fatalf("%s has no place for the tools", toolsPage)
	}
	table := "\n| tool | changes | what it is for |\n| --- | --- | --- |\n"
	for _, tool := range tools {
		changes := "something"
		switch a := tool.Annotations; {
		case a.ReadOnlyHint:
			changes = "nothing"
		case *a.DestructiveHint:
			changes = "everything"
		}
		table += "| `" + tool.Name + "` | " + changes + " | " + tool.Description + " |\n"
	}
	return before + begin + table + "\n" + end + after
}

// Each tool has a title, all four hints, and schemas that clients with a small dialect understand.
func TestToolsAreDescribed(t *testing.T) {
	t.Parallel()
	hints := map[string]string{ // read only, destructive, idempotent, reaches the merchant
		"get_status": "R-I-", "list_payers": "R-I-", "list_transactions": "R-I-", "list_events": "R-I-", "list_requests": "R-I-", "explain": "R-I-",
		"diagnose_signature": "R-I-", "read_docs": "R-I-", "make_payment": "----", "refund_payment": "----", "make_payout": "----",
		"answer_payer": "----", "save_test_client": "--I-", "advance_clock": "----", "switch_fault": "--I-", "resend_event": "---O",
		"check_expectations": "R-IO", "grade_receiver": "---O", "reset_sandbox": "-DI-",
	}
	tools := listTools(t, Options{})
	if len(tools) != len(hints) || len(tools) > 20 {
		t.Errorf("there are %d tools, want %d", len(tools), len(hints))
	}
	for _, tool := range tools {
		a := tool.Annotations
		got := ""
		for i, is := range []bool{a.ReadOnlyHint, *a.DestructiveHint, a.IdempotentHint, *a.OpenWorldHint} {
			got += map[bool]string{true: "RDIO"[i : i+1], false: "-"}[is]
		}
		if got != hints[tool.Name] || tool.Title == "" || a.Title == "" || tool.Description == "" {
			t.Errorf("%s is %s, want %s; %q, %q", tool.Name, got, hints[tool.Name], tool.Title, tool.Description)
		}
		for _, schema := range []any{tool.InputSchema, tool.OutputSchema} {
			checkDialect(t, tool.Name, schema)
		}
	}
}

// checkDialect fails for a list of types and for a reference.
func checkDialect(t *testing.T, name string, schema any) {
	t.Helper()
	switch schema := schema.(type) {
	case map[string]any:
		if _, is := schema["type"].([]any); is || schema["$ref"] != nil || schema["$defs"] != nil {
			t.Errorf("%s has %v", name, schema)
		}
		for _, part := range schema {
			checkDialect(t, name, part)
		}
	case []any:
		for _, part := range schema {
			checkDialect(t, name, part)
		}
	}
}

func TestReadOnlyOffersWhatChangesNothing(t *testing.T) {
	t.Parallel()
	for _, tool := range listTools(t, Options{ReadOnly: true}) {
		if !tool.Annotations.ReadOnlyHint {
			t.Errorf("%s is offered", tool.Name)
		}
	}
	o := use(t, connect(t, New(Options{ReadOnly: true}), nil), "reset_sandbox", nil)
	if !o.isErr || !strings.Contains(o.Message, "--read-only") {
		t.Errorf("reset_sandbox: %s", o.text)
	}
}

// The server speaks each version of the protocol that the library knows, and offers no logging, which is deprecated.
func TestEachVersionOfTheProtocol(t *testing.T) {
	t.Parallel()
	for _, version := range sdk.SupportedProtocolVersions() {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			session := connect(t, New(Options{}), &sdk.ClientSessionOptions{ProtocolVersion: version})
			begun := session.InitializeResult()
			if begun.ProtocolVersion != version || strings.Contains(string(raw(begun.Capabilities)), "logging") {
				t.Errorf("it speaks %s, and offers %+v", begun.ProtocolVersion, begun.Capabilities)
			}
			if n := len(begun.Instructions); n == 0 || n > maxInstructions {
				t.Errorf("the instructions have %d bytes, want at most %d", n, maxInstructions)
			}
			if o := use(t, session, "read_docs", map[string]any{"page": "clock"}); o.isErr || o.Summary == "" {
				t.Errorf("read_docs: %s", o.text)
			}
		})
	}
}

// A tool that panics is an error of this tool, and the server goes on.
func TestPanicOfATool(t *testing.T) {
	t.Parallel()
	s := New(Options{Find: finding(t, fake(t, nil), testKey)})
	broken := define(tool{name: "explain", alone: true}, func(context.Context, *call, *resetInput) (*resetOutput, error) {
		panic("with " + testKey)
	})
	s.mcp.AddTool(broken.described(), func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return resultOf(broken.run(ctx, s.callOf(ctx, r), nil)), nil
	})
	session := connect(t, s, nil)
	if o := use(t, session, "explain", nil); !o.isErr || o.Error != codeInternal || strings.Contains(o.text, testKey) {
		t.Errorf("the output is %s", o.text)
	}
	if o := use(t, session, "read_docs", nil); o.isErr {
		t.Errorf("after it: %s", o.text)
	}
}

// Wrong arguments are answered with each field and what to write, never with an error of the protocol.
func TestWrongArguments(t *testing.T) {
	t.Parallel()
	session := connect(t, New(Options{Find: finding(t, fake(t, nil), testKey)}), nil)
	for name, c := range map[string]struct {
		tool      string
		arguments any
		field     string
		says      string
	}{
		"a number as a text":       {"make_payment", map[string]any{"amount": "1500"}, "amount", "write 1500 without quotes"},
		"a fraction":               {"make_payment", map[string]any{"amount": 15.5}, "amount", "a whole number from 1 to 1000000000000"},
		"a number beyond":          {"make_payment", map[string]any{"amount": 0}, "amount", "from 1 to"},
		"a missing one":            {"make_payment", map[string]any{}, "amount", "is required"},
		"null":                     {"make_payment", map[string]any{"amount": nil}, "amount", "is required"},
		"a misspelled one":         {"make_payment", map[string]any{"amount": 1, "orderRef": "9"}, "orderRef", "did you mean order_ref?"},
		"an unknown one":           {"get_status", map[string]any{"verbose": true}, "verbose", "takes no arguments"},
		"an unknown value":         {"list_transactions", map[string]any{"status": "SUCESS"}, "status", "did you mean SUCCESS?"},
		"a number in a wrong form": {"make_payment", map[string]any{"amount": 1, "msisdn": "0530000901"}, "msisdn", "write the whole number with +"},
		"two in place of one":      {"advance_clock", map[string]any{"by": "1h", "next": true}, "next", "exactly one"},
		"neither of two":           {"resend_event", map[string]any{}, "event", "or failed is needed"},
		"a text for a list":        {"check_expectations", map[string]any{"expect": "paid"}, "expect", "send a list"},
		"an unknown line":          {"check_expectations", map[string]any{"expect": []any{map[string]any{"paid": 1}}}, "expect[0]", ""},
		"another machine":          {"grade_receiver", map[string]any{"receiver": "http://example.com/hook"}, "receiver", "on this machine"},
		"a name like this machine": {"grade_receiver", map[string]any{"receiver": "http://localhost.example.com/"}, "receiver", "on this machine"},
	} {
		o := use(t, session, c.tool, c.arguments)
		text := strings.Join(o.FieldErrors[c.field], "; ")
		if !o.isErr || o.Error != codeArguments || text == "" && c.says != "" || !strings.Contains(text, c.says) {
			t.Errorf("%s: %s", name, o.text)
		}
	}
	if o := use(t, session, "list_transaction", nil); !o.isErr || !strings.Contains(o.Message, "did you mean list_transactions?") {
		t.Errorf("a misspelled tool: %s", o.text)
	}
}

// Without a sandbox, a tool says how to get one.
func TestNoSandbox(t *testing.T) {
	t.Parallel()
	for name, find := range map[string]func(context.Context) (o outcome){
		"nothing listens": func(context.Context) outcome {
			return use(t, connect(t, New(Options{Find: finding(t, "http://127.0.0.1:1/sandboxes/team/shop", testKey)}), nil), "get_status", nil)
		},
		"none is named": func(context.Context) outcome {
			return use(t, connect(t, New(Options{Find: finding(t, "", "")}), nil), "get_status", nil)
		},
		"another service": func(context.Context) outcome {
			at := fake(t, map[string]string{"GET /faults": "<html>"})
			return use(t, connect(t, New(Options{Find: finding(t, at, testKey)}), nil), "get_status", nil)
		},
	} {
		o := find(t.Context())
		if !o.isErr || name != "another service" && o.Error != codeNoSandbox || strings.Contains(o.text, testKey) {
			t.Errorf("%s: %s", name, o.text)
		}
		commands := slices.ContainsFunc(o.Next, func(s step) bool { return strings.HasPrefix(s.Command, "cauri dev") })
		if name != "another service" && !commands {
			t.Errorf("%s: the next steps are %+v", name, o.Next)
		}
	}
}

// Prompts have their texts, and their arguments are completed.
func TestPrompts(t *testing.T) {
	t.Parallel()
	session := connect(t, New(Options{}), nil)
	for name, arguments := range map[string]map[string]string{
		"integrate": {"language": "PHP", "what": "refund"}, "find_the_bug": {"symptom": "booked twice"}, "prove_the_checkout": nil,
	} {
		got, err := session.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: name, Arguments: arguments})
		if err != nil {
			t.Fatal(err)
		}
		text := got.Messages[0].Content.(*sdk.TextContent).Text
		for _, value := range arguments {
			if !strings.Contains(text, value) {
				t.Errorf("%s does not have %q:\n%s", name, value, text)
			}
		}
	}
	if _, err := session.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: "find_the_bug"}); err == nil {
		t.Error("find_the_bug needs no symptom")
	}
	found, err := session.Complete(t.Context(), &sdk.CompleteParams{
		Ref: &sdk.CompleteReference{Type: "ref/prompt", Name: "integrate"}, Argument: sdk.CompleteParamsArgument{Name: "language", Value: "j"},
	})
	if err != nil || !slices.Equal(found.Completion.Values, []string{"Java", "JavaScript"}) {
		t.Errorf("%+v, %v", found, err)
	}
}

// The user's pages are resources with their sizes, and those for contributors are not.
func TestPagesAreResources(t *testing.T) {
	t.Parallel()
	session := connect(t, New(Options{}), nil)
	found, err := session.ListResources(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, r := range found.Resources {
		names = append(names, r.URI)
		if strings.HasPrefix(r.URI, docsScheme) && (r.Size == 0 || r.Title == "") {
			t.Errorf("%s has %d bytes and the title %q", r.URI, r.Size, r.Title)
		}
	}
	for uri, want := range map[string]bool{
		"cauri://docs/webhooks": true, "cauri://docs/fr/webhooks": true, "cauri://docs/architecture": false, statusURI: true, requestsURI: true,
	} {
		if slices.Contains(names, uri) != want {
			t.Errorf("%s is a resource: %t, want %t", uri, !want, want)
		}
	}
	page, err := session.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "cauri://docs/webhooks"})
	if err != nil || !strings.HasPrefix(page.Contents[0].Text, "# ") {
		t.Errorf("%v, %v", page, err)
	}
}

// read_docs finds sections by their words, and names what is near what it does not have.
func TestReadDocs(t *testing.T) {
	t.Parallel()
	session := connect(t, New(Options{}), nil)
	for _, c := range []struct {
		arguments map[string]any
		isErr     bool
		says      string
	}{
		{map[string]any{"query": "verify the signature of a webhook in PHP"}, false, `"page":"webhooks#`},
		{map[string]any{"query": "advance the clock"}, false, `"page":"clock`},
		{map[string]any{"page": "webhooks"}, false, `"title"`},
		{map[string]any{"page": "api#errors"}, false, "error"},
		{map[string]any{"page": "webhook"}, true, "did you mean webhooks?"},
		{map[string]any{"page": "webhooks#none"}, true, "its sections are"},
		{map[string]any{"page": "webhooks", "query": "x"}, true, "send only one"},
		{map[string]any{"query": "zzzz"}, false, "No section"},
		{nil, false, "webhooks"},
	} {
		o := use(t, session, "read_docs", c.arguments)
		if o.isErr != c.isErr || !strings.Contains(o.text, c.says) || len(o.text) > maxOutput {
			t.Errorf("%v: %d bytes, %.300s", c.arguments, len(o.text), o.text)
		}
	}
}
