package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/cauri-dev/cauri/cmd/cauri/sandboxapi"
	"github.com/cauri-dev/cauri/server/expectations"
)

func (p *program) expectCommand() *cobra.Command {
	var o output
	var files []string
	var junit string
	var github bool
	cmd := &cobra.Command{
		Use:   "expect",
		Short: "Wait until what happened in a sandbox is what a file expects",
		Long: `Wait until what happened in a sandbox is what a file expects: payments, events, balances,
and what your own program says. A file has Expectations as kubectl applies them, or only
their spec. The time of within begins with the command, and spec.sandboxRef is ignored.

The exit code is 5 if an expectation fails. --junit writes a report that CI systems read,
--github the job summary of GitHub Actions.`,
		Example: "  " + p.called("expect", "-f order-1042.yaml") + "\n  " +
			p.called("expect", "-f order-1042.yaml -f refund.yaml --junit=report.xml --github"),
	}
	t := p.target(cmd)
	flags := cmd.Flags()
	flags.StringArrayVarP(&files, "filename", "f", nil, "file with expectations, - for the standard input; may be given several times")
	flags.StringVar(&junit, "junit", "", "file for a report in the format of JUnit")
	flags.BoolVar(&github, "github", false, "add a table to the job summary of GitHub Actions")
	o.add(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		all, err := readExpectations(files, cmd.InOrStdin())
		summary, noSummary := summaryFile(github)
		if err = errors.Join(err, noSummary, o.check()); err != nil {
			return err
		}
		err = t.withAPI(cmd, args, func(ctx context.Context, api *sandboxapi.Client, _ *sandbox, _ []string) error {
			if err := p.begin(ctx, api, all); err != nil {
				return err
			}
			return p.judge(ctx, api, all)
		})
		if err != nil { // the files of an earlier run would look like this one's
			notJudged(all, err)
		} else {
			table := func(out io.Writer) { printJudgements(out, all) }
			err = errors.Join(failure(all), printList(cmd, &o, whole(judgements(all)), judged, table))
		}
		return errors.Join(writeJUnit(junit, expectReport(all)), addSummary(summary, "result expectation line observed", cells(all)), err)
	}
	return cmd
}

// expected is an expectation of a file, with the state of its evaluation.
type expected struct {
	name   string
	lines  []expectations.Line
	within time.Duration
	settle time.Duration
	recent bool // whether only transactions after the first evaluation count

	merchant *http.Client // asks the merchant's own program; nil: the default client

	asked json.RawMessage // lines that the API evaluates, as JSON
	since string
	epoch string // of the first answer; the API gives another one after a reset
	began time.Time
	state expectations.State

	decided time.Time     // time of the last evaluation, which gave the verdict
	slots   chan struct{} // semaphore: requests for evaluations
}

// questionsAtOnce bounds the requests of a command for evaluations.
const questionsAtOnce = 4

// begin begins the time of expectations.
func (p *program) begin(ctx context.Context, api *sandboxapi.Client, all []*expected) error {
	for _, e := range all {
		if err := e.begin(ctx, api, p.now()); err != nil {
			return err
		}
	}
	return nil
}

// judge evaluates expectations repeatedly, until each has a verdict. None waits for the merchant's program of another.
func (p *program) judge(ctx context.Context, api *sandboxapi.Client, all []*expected) error {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	slots := make(chan struct{}, questionsAtOnce)
	var running sync.WaitGroup
	for _, e := range all {
		running.Go(func() {
			for e.slots = slots; e.state.Verdict == expectations.Open; e.decided = p.now() {
				if err := e.evaluate(ctx, api, p.now); err != nil {
					end(err)
					return
				}
				if e.state.Verdict == expectations.Open && pause(ctx, p.await) != nil {
					return
				}
			}
		})
	}
	running.Wait()
	return context.Cause(ctx)
}

// notJudged fails the expectations without a verdict, whose evaluation ended with an error. What was observed of their lines is not what
// there was in the end.
func notJudged(all []*expected, err error) {
	for _, e := range all {
		if e.state.Verdict != expectations.Met && e.state.Verdict != expectations.Failed {
			e.state = expectations.State{Verdict: expectations.Failed, Message: "It was not judged: " + Message(err)}
		}
	}
}

func (e *expected) begin(ctx context.Context, api *sandboxapi.Client, now time.Time) error {
	e.began, e.state.Verdict = now, expectations.Open
	var asked []expectations.Line
	for _, l := range e.lines {
		if l.Merchant == nil {
			asked = append(asked, l)
		}
	}
	if len(asked) == 0 {
		return nil
	}
	var err error
	if e.asked, err = json.Marshal(asked); err != nil {
		return err
	}
	if e.recent {
		first, err := api.Evaluate(ctx, json.RawMessage(`[{"nothingElse":true},{"transactions":{"count":">=0"}}]`), "")
		if err != nil {
			return err
		}
		e.since, e.epoch = optional(first.NewestTransaction, identity), first.Epoch
	}
	return nil
}

