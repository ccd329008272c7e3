package judged

import (
	"encoding/xml"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/junit"
)

// Sandbox is the file of the sandbox of a [Shop], with the URL of its webhook.
func Sandbox(name, namespace, webhook string) string {
	return fmt.Sprintf(`{apiVersion: cauri.dev/v1alpha1, kind: SandboxEnvironment, metadata: {name: %s, namespace: %s}, spec: {latencyPercent: 0,
  environments: [{operator: mtn, country: RW, commissionBps: 150}], stores: [{slug: shop}],
  faults: [{name: twice, when: {type: collection, status: SUCCESS}, webhook: {duplicate: 2}}],
  webhook: {url: "%s", retryPolicy: {maxRetries: 5, initialDelay: 1s, factor: 1, maxDelay: 1s}}}}`, name, namespace, webhook)
}

// Pipeline is a pipeline whose shop has one bug at a time.
type Pipeline struct {
	Shop string // URL of the shop
	// Has gives the shop another bug.
	Has func(bug string)
	// Pay makes a payment of 1500 francs that ends so, and returns its id. Refund gives 500 of it back.
	Pay    func(reference, scenario string) (id string)
	Refund func(id, reference string)
	// Delivered returns when no event waits.
	Delivered func()
	// Cauri runs `cauri expect` or `cauri grade` with more arguments.
	Cauri func(args ...string) (printed string, err error)
}

// lines are what a pipeline expects of a run. %[1]d is its number, and %[2]s the address of the shop.
const lines = `
within: 5s
settle: 0s
expect:
- transactions: {where: {orderRef: "paid-%[1]d", status: SUCCESS}, count: 1}
- transactions: {where: {orderRef: "late-%[1]d", status: TIMEOUT}, count: 1}
- refunds: {of: "refunded-%[1]d", total: 500}
- events: {where: {orderRef: "ends-%[1]d"}, state: delivered, count: 1}
- merchant: {get: "%[2]s/orders/paid-%[1]d", json: {status: paid, credited: 1}}
- merchant: {get: "%[2]s/orders/paid-%[1]d", json: {received: 1477}}
- merchant: {get: "%[2]s/orders/refunded-%[1]d", json: {refunded: 500}}
- merchant: {get: "%[2]s/orders/late-%[1]d", json: {status: failed}}
- merchant: {get: "%[2]s/orders/ends-%[1]d", json: {status: paid}}
`

// TurnsRed checks that the pipeline is green with a right shop, and that each bug turns exactly its line red. What Cauri cannot see by
// itself, a line merchant asks the shop.
func (p *Pipeline) TurnsRed(t *testing.T) {
	t.Helper()
	for i, bug := range []struct{ name, order, json, grade string }{
		{},
		{creditsTwice, "paid", `{"credited":1,"status":"paid"}`, ""},
		{ignoresRefunds, "refunded", `{"refunded":500}`, ""},
		{trustsUnsigned, "", "", "no-signature: no signature at all"},
		{amountAsNet, "paid", `{"received":1477}`, ""},
		{forgetsTimeout, "late", `{"status":"failed"}`, ""},
		{answersFirst, "ends", `{"status":"paid"}`, ""},
	} {
		p.Has(bug.name)
		for order, scenario := range map[string]string{"paid": "success", "late": "timeout", "ends": "success", "refunded": "success"} {
			id := p.Pay(fmt.Sprintf("%s-%d", order, i), scenario)
			if order == "refunded" {
				p.Refund(id, fmt.Sprintf("back-%d", i))
			}
		}
		p.Delivered()
		var want, wantGrade []string
		if bug.order != "" {
			want = []string{fmt.Sprintf("merchant %s/orders/%s-%d: %s", p.Shop, bug.order, i, bug.json)}
		}
		if bug.grade != "" {
			wantGrade = []string{bug.grade}
		}
		file := t.TempDir() + "/expected.yaml"
		if err := os.WriteFile(file, fmt.Appendf(nil, lines, i, p.Shop), 0o600); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, Red(t, p.Cauri, "expect", "-f", file)); diff != "" {
			t.Errorf("%s: the red lines (-want +got):\n%s", bug.name, diff)
		}
		if diff := cmp.Diff(wantGrade, Red(t, p.Cauri, "grade", "--receiver", p.Shop+"/webhooks")); diff != "" {
			t.Errorf("%s: the red lines of the grade (-want +got):\n%s", bug.name, diff)
		}
	}
}

// Red runs a command that writes a report in the format of JUnit, and returns the cases that failed. An answer that takes longer than a
// second is none: the machine may be busy.
func Red(t *testing.T, cauri func(args ...string) (string, error), args ...string) (red []string) {
	t.Helper()
	report := t.TempDir() + "/report.xml"
	out, failure := cauri(append(args, "--junit="+report)...)
	text, err := os.ReadFile(report)
	if err != nil {
		t.Fatalf("%v: %v\n%s", args, err, out)
	}
	var parsed junit.Report
	if err := xml.Unmarshal(text, &parsed); err != nil || len(parsed.Suites) == 0 || len(parsed.Suites[0].Cases) == 0 {
		t.Fatalf("%v writes the report %s, %v", args, text, err)
	}
	for _, suite := range parsed.Suites {
		for _, c := range suite.Cases {
			if c.Failure != nil {
				red = append(red, c.Name)
			}
		}
	}
	red = slices.DeleteFunc(red, func(line string) bool { return strings.HasPrefix(line, "within-1-second") })
	if (failure != nil) != (len(red) > 0) {
		t.Errorf("%v ends with %v, and these lines are red: %q\n%s", args, failure, red, out)
	}
	return red
}
