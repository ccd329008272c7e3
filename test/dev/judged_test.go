package dev

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/junit"
	"github.com/cauri-dev/cauri/server/webhooks"
)

// shop is a merchant's program: it takes events and says what it knows of an order. It does so right but for one bug.
type shop struct {
	t      *testing.T
	secret string

	mutex  sync.Mutex
	bug    string
	orders map[string]*shopOrder
	done   map[string]bool // by tx_id
	came   map[string]int  // deliveries by order
}

type shopOrder struct {
	Status   string `json:"status"`
	Credited int    `json:"credited"` // how often
	Received int    `json:"received"` // what the merchant gets
	Refunded int    `json:"refunded"`
}

// The bugs. The empty one is none.
const (
	creditsTwice   = "credits twice on a duplicate"
	ignoresRefunds = "ignores refunds"
	trustsUnsigned = "trusts unsigned events"
	amountAsNet    = "reads amount as net"
	forgetsTimeout = "forgets TIMEOUT"
	answersFirst   = "answers 200 before storing"
)

func (s *shop) is(bug string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.bug, s.orders, s.done, s.came = bug, map[string]*shopOrder{}, map[string]bool{}, map[string]int{}
}

func (s *shop) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if r.Method == http.MethodGet {
		_ = json.NewEncoder(w).Encode(s.order(strings.TrimPrefix(r.URL.Path, "/orders/")))
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		s.t.Error(err)
	}
	unsigned := r.Header.Get(webhooks.HeaderSignature) == ""
	if webhooks.Verify(r.Header, body, s.secret, time.Now()) != nil && !(unsigned && s.bug == trustsUnsigned) {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	var event shopEvent
	if err := json.Unmarshal(body, &event); err != nil {
		s.t.Errorf("%v: %s", err, body)
	}
	s.came[event.Order]++
	// The program ends while it works on the first deliveries of this order. What it has stored by then is there when it starts again.
	if strings.HasPrefix(event.Order, "ends-") && s.came[event.Order] <= 2 {
		if s.bug != answersFirst {
			panic(http.ErrAbortHandler)
		}
		return
	}
	s.store(&event)
}

type shopEvent struct {
	Event     string `json:"event"`
	ID        string `json:"tx_id"`
	Order     string `json:"order_ref"`
	Status    string `json:"status"`
	Amount    string `json:"amount"`
	NetAmount string `json:"net_amount"`
}

func (s *shop) order(name string) *shopOrder {
	if s.orders[name] == nil {
		s.orders[name] = &shopOrder{Status: "open"}
	}
	return s.orders[name]
}

func (s *shop) store(e *shopEvent) {
	if s.done[e.ID] && s.bug != creditsTwice {
		return
	}
	s.done[e.ID] = true
	order := s.order(e.Order)
	whole := func(text string) int {
		n, _ := strconv.Atoi(strings.TrimSuffix(text, ".00"))
		return n
	}
	switch {
	case e.Event == "payment.refunded":
		if s.bug != ignoresRefunds {
			order.Refunded += whole(e.Amount)
		}
	case e.Event != "payment.completed":
	case e.Status == "SUCCESS":
		order.Status, order.Received = "paid", whole(e.NetAmount)
		order.Credited++
		if s.bug == amountAsNet {
			order.Received = whole(e.Amount)
		}
	case e.Status != "TIMEOUT" || s.bug != forgetsTimeout:
		order.Status = "failed"
	}
}

// judged are the lines that a pipeline expects. %s is the name of the run, and SHOP the address of the merchant.
const judged = `
within: 5s
settle: 0s
expect:
- transactions: {where: {orderRef: "paid-%[1]s", status: SUCCESS}, count: 1}
- transactions: {where: {orderRef: "late-%[1]s", status: TIMEOUT}, count: 1}
- refunds: {of: "refunded-%[1]s", total: 500}
- events: {where: {orderRef: "ends-%[1]s"}, state: delivered, count: 1}
- merchant: {get: "%[2]s/orders/paid-%[1]s", json: {status: paid, credited: 1}}
- merchant: {get: "%[2]s/orders/paid-%[1]s", json: {received: 1477}}
- merchant: {get: "%[2]s/orders/refunded-%[1]s", json: {refunded: 500}}
- merchant: {get: "%[2]s/orders/late-%[1]s", json: {status: failed}}
- merchant: {get: "%[2]s/orders/ends-%[1]s", json: {status: paid}}
`