// resetMessage takes the place of the results, which are of transactions that are gone.
const resetMessage = "The sandbox was reset while the command waited. What happened before is gone: run the test again, then the command."

func (e *expected) evaluate(ctx context.Context, api *sandboxapi.Client, now func() time.Time) error {
	terms := expectations.Terms{Deadline: e.began.Add(e.within), Settle: e.settle}
	late := e.state.MetSince == nil && now().Sub(terms.Deadline) > lateLook
	var answered []expectations.Result
	if e.asked != nil {
		e.slots <- struct{}{}
		found, err := api.Evaluate(ctx, e.asked, e.since)
		<-e.slots
		var refused *sandboxapi.RefusedError
		if errors.As(err, &refused) && refused.Code == "too_many_rows" {
			e.state = terms.Unreadable(&e.state, now())
			return nil
		}
		if refused != nil && refused.Code == "overloaded" && now().Before(terms.Deadline) {
			return nil // evaluations of a sandbox come one after the other: it is asked again
		}
		if err != nil {
			return err
		}
		if e.epoch = cmp.Or(e.epoch, found.Epoch); found.Epoch != e.epoch {
			e.state = expectations.State{Verdict: expectations.Failed, Reason: expectations.ReasonSandboxReset, Message: resetMessage}
			return nil
		}
		for _, r := range found.Results {
			answered = append(answered, expectations.Result{Line: r.Line, Met: r.Met, Never: r.Exceeded, Observed: r.Observed})
		}
	}
	results := make([]expectations.Result, 0, len(e.lines))
	for i := range e.lines {
		switch {
		case e.lines[i].Merchant != nil:
			results = append(results, askMerchant(ctx, cmp.Or(e.merchant, http.DefaultClient), &e.lines[i]))
		case len(answered) == 0:
			return errors.New("the API left out the result of a line: is it older than this program?")
		default:
			results, answered = append(results, answered[0]), answered[1:]
		}
	}
	for i := range results {
		if r := &results[i]; late && (r.Met || r.Never) {
			r.Met, r.Never, r.Late = false, false, true
		}
	}
	e.state = terms.Judge(&e.state, results, now())
	return ctx.Err()
}

// lateLook is how long after the time of within an evaluation may begin, and still tell that a line was met in time. The
// last one before may take this long.
const lateLook = 5 * time.Second

const (
	merchantTimeout = 10 * time.Second
	maxMerchant     = 1 << 20 // maximum number of bytes that are read of an answer
	shownMerchant   = 200     // maximum number of characters of an answer in a report
)

// askMerchant sends the request of a line to the merchant's own program. The result is whether the answer meets the
// line.
func askMerchant(ctx context.Context, client *http.Client, l *expectations.Line) expectations.Result {
	r := expectations.Result{Line: l.String()}
	ctx, cancel := context.WithTimeout(ctx, merchantTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, l.Merchant.Get, nil)
	if err != nil {
		r.Observed = err.Error()
		return r
	}
	answer, err := client.Do(request)
	if err != nil {
		r.Observed = "no answer: " + err.Error()
		return r
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxMerchant))
	if err != nil {
		r.Observed = "no whole answer: " + err.Error()
		return r
	}
	shown := []rune(strings.ToValidUTF8(string(body), "�"))
	if len(shown) > shownMerchant {
		shown = append(shown[:shownMerchant], '…')
	}
	r.Observed = strings.TrimSpace(fmt.Sprintf("%d %s", answer.StatusCode, string(shown)))
	r.Met = answer.StatusCode >= 200 && answer.StatusCode < 300 && (l.Merchant.JSON == nil || contains(body, l.Merchant.JSON))
	return r
}

// contains reports whether the JSON text has all values of the JSON part. Objects in text may have more fields. Lists
// must have the same length.
func contains(text, part []byte) bool {
	var whole, wanted any
	return json.Unmarshal(text, &whole) == nil && json.Unmarshal(part, &wanted) == nil && includes(whole, wanted)
}

func includes(whole, wanted any) bool {
	switch wanted := wanted.(type) {
	case map[string]any:
		object, ok := whole.(map[string]any)
		for name, value := range wanted {
			found, has := object[name]
			ok = ok && has && includes(found, value)
		}
		return ok
	case []any:
		list, ok := whole.([]any)
		if ok = ok && len(list) == len(wanted); ok {
			for i := range wanted {
				ok = ok && includes(list[i], wanted[i])
			}
		}
		return ok
	default:
		return whole == wanted
	}
}

// failure returns an error if an expectation failed.
func failure(all []*expected) error {
	var failed []string
	for _, e := range all {
		if e.state.Verdict == expectations.Failed {
			failed = append(failed, e.name+": "+e.state.Message)
		}
	}
	if len(failed) == 0 {
		return nil
	}
	return negative("not_met", "%d of %d expectations failed. %s", len(failed), len(all), strings.Join(failed, " "))
}
