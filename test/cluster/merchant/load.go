package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptrace"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cauri-dev/cauri/test/cluster/merchantapi"
)

const (
	// answerWithin bounds one request; no answer is held longer than 35 s.
	answerWithin = 60 * time.Second
	// insistFor bounds how long a request is repeated.
	insistFor = 2 * time.Minute
)

// expected is the status of each action's result.
var expected = map[string]int{
	merchantapi.Pay: http.StatusCreated, merchantapi.Retrieve: http.StatusOK, merchantapi.Refund: http.StatusCreated,
	merchantapi.Disburse: http.StatusOK,
}

// load is requests that come at a rate, over connections that are kept open and that nothing else uses.
type load struct {
	name     string
	plan     merchantapi.Plan
	bindings map[string]binding
	client   *http.Client
	stopped  chan struct{}
	stop     func()
	seen     *record
}

func newLoad(name string, plan merchantapi.Plan, bindings map[string]binding) *load {
	l := &load{name: name, plan: plan, bindings: bindings, stopped: make(chan struct{}), seen: newRecord()}
	l.stop = sync.OnceFunc(func() { close(l.stopped) })
	dialer := &net.Dialer{Timeout: 10 * time.Second}
	l.client = &http.Client{Timeout: answerWithin, Transport: &http.Transport{
		MaxIdleConnsPerHost: 512, IdleConnTimeout: 90 * time.Second, DisableCompression: true,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := dialer.DialContext(ctx, network, address)
			l.seen.dialed(err)
			return conn, err
		},
	}}
	return l
}

// run sends the load and returns when all is answered. Each request has a moment that does not depend on the others.
func (l *load) run(ctx context.Context) {
	var group sync.WaitGroup
	begun := time.Now()
	for i := 0; ; i++ {
		after := time.Duration(i) * time.Second / time.Duration(l.plan.Rate)
		if l.plan.Length > 0 && after >= l.plan.Length || !l.waits(time.Until(begun.Add(after))) {
			break
		}
		moment := begun.Add(after)
		l.seen.begin(time.Since(moment))
		group.Go(func() { l.request(ctx, i, moment) })
	}
	group.Wait()
	l.client.CloseIdleConnections()
	l.seen.end()
}

// waits returns false if the load is ended first.
func (l *load) waits(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-l.stopped:
		return false
	case <-timer.C:
		return true
	}
}

// request makes the n-th request, and repeats it only if the plan says so.
func (l *load) request(ctx context.Context, n int, moment time.Time) {
	step := l.plan.Steps[n%len(l.plan.Steps)]
	method, path, body := l.form(n, &step)
	for {
		answer, err := l.send(ctx, l.bindings[step.Binding], method, path, body)
		wait, again := l.comeAgain(answer, err, moment)
		if !again {
			l.seen.finish(step, answer, l.verdict(step, answer, err), time.Since(moment))
			return
		}
		timer := time.NewTimer(wait)
		<-timer.C
	}
}

// comeAgain tells whether a request is to be repeated, and after what time.
func (l *load) comeAgain(answer merchantapi.Answer, err error, moment time.Time) (time.Duration, bool) {
	if err != nil || answer.Status != http.StatusServiceUnavailable || !l.plan.Insist || time.Since(moment) > insistFor {
		return 0, false
	}
	seconds, err := strconv.Atoi(answer.Header.Get("Retry-After"))
	if err != nil {
		return 0, false // it does not say when, which is a failure
	}
	l.seen.unavailable()
	return time.Duration(seconds) * time.Second, true
}

// verdict is what was wrong with an answer, empty for nothing.
func (l *load) verdict(step merchantapi.Step, answer merchantapi.Answer, err error) string {
	// A repetition of what had been recorded is a result too.
	replayed := l.plan.Insist && answer.Header.Get("Idempotent-Replayed") == "true" && answer.Status == http.StatusOK
	switch {
	case err != nil:
		return step.Action + ": " + err.Error()
	case answer.Status != expected[step.Action] && !replayed:
		return fmt.Sprintf("%s: answered %s %s", step.Action, http.StatusText(answer.Status), answer.Body)
	}
	return ""
}

// send sends a request once. Where the transport sends it again, on another connection, that is counted.
func (l *load) send(ctx context.Context, b binding, method, path string, body []byte) (merchantapi.Answer, error) {
	var connections atomic.Int32
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connections.Add(1) }})
	answer, err := b.do(ctx, l.client, method, path, body)
	if connections.Load() > 1 {
		l.seen.resent()
	}
	return answer, err
}

// form makes a step's request.
func (l *load) form(n int, step *merchantapi.Step) (method, path string, body []byte) {
	reference := fmt.Sprintf("%s-%d", l.name, n)
	earlier := l.seen.payment(step.Binding)
	if earlier == "" && (step.Action == merchantapi.Retrieve || step.Action == merchantapi.Refund) {
		step.Action = merchantapi.Pay
	}
	fields := map[string]any{
		"amount":      100,
		"currency":    "RWF",
		"operator":    "mtn",
		"country":     "RW",
		"msisdn":      step.MSISDN,
		"reference":   reference,
		"application": "shop",
	}
	switch step.Action {
	case merchantapi.Retrieve:
		return http.MethodGet, "/payments/" + earlier, nil
	case merchantapi.Refund:
		path, fields = "/payments/"+earlier+"/refund", map[string]any{"amount": 1, "reference": reference}
	case merchantapi.Disburse:
		path = "/disbursements"
	default:
		path = "/payments"
		if step.Scenario != "" {
			fields["scenario"] = step.Scenario
		}
	}
	body, _ = json.Marshal(fields) // it never fails
	return http.MethodPost, path, body
}