// redLines runs a command that writes a report, and returns the cases that failed.
func (p *process) redLines(args ...string) (red []string) {
	p.t.Helper()
	report := filepath.Join(p.t.TempDir(), "report.xml")
	cmd := exec.CommandContext(p.t.Context(), program, append(args, "--junit="+report)...)
	out, failure := cmd.CombinedOutput()
	text, err := os.ReadFile(report)
	if err != nil {
		p.t.Fatalf("%v: %v\n%s", args, err, out)
	}
	var parsed junit.Report
	if err := xml.Unmarshal(text, &parsed); err != nil {
		p.t.Fatal(err)
	}
	for _, c := range parsed.Suites[0].Cases {
		if c.Failure != nil {
			red = append(red, c.Name)
		}
	}
	if (failure != nil) != (len(red) > 0) {
		p.t.Errorf("%v ends with %v, and these lines are red: %q\n%s", args, failure, red, out)
	}
	return red
}

// A pipeline is green with a right merchant, and each bug of a merchant turns exactly its line red. What Cauri cannot see
// by itself, a line merchant asks the merchant's own program.
func TestEachBugOfAMerchantTurnsItsLineRed(t *testing.T) {
	t.Parallel()
	s := &shop{t: t, secret: "the secret of the judged merchant"}
	server := httptest.NewServer(s)
	defer server.Close()
	file := write(t, "shop.yaml", `{apiVersion: cauri.dev/v1alpha1, kind: SandboxEnvironment, metadata: {name: shop}, spec: {latencyPercent: 0,
  environments: [{operator: mtn, country: RW, commissionBps: 150}], stores: [{slug: shop}],
  faults: [{name: twice, when: {type: collection, status: SUCCESS}, webhook: {duplicate: 2}}],
  webhook: {url: "`+server.URL+`/webhooks", retryPolicy: {maxRetries: 5, initialDelay: 1s, factor: 1, maxDelay: 1s}}}}`)
	p := start(t, "--file", file, "--database-url", newDatabase(t), "--webhook-secret", s.secret, "--quiet")
	merchant := func(order, json string) string {
		return fmt.Sprintf("merchant %s/orders/%s: %s", server.URL, order, json)
	}
	for i, test := range []struct{ bug, order, json, grade string }{
		{},
		{creditsTwice, "paid-1", `{"credited":1,"status":"paid"}`, ""},
		{ignoresRefunds, "refunded-2", `{"refunded":500}`, ""},
		{trustsUnsigned, "", "", "no-signature: no signature at all"},
		{amountAsNet, "paid-4", `{"received":1477}`, ""},
		{forgetsTimeout, "late-5", `{"status":"failed"}`, ""},
		{answersFirst, "ends-6", `{"status":"paid"}`, ""},
	} {
		s.is(test.bug)
		name := strconv.Itoa(i)
		p.pay("paid-"+name, "success")
		p.pay("late-"+name, "timeout")
		p.pay("ends-"+name, "success")
		refunded := p.pay("refunded-"+name, "success")
		half := bytes.NewBufferString(`{"amount":500,"reference":"back-` + name + `"}`)
		refund := p.call(http.MethodPost, p.uri+"/api/v1/payments/"+refunded+"/refund", half)
		if refund["status"] != "SUCCESS" {
			t.Fatalf("the refund is %v", refund)
		}
		p.eventually("all events are delivered", func() bool { return fmt.Sprint(p.get("/v1/events?state=queued")["data"]) == "[]" })
		expectations := write(t, "judged.yaml", fmt.Sprintf(judged, name, server.URL))
		var want, wantGrade []string
		if test.order != "" {
			want = []string{merchant(test.order, test.json)}
		}
		if test.grade != "" {
			wantGrade = []string{test.grade}
		}
		if diff := cmp.Diff(want, p.redLines("expect", "-f", expectations, "--url", p.uri, "--api-key", p.key)); diff != "" {
			t.Errorf("%s: the red lines (-want +got):\n%s", test.bug, diff)
		}
		red := p.redLines("grade", "--receiver", server.URL+"/webhooks", "--secret", s.secret)
		red = slices.DeleteFunc(red, func(line string) bool { return strings.HasPrefix(line, "within-1-second") }) // a busy machine
		if diff := cmp.Diff(wantGrade, red); diff != "" {
			t.Errorf("%s: the red lines of the grade (-want +got):\n%s", test.bug, diff)
		}
	}
}
