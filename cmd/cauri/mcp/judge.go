package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/cauri-dev/cauri/cmd/cauri/cli"
	"github.com/cauri-dev/cauri/cmd/cauri/explain"
	"github.com/cauri-dev/cauri/server/advice"
	"github.com/cauri-dev/cauri/server/english"
	"github.com/cauri-dev/cauri/server/expectations"
	"github.com/cauri-dev/cauri/server/grade"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/webhooks"
)

type checkExpectationsInput struct {
	Expect        []any  `json:"expect" doc:"Lines as in an Expectation, such as {\"transactions\": {\"where\": {\"orderRef\": \"order-9\", \"status\": \"SUCCESS\"}, \"count\": 1}}, {\"events\": {...}}, {\"float\": {...}}, {\"refunds\": {...}}, {\"testClient\": {...}}, {\"nothingElse\": true}, {\"merchant\": {\"get\": \"http://localhost:3000/orders/9\", \"json\": {\"status\": \"paid\"}}}."`
	WithinSeconds *int64 `json:"within_seconds,omitempty" minimum:"1" maximum:"300" doc:"How long to wait until all are met; 30 if left out."`
	Since         string `json:"since,omitempty" doc:"Id of a transaction: only later ones count."`
}

type checkedLine struct {
	Line     string   `json:"line"`
	Met      bool     `json:"met"`
	Observed *foreign `json:"observed,omitempty"`
}

type checkExpectationsOutput struct {
	head
	Met     bool          `json:"met"`
	Results []checkedLine `json:"results"`
}

var checkExpectations = define(tool{
	name: "check_expectations", title: "Is it as expected", reads: true, open: true,
	description: "Waits until what happened is what is expected (transactions, events, balances, refunds, and answers of the shop on this machine), " +
		"or until it cannot be any more. read_docs page expectations has the lines.",
}, func(ctx context.Context, c *call, in *checkExpectationsInput) (*checkExpectationsOutput, error) {
	lines, err := linesOf(in.Expect)
	if err != nil {
		return nil, err
	}
	if in.WithinSeconds == nil {
		in.WithinSeconds = new(int64(defaultWait))
	}
	state, err := cli.Expect(ctx, c.sandbox.API, cli.Expected{
		Lines: lines, Within: time.Duration(*in.WithinSeconds) * time.Second, Settle: expectations.DefaultSettle, Since: in.Since,
		Merchant: localClient(),
	})
	if err != nil {
		return nil, err
	}
	out := &checkExpectationsOutput{Met: state.Verdict == expectations.Met, Results: []checkedLine{}}
	unmet := 0
	for _, r := range state.Results {
		out.Results = append(out.Results, checkedLine{r.Line, r.Met, foreignOf(cut(r.Observed, 400))})
		if !r.Met {
			unmet++
		}
	}
	if out.Met {
		out.say("%s met.", english.Plural(len(lines), "line is", "lines are"))
		out.add(step{Tool: "grade_receiver", Because: "judges the receiver by its answers"})
		return out, nil
	}
	out.say("%d of %s not met.", unmet, english.Plural(len(lines), "line is", "lines are"))
	return out, c.whyUnmet(ctx, out, &state, lines)
})

// mostExplained is the maximum number of transactions that are explained to find out why a line is not met.
const mostExplained = 3

// whyUnmet adds why lines are not met. If the sandbox did what the lines expect, and only the shop says something else, the
// newest transactions tell what the shop had to cope with.
func (c *call) whyUnmet(ctx context.Context, out *checkExpectationsOutput, state *expectations.State, lines []expectations.Line) error {
	onlyShop := true
	for i, r := range state.Results {
		onlyShop = onlyShop && (r.Met || i < len(lines) && lines[i].Merchant != nil)
	}
	out.Cause = string(advice.OfExpectation(state.Reason).Code)
	latest, err := c.sandbox.API.Payments(ctx, nil, mostExplained)
	if err != nil {
		return err
	}
	for i := range latest {
		if !onlyShop {
			break
		}
		found, err := c.explainer().Explain(ctx, latest[i].ID)
		if err != nil {
			return err
		}
		if found.Cause != "" {
			out.Cause, out.Next = found.Cause, c.stepsOf(found.Next)
			out.Summary += " The sandbox did what was expected, and the shop says something else. " + found.Summary
			return nil
		}
	}
	out.add(step{Tool: "list_requests", Because: "lists requests that were refused, and so recorded nothing"},
		step{Tool: "list_transactions", Because: "lists what happened"},
		step{Tool: "list_events", Because: "lists the events, and whether they were acknowledged"})
	return nil
}

