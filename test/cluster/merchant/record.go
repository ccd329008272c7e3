package main

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/cauri-dev/cauri/test/cluster/merchantapi"
)

// toldFailures is how many kinds of failures of a load are told.
const toldFailures = 20

// particular is what differs between failures of one kind: addresses, references, ids.
var particular = regexp.MustCompile(`\d[\d.:]*\d|_[0-9A-Z]{26}`)

// record is what became of a load's requests.
type record struct {
	mu     sync.Mutex
	report merchantapi.Report
	took   []time.Duration
	// paid is a payment of each binding that ended SUCCESS, of which not all is given back.
	paid map[string]refundable
}

// refundable is a payment with what is left to give back of it.
type refundable struct {
	id   string
	left int
}

func newRecord() *record {
	return &record{
		report: merchantapi.Report{Running: true, Failures: map[string]int{}, Acknowledged: map[string]map[string]string{}},
		paid:   map[string]refundable{},
	}
}

func (r *record) begin(late time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report.Requests++
	r.report.Late = max(r.report.Late, late)
}

func (r *record) dialed(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		r.report.DialFailures++
		r.fail("opening a connection: " + err.Error())
		return
	}
	r.report.Connections++
}

func (r *record) resent() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report.Resent++
}

func (r *record) unavailable() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report.Unavailable++
	r.report.Last = time.Now()
	if r.report.First.IsZero() {
		r.report.First = r.report.Last
	}
	r.report.Recovered = time.Time{}
}

// fail counts a failure by its kind. The caller has the lock.
func (r *record) fail(what string) {
	kind := particular.ReplaceAllString(what, "#")
	if r.report.Failures[kind] > 0 || len(r.report.Failures) < toldFailures {
		r.report.Failures[kind]++
	}
}

// finish notes the result of a request, or what was wrong with it.
func (r *record) finish(step merchantapi.Step, answer merchantapi.Answer, wrong string, took time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report.Answered++
	if answer.Closing {
		r.report.Closing++
	}
	if wrong != "" {
		r.report.Failed++
		r.fail(wrong)
		return
	}
	r.took = append(r.took, took)
	if !r.report.Last.IsZero() && r.report.Recovered.IsZero() {
		r.report.Recovered = time.Now()
	}
	if step.Action != merchantapi.Retrieve {
		r.acknowledge(step, answer.Body)
	}
}

func (r *record) acknowledge(step merchantapi.Step, body json.RawMessage) {
	var transaction struct {
		ID     string `json:"id"`    // of a payment
		TxID   string `json:"tx_id"` // of a disbursement
		Status string `json:"status"`
		Amount int    `json:"amount"`
	}
	if err := json.Unmarshal(body, &transaction); err != nil || transaction.ID+transaction.TxID == "" {
		r.report.Failed++
		r.fail(step.Action + ": the result is no transaction: " + string(body))
		return
	}
	if r.report.Acknowledged[step.Binding] == nil {
		r.report.Acknowledged[step.Binding] = map[string]string{}
	}
	r.report.Acknowledged[step.Binding][transaction.ID+transaction.TxID] = transaction.Status
	if step.Action == merchantapi.Pay && transaction.Status == "SUCCESS" {
		r.paid[step.Binding] = refundable{transaction.ID, transaction.Amount}
	}
}

// payment is one of a binding's payments, of which something is left to give back; empty while there is none.
func (r *record) payment(binding string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.paid[binding]
	if p.left == 0 {
		return ""
	}
	p.left--
	r.paid[binding] = p
	return p.id
}

func (r *record) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report.Running = false
}

func (l *load) tell() merchantapi.Report { return l.seen.tell() }

// tell is short while the load goes on, so that asking for it does not disturb what is measured.
func (r *record) tell() merchantapi.Report {
	r.mu.Lock()
	defer r.mu.Unlock()
	report := r.report
	report.Failures = maps.Clone(report.Failures)
	if report.Running {
		report.Acknowledged = nil
		return report
	}
	if len(r.took) > 0 { // nothing is added any more
		slices.Sort(r.took)
		at := func(percent int) time.Duration { return r.took[(len(r.took)-1)*percent/100] }
		report.Took = merchantapi.Times{P50: at(50), P99: at(99), Max: at(100)}
	}
	return report
}
