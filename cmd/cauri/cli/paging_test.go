package cli

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/cmd/cauri/sandboxapi"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/payments"
)

// A list that is cut says so to people and to programs, and goes on at its cursor.
func TestListsAreCut(t *testing.T) {
	f := newFixture(t)
	for i := range 3 {
		f.run("pay", "--scenario=success", fmt.Sprintf("--reference=order-%d", i)).want(t, ExitSuccess)
	}
	f.client("third", "+250788000003", payments.Approve)
	const more = "There are more: --limit or --all shows them."
	for _, command := range []string{"events", "ledger", "stories", "payers", "clients", "payments"} {
		args, call := []string{command}, f.run
		if command == "stories" { // it uses no sandbox
			call = func(args ...string) result { return run(t, Options{}, args...) }
		}
		two := call(append(args, "--limit=2")...)
		two.want(t, ExitSuccess, more)
		if !strings.HasSuffix(two.out, more+"\n") {
			t.Errorf("%s: the last line is another one:\n%s", command, two.out)
		}
		first := decoded[sandboxapi.List[map[string]any]](t, call(append(args, "--limit=2", "-o=json")...))
		if len(first.Data) != 2 || !first.HasMore || first.NextCursor == nil {
			t.Errorf("%s: %+v", command, first)
			continue
		}
		rest := decoded[sandboxapi.List[map[string]any]](t, call(append(args, "--all", "--cursor="+*first.NextCursor, "-o=json")...))
		all := decoded[sandboxapi.List[map[string]any]](t, call(append(args, "--all", "-o=json")...))
		if len(rest.Data) == 0 || len(rest.Data)+2 != len(all.Data) || all.HasMore || all.NextCursor != nil {
			t.Errorf("%s: %d behind the first 2 of %d", command, len(rest.Data), len(all.Data))
		}
		names := call(append(args, "--limit=2", "-o=name")...)
		if strings.Count(names.out, "\n") != 2 || !strings.Contains(names.progress, more) {
			t.Errorf("%s: the names are %s, and it says %s", command, names.out, names.progress)
		}
		for wrong, want := range map[string]string{
			"--limit=0": "from 1 to 10000", "--limit=10001": "from 1 to 10000", "--all --limit=3": "leave one of them out",
		} {
			call(append(args, strings.Fields(wrong)...)...).want(t, ExitUsage, want)
		}
	}
	if one := run(t, Options{}, "stories", "--cursor=one"); ExitCode(one.err) != ExitUsage {
		t.Errorf("a wrong cursor: %v", one.err)
	}
	if all := entries[wire.EventSummary](t, f.run("events", "-o=json")); len(all) != 3 {
		t.Errorf("%d events", len(all))
	}
}
