package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cauri-dev/cauri/cmd/cauri/sandboxapi"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
)

func TestWhoAsksForProgramsOutput(t *testing.T) {
	for line, want := range map[string]bool{
		"pay -o json": true, "pay -ojson": true, "pay -o=json": true, "pay --output json": true, "pay --output=yaml --wrong": true,
		"list -Ao json": true, "list -Aojson": true, "pay -o": false, "pay": false, "pay -o name": false, "pay -o json -o name": false,
		"pay -- -o json": false, "expect -forder.yaml -o json -fother": true, "pay --order-ref=-o json": false, "list -o csv": false, "pay --only json": false,
	} {
		if got := forPrograms(strings.Fields(line)); got != want {
			t.Errorf("%s: %v", line, got)
		}
	}
}

func TestComplaintsForPrograms(t *testing.T) {
	refused := &sandboxapi.RefusedError{Status: 422, Code: "invalid_body", RequestID: "r1", Message: "Run `cauri reset` now.",
		Detail: map[string]any{"fieldErrors": map[string]any{"amount": []any{"must be 1 or more"}}}}
	for name, c := range map[string]struct {
		err  error
		want complaint
	}{
		"refused": {fmt.Errorf("%w Or run `cauri listen`", refused), complaint{Error: "invalid_body", Status: 422, RequestID: "r1", ExitCode: 3,
			Detail: refused.Detail, Next: []string{"cauri listen"}}},
		"another server": {&sandboxapi.RefusedError{Status: 502}, complaint{Error: "not_cauri", Status: 502, ExitCode: 4, Retryable: true}},
		"unreachable": {recorded(&sandboxapi.UnreachableError{Err: io.EOF}, "TX_1", "order-1"),
			complaint{Error: "unreachable", ExitCode: 4, Retryable: true, TransactionID: "TX_1", Reference: "order-1"}},
		"too late":    {fmt.Errorf("it: %w", context.DeadlineExceeded), complaint{Error: "timeout", ExitCode: 4, Retryable: true}},
		"interrupted": {context.Canceled, complaint{Error: "interrupted", ExitCode: 4, Retryable: true}},
		"Kubernetes": {apierrors.NewNotFound(schema.GroupResource{}, "a"),
			complaint{Error: "not_found", Status: 404, ExitCode: 3}},
		"no sandbox": {usage(errNoSandbox), complaint{Error: "no_sandbox", ExitCode: 2, Next: []string{"cauri use", "cauri dev --env-file=.env.cauri"}}},
		"a wrong flag": {usage(errors.New("write `cauri pay --amount=1`, `cauri use NAME` or `cauri pay; rm x`")),
			complaint{Error: "invalid_arguments", ExitCode: 2, Next: []string{"cauri pay --amount=1"}}},
		"negative":   {negative("not_met", "one failed"), complaint{Error: "not_met", ExitCode: 5}},
		"unexpected": {errors.New("what"), complaint{Error: "unexpected", ExitCode: 1}},
	} {
		var out bytes.Buffer
		Complain(&out, []string{"pay", "-o", "json"}, c.err)
		var got complaint
		if err := json.Unmarshal(out.Bytes(), &got); err != nil || strings.Count(out.String(), "\n") != 1 {
			t.Errorf("%s: %v in\n%s", name, err, &out)
		}
		c.want.Message = Message(c.err)
		if c.want.Next == nil {
			c.want.Next = []string{}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// A payment that is not final in time is printed as it is known, and named by the error.
func TestTooLateForTheFinalStatus(t *testing.T) {
	f := newFixture(t)
	for name, args := range map[string][]string{
		"pay": {"pay", "--msisdn=" + manual, "--reference=late-1"},
	} {
		r := f.run(append(args, "--timeout=20ms", "-o", "json")...)
		r.want(t, ExitUnavailable)
		made, said := decoded[wire.Payment](t, r), complaintOf(r.err)
		if made.Status != "PENDING" || said.Error != "timeout" || !said.Retryable || said.TransactionID != made.ID || said.Reference != "late-1" {
			t.Errorf("%s prints %s, and says %+v", name, r.out, said)
		}
		if r.progress != "" {
			t.Errorf("%s says beside its error: %s", name, r.progress)
		}
	}
	f.run("pay", "--msisdn="+manual, "--timeout=20ms", "-o", "name").want(t, ExitUnavailable, "TX_")
}
