package agents

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/cauri-dev/cauri/server/advice"
	"github.com/cauri-dev/cauri/server/grade"
)

// readSchemas reads the schemas of the tools.
func (s *server) readSchemas(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	defer cancel()
	found, err := s.ListTools(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	s.inputs, s.outputs = map[string]*jsonschema.Schema{}, map[string]*jsonschema.Schema{}
	for _, tool := range found.Tools {
		for into, schema := range map[*map[string]*jsonschema.Schema]any{&s.inputs: tool.InputSchema, &s.outputs: tool.OutputSchema} {
			compiler := jsonschema.NewCompiler()
			if err := compiler.AddResource("tool.json", schema); err != nil {
				t.Fatal(err)
			}
			compiled, err := compiler.Compile("tool.json")
			if err != nil {
				t.Fatal(err)
			}
			(*into)[tool.Name] = compiled
		}
	}
}

// check fails unless an output fits its schema, is the same as its text, has a known cause, and its steps can be called as they
// stand.
func (s *server) check(t *testing.T, name string, result *sdk.CallToolResult, o *output) {
	t.Helper()
	var text any
	if err := json.Unmarshal([]byte(o.text), &text); err != nil || !reflect.DeepEqual(text, result.StructuredContent) {
		t.Errorf("%s: the text is not the output (%v): %s", name, err, o.text)
	}
	if schema := s.outputs[name]; schema != nil {
		if err := schema.Validate(result.StructuredContent); err != nil {
			t.Errorf("%s: the output does not fit its schema: %v\n%s", name, err, o.text)
		}
	}
	if o.Cause != "" && !isCause(o.Cause) {
		t.Errorf("%s: the cause %s is not in the table", name, o.Cause)
	}
	if o.isErr == (o.Error == "") || len(o.Next) > 3 || !strings.HasPrefix(o.text, `{"summary":`) {
		t.Errorf("%s: %s", name, o.text)
	}
	for _, step := range o.Next {
		schema := s.inputs[step.Tool]
		switch {
		case step.Tool == "" && step.Command == "" && step.Change == "":
			t.Errorf("%s: a step has nothing to do: %s", name, o.text)
		case step.Tool != "" && schema == nil && s.inputs["make_payment"] != nil: // a server with --read-only has fewer
			t.Errorf("%s: there is no tool %s", name, step.Tool)
		case schema != nil:
			if step.Arguments == nil {
				step.Arguments = map[string]any{}
			}
			if err := schema.Validate(step.Arguments); err != nil {
				t.Errorf("%s: the step %s %v cannot be called: %v", name, step.Tool, step.Arguments, err)
			}
		}
	}
}

func isCause(code string) bool {
	same := func(a advice.Advice) bool { return string(a.Code) == code }
	return slices.ContainsFunc(advice.Causes(), same) || slices.ContainsFunc(grade.Causes(), same)
}

// checkEachTool calls each tool on a good day and on a bad one.
func (s *server) checkEachTool(t *testing.T) {
	t.Helper()
	type args = map[string]any
	paid := s.use(t, "make_payment", args{"amount": 1500, "order_ref": "order-9"}).Transaction["id"].(string)
	event := "evt_" + strings.TrimPrefix(paid, "TX_")
	s.use(t, "save_test_client", args{"msisdn": "+2250700000055", "behavior": "Manual", "balance": 1000})
	asked := s.use(t, "make_payment", args{"amount": 100, "msisdn": "+2250700000055", "wait_seconds": 0}).Transaction["id"].(string)
	used := map[string]bool{}
	for _, c := range []struct {
		tool      string
		arguments args
		isErr     bool
		says      string
	}{
		{"get_status", nil, false, `"credentials"`},
		{"list_payers", args{"outcome": "INSUFFICIENT_FUNDS"}, false, "INSUFFICIENT_FUNDS"},
		{"list_payers", args{"country": "FR"}, true, "country"},
		{"list_transactions", args{"order_ref": "order-9"}, false, paid},
		{"list_transactions", args{"limit": 100}, false, "SUCCESS"},
		{"list_transactions", args{"since": "yesterday"}, true, "created_after"},
		{"list_events", args{"transaction": paid}, false, event},
		{"list_events", args{"cursor": "none"}, true, "cursor"},
		{"list_requests", args{"all": true}, false, "requests"},
		{"list_requests", args{"path": "payments"}, true, "path"},
		{"explain", args{"id": "order-9"}, false, "timeline"},
		{"explain", args{"id": "TX_01JCC5H2M4Q7ZXW3V8R6T9B0YE"}, true, "newest"},
		{"diagnose_signature", args{"event": event, "computed_signature": "sha256=00"}, false, "signature."},
		{"diagnose_signature", args{"event": "evt_01JCC5H2M4Q7ZXW3V8R6T9B0YE"}, true, "not_found"},
		{"read_docs", args{"query": "signature"}, false, "webhooks#"},
		{"read_docs", args{"operation": "createPayment"}, false, "POST"},
		{"read_docs", args{"operation": "createPayments"}, true, "createPayment"},
		{"make_payment", args{"amount": 200, "scenario": "low_balance"}, false, "payment.insufficient_funds"},
		{"make_payment", args{"amount": 200, "application": "none"}, true, "store"},
		{"refund_payment", args{"transaction": paid, "amount": 100}, false, "refund"},
		{"refund_payment", args{"transaction": paid, "amount": 100000}, true, "exceeds_refundable"},
		{"make_payout", args{"amount": 100, "msisdn": "+2250700000055"}, false, "disbursement"},
		{"make_payout", args{"amount": 100, "msisdn": "0700000001"}, true, "msisdn"},
		{"answer_payer", args{"transaction": asked, "answer": "wrong_pin"}, false, "PIN_INVALID"},
		{"answer_payer", args{"msisdn": "+2250700000055", "answer": "approve"}, true, "no_prompt"},
		{"save_test_client", args{"msisdn": "+2250700000055", "state": "Blocked"}, false, "Blocked"},
		{"save_test_client", args{"msisdn": "+33600000000"}, true, "msisdn"},
		{"advance_clock", args{"by": "1h"}, false, "clock"},
		{"advance_clock", args{"by": "an hour"}, true, "by"},
		{"switch_fault", nil, false, "lost-answer"},
		{"switch_fault", args{"preset": "slow", "reference": "none-*"}, false, `"slow"`},
		{"switch_fault", args{"fault": args{"api": args{"status": 777}}, "name": "odd"}, true, "status"},
		{"resend_event", args{"event": event}, false, "is recorded"},
		{"resend_event", args{"event": "evt_01JCC5H2M4Q7ZXW3V8R6T9B0YE"}, true, "not_found"},
		{"resend_event", args{"failed": true}, false, "0 events"},
		{"check_expectations", args{"expect": []any{args{"transactions": args{"where": args{"orderRef": "none"}, "count": 0}}}}, false, `"met":true`},
		{"check_expectations", args{"within_seconds": 1, "expect": []any{args{"transactions": args{"count": 0}}}}, false, "expectation.exceeded"},
		{"grade_receiver", args{"receiver": "http://127.0.0.1:9/"}, false, "no letter"},
		{"grade_receiver", nil, true, "webhook"},
		{"reset_sandbox", nil, false, "empty"},
		{"reset_sandbox", args{"all": true}, true, "takes no arguments"},
	} {
		used[c.tool] = true
		begun := time.Now()
		o := s.use(t, c.tool, c.arguments)
		if o.isErr != c.isErr || !strings.Contains(o.text, c.says) {
			t.Errorf("%s %v: error: %t, no %q in %s", c.tool, c.arguments, o.isErr, c.says, o.text)
		}
		t.Logf("%s %v: %d bytes, %s", c.tool, c.arguments, len(o.text), time.Since(begun).Round(time.Millisecond))
	}
	for name := range s.inputs {
		if !used[name] {
			t.Errorf("%s is not tried", name)
		}
	}
}