// linesOf reads the lines of an expectation. Those about the shop may only ask this machine.
func linesOf(expect []any) ([]expectations.Line, error) {
	text, err := json.Marshal(expect)
	if err != nil {
		return nil, err
	}
	lines, err := expectations.ParseWithMerchant(text)
	var problems expectations.Problems
	wrong := fieldErrors{}
	if errors.As(err, &problems) {
		for _, p := range problems {
			wrong.add(p.Field, "%s", p.Message)
		}
	} else if err != nil {
		wrong.add("expect", "%s", cli.Message(err))
	}
	for i := range lines {
		if m := lines[i].Merchant; m != nil && !isLocal(m.Get) {
			wrong.add(fmt.Sprintf("expect[%d].merchant.get", i), "is not on this machine: write a URL such as http://localhost:3000/orders/9")
		}
	}
	if len(wrong) == 0 {
		return lines, nil
	}
	f := failureOf(invalid(wrong))
	f.Next = []step{{Tool: "read_docs", Arguments: arguments("page", "expectations"), Because: "describes the lines"}}
	return nil, f
}

// isLocal reports whether a URL names this machine.
func isLocal(text string) bool {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return false
	}
	address, err := netip.ParseAddr(u.Hostname())
	return u.Hostname() == "localhost" || strings.HasSuffix(u.Hostname(), ".localhost") || err == nil && address.Unmap().IsLoopback()
}

// localClient returns a client that connects to this machine only, whatever a name or a redirection leads to.
func localClient() *http.Client {
	dialer := &net.Dialer{Control: func(_, address string, _ syscall.RawConn) error {
		if at, err := netip.ParseAddrPort(address); err != nil || !at.Addr().Unmap().IsLoopback() {
			return errors.New("it is not on this machine")
		}
		return nil
	}}
	return &http.Client{Transport: &http.Transport{DialContext: dialer.DialContext, DisableKeepAlives: true}}
}

type gradeInput struct {
	Receiver    string `json:"receiver,omitempty" example:"http://localhost:3000/webhooks" doc:"URL of a receiver on this machine. Left out: the sandbox's webhook."`
	Transaction string `json:"transaction,omitempty" doc:"Id of a collection that the shop knows, for a receiver that refuses unknown payments."`
	Allow       *bool  `json:"allow,omitempty" doc:"With transaction: a refund that did not happen may be told too."`
}

func (in *gradeInput) check(wrong fieldErrors) {
	if in.Receiver != "" && !isLocal(in.Receiver) {
		wrong.add("receiver", "is not a URL on this machine: write one such as http://localhost:3000/webhooks, or leave it out")
	}
	if in.Transaction != "" {
		if _, err := payments.ParseID(in.Transaction); err != nil {
			wrong.add("transaction", "is no id of a payment: write TX_ with 26 characters behind it")
		}
	}
}

type gradedLine struct {
	ID       string   `json:"id"`
	What     string   `json:"what"`
	Expects  string   `json:"expects"`
	Outcome  string   `json:"outcome"`
	Observed *foreign `json:"observed,omitempty"`
	Cause    string   `json:"cause,omitempty"`
	Why      string   `json:"why,omitempty"`
	Fix      string   `json:"fix,omitempty"`
}

type gradeOutput struct {
	head
	Letter  *string      `json:"letter,omitempty"` // absent: nothing follows from the answers
	Passed  int          `json:"passed"`
	Skipped int          `json:"skipped"`
	Failed  []gradedLine `json:"failed"`
}

var gradeReceiver = define(tool{
	name: "grade_receiver", title: "Grade the receiver", open: true,
	description: "Sends genuine and forged events to the receiver of webhooks, and grades its answers from A to F: each failed line with its cause and fix. " +
		"Takes up to two minutes.",
}, func(ctx context.Context, c *call, in *gradeInput) (*gradeOutput, error) {
	check, err := c.grade(ctx, in)
	if err != nil {
		return nil, err
	}
	out := &gradeOutput{Letter: check.Letter, Failed: []gradedLine{}}
	for i := range check.Lines {
		out.line(&check.Lines[i])
	}
	letter := "no letter"
	if check.Letter != nil {
		letter = *check.Letter
	}
	out.say("Grade: %s. %s failed.", letter, english.Plural(len(out.Failed), "line", "lines"))
	if out.Cause == "" && check.Letter != nil {
		out.add(step{Tool: "switch_fault", Arguments: arguments("preset", "twice"),
			Because: "sends each webhook twice: let the shop sell something then, and check that it booked once"})
	}
	if check.Letter == nil && in.Transaction == "" {
		out.add(step{Tool: "list_transactions", Arguments: arguments("type", "collection", "status", "SUCCESS", "limit", 1),
			Because: "finds a payment that the shop knows: grade again with its id as transaction"})
	}
	return out, nil
})

// line adds a line to the card. The first failed one is the cause, unless it is a bonus.
func (o *gradeOutput) line(l *wire.ReceiverLineView) {
	switch l.Outcome {
	case string(grade.Passed):
		o.Passed++
		return
	case string(grade.Failed):
	default:
		o.Skipped++
		return
	}
	a := explain.OfLine(l)
	o.Failed = append(o.Failed, gradedLine{l.ID, l.What, l.Expects, l.Outcome, foreignOf(cut(l.Observed, 400)), string(a.Code), l.Why, l.Fix})
	if l.Bonus {
		return
	}
	if o.Cause == "" {
		o.Cause = string(a.Code)
	}
	o.add(step{Change: l.Fix, Because: l.Why})
}

// grade checks a receiver, by the sandbox or from this machine, and tells of the wait.
func (c *call) grade(ctx context.Context, in *gradeInput) (*wire.ReceiverCheck, error) {
	done := make(chan struct{})
	defer close(done)
	go func() {
		ticker := time.NewTicker(progressInterval)
		defer ticker.Stop()
		for {
			select {
			case <-done:
				return
			case <-ticker.C:
				c.tell("The receiver is being graded")
			}
		}
	}()
	allow := in.Allow != nil && *in.Allow
	if in.Receiver == "" {
		check, err := cli.GradeBySandbox(ctx, c.sandbox.API, in.Transaction, allow)
		return check, withNext(err, step{Tool: "grade_receiver", Arguments: arguments("receiver", "http://localhost:3000/webhooks"),
			Because: "grades a receiver on this machine: write its URL"})
	}
	if c.sandbox.Secret == "" {
		return nil, &failure{Code: "no_secret", Message: "The signing secret is not known: " + c.sandbox.CredentialsIn + " has no CAURI_WEBHOOK_SECRET."}
	}
	var known *grade.Known
	if in.Transaction != "" {
		id, err := payments.ParseID(in.Transaction)
		if err != nil {
			return nil, err // check has parsed it
		}
		event, err := c.sandbox.API.Event(ctx, webhooks.EventID(id))
		if err != nil {
			return nil, err
		}
		known = &grade.Known{ID: id, Body: []byte(event.Body)}
	}
	return cli.GradeFromHere(ctx, in.Receiver, c.sandbox.Secret, c.server.options.Version, known, allow)
}

type resetInput struct{}

type resetOutput struct{ head }

var resetSandbox = define(tool{
	name: "reset_sandbox", title: "Empty the sandbox", destroys: true, repeats: true,
	description: "Removes all transactions, events, requests and set faults, and sets the balances to those of the start. Keys and configuration stay. " +
		"Ask before you reset a sandbox that others use.",
}, func(ctx context.Context, c *call, _ *resetInput) (*resetOutput, error) {
	if _, err := c.sandbox.API.Reset(ctx); err != nil {
		return nil, err
	}
	out := &resetOutput{}
	out.say("The sandbox is empty.")
	out.add(step{Tool: "make_payment", Arguments: arguments("amount", 1500), Because: "makes a first payment"})
	return out, nil
})
