package console

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/cauri-dev/cauri/server/expectations"
	"github.com/cauri-dev/cauri/server/ledger/observations"
	"github.com/cauri-dev/cauri/server/payments"
)

const (
	// expectationsOnPage is how many expectations a page has, each with its lines.
	expectationsOnPage = 20
	// rereadOpen and rereadDecided are the intervals in seconds at which the browser reads the page again. It must,
	// because no stream reports a verdict or a new expectation.
	rereadOpen, rereadDecided = 3, 10
)

// expectationsPage is a page of the sandbox's expectations. After a form was sent, it also has the results of the
// form's lines.
type expectationsPage struct {
	observations.ExpectationList
	first   bool                // it is the first page
	older   string              // address of the next page; empty: there is none
	form    string              // the lines as they were sent
	wrong   string              // why they cannot be evaluated; empty: they can
	tag     string              // tag of the language of wrong
	lines   []expectations.Line // that were sent
	results []expectations.Result
}

func (c *Console) expectations(v *visit) (page, error) {
	l, err := c.listExpectations(v)
	return l.page(v), err
}

// page returns the page. Only the first page is live: on the others, the rows stay where they are.
func (l *expectationsPage) page(v *visit) page {
	p := page{title: v.Text("Expectations"), body: expectationsShown(v, l)}
	if l.first {
		p.live, p.of, p.every, p.again = []string{"lead", "list"}, "none", rereadDecided, "/expectations"
	}
	if l.first && l.Open > 0 {
		p.every = rereadOpen
	}
	if l.wrong != "" {
		p.status = http.StatusUnprocessableEntity
	}
	return p
}

func (c *Console) listExpectations(v *visit) (*expectationsPage, error) {
	after := v.request.URL.Query().Get("after")
	l := &expectationsPage{first: after == ""}
	var err error
	l.ExpectationList, err = c.Ledger.ListExpectations(v.ctx(), v.who.Sandbox.Tenant, after, expectationsOnPage+1)
	if len(l.Expectations) > expectationsOnPage {
		l.Expectations = l.Expectations[:expectationsOnPage]
		l.older = pathWith("/expectations", url.Values{"after": {l.Expectations[expectationsOnPage-1].UID}})
	}
	return l, err
}

// evaluate shows whether the sandbox meets the lines of a form now. It records nothing.
func (c *Console) evaluate(v *visit) (page, error) {
	l, err := c.listExpectations(v)
	if err != nil {
		return page{}, err
	}
	l.form = v.form("lines")
	if l.lines, err = readLines(v.who.Sandbox.Known, l.form); err != nil {
		l.wrong, l.tag = v.unreadable(err)
		return l.page(v), nil
	}
	seen, err := c.Ledger.Observe(v.ctx(), v.who.Sandbox.Tenant, l.lines, nil)
	if errors.Is(err, observations.ErrTooManyRows) {
		l.wrong, l.tag = l.reasonOf(v, expectations.ReasonUnreadable), v.Tag
		return l.page(v), nil
	}
	if err != nil {
		return page{}, err
	}
	for i := range l.lines {
		l.results = append(l.results, expectations.Check(v.who.Sandbox.Known, &l.lines[i], &seen.Lines[i]))
	}
	return l.page(v), nil
}

// unreadable says why lines cannot be evaluated, in the page's language, and returns the tag of the language of the text.
func (v *visit) unreadable(err error) (wrong, tag string) {
	problems, isProblems := errors.AsType[expectations.Problems](err)
	if !isProblems {
		return v.Text("This is neither YAML nor JSON: %s", strings.TrimPrefix(err.Error(), "yaml: ")), v.Tag
	}
	all, tag := make([]string, len(problems)), v.Tag
	for i, p := range problems {
		own, known := v.Heard(p.Message)
		if !known {
			tag = "en"
		}
		all[i] = p.Field + " " + own
	}
	return v.Joined(all), tag
}

// readLines decodes lines in YAML or JSON: a list, a file for `cauri expect`, or a resource. It returns an error of the
// YAML, or [expectations.Problems].
func readLines(known *payments.Known, text string) (lines []expectations.Line, err error) {
	read, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		return nil, err
	}
	var file struct {
		Expect json.RawMessage                  `json:"expect"`
		Spec   struct{ Expect json.RawMessage } `json:"spec"`
	}
	if json.Unmarshal(read, &file) == nil { // otherwise it is a list
		read = []byte(cmp.Or(string(file.Expect), string(file.Spec.Expect)))
	}
	return expectations.ParseIn(known, read)
}

// lead returns a sentence with the number of expectations.
func (l *expectationsPage) lead(v *visit) string {
	if l.Open+l.Met+l.Failed == 0 {
		return v.Text("No test has said what has to happen in this sandbox.")
	}
	var said []string
	if l.Failed > 0 {
		said = append(said, v.Count(l.Failed, "1 has failed", "%s have failed"))
	}
	if l.Open > 0 {
		said = append(said, v.Count(l.Open, "1 is open", "%s are open"))
	}
	if l.Met > 0 {
		said = append(said, v.Count(l.Met, "1 is met", "%s are met"))
	}
	return v.Text("Of the expectations of this sandbox, %s.", strings.Join(said, ", "))
}

// verdict returns the verdict of an expectation, its reason, and its time, as a text. The times are in real time.
func (l *expectationsPage) verdict(v *visit, e *observations.Expectation) string {
	switch {
	case e.Verdict == expectations.Met:
		return v.Text("All lines were met and stayed so: decided %s, begun %s.", v.At(e.ChangedAt, l.Now), v.At(e.BeganAt, l.Now))
	case e.Verdict == expectations.Failed:
		return l.reasonOf(v, e.Reason) + " " + v.Text("Decided %s, begun %s.", v.At(e.ChangedAt, l.Now), v.At(e.BeganAt, l.Now))
	case e.DueAt != nil && l.Now.Sub(*e.DueAt) > late:
		return v.Text("What follows may be old: it was to be evaluated %s, and no worker of Cauri has done so.", v.At(*e.DueAt, l.Now))
	case e.Reason == expectations.ReasonSettling && e.DueAt != nil:
		return v.Text("All lines are met, and have to stay so %s.", v.Until(*e.DueAt, l.Now))
	}
	return l.reasonOf(v, e.Reason) + " " + v.Text("Open %s, %s left.", v.Since(e.BeganAt, l.Now), v.Duration(max(0, e.Deadline.Sub(l.Now))))
}

// reasonOf returns the sentence for the reason of a verdict.
func (l *expectationsPage) reasonOf(v *visit, reason string) string {
	switch reason {
	case "":
		return v.Text("No line was evaluated yet.")
	case expectations.ReasonExceeded:
		return v.Text("A line cannot be met any more.")
	case expectations.ReasonDeadlineExceeded:
		return v.Text("A line was not met in time.")
	case expectations.ReasonEvaluatedLate:
		return v.Text("It was evaluated too late to tell whether a line was met in time.")
	case expectations.ReasonUnreadable:
		return v.Text("The lines take too long to evaluate: write orderRef or reference under where.")
	}
	return v.Text("A line is not met yet.")
}

// unmet returns the first line that is not met. It returns nil if all are met, or if none was evaluated.
func unmet(e *observations.Expectation) *expectations.Line {
	for i, r := range e.Results {
		if !r.Met && i < len(e.Lines) {
			return &e.Lines[i]
		}
	}
	return nil
}

// exampleLine is a line in YAML.
const exampleLine = "- transactions: {where: {orderRef: order-1042, status: SUCCESS}, count: 1}"

// expectationManifest is a short resource for a sandbox.
func expectationManifest(v *visit) string {
	resource := `apiVersion: cauri.dev/v1alpha1
kind: Expectation
metadata: {name: order-1042-is-paid-once, namespace: ` + v.namespace + `}
spec:
  sandboxRef: {name: ` + v.name + `}
  expect:
  ` + exampleLine + `
  - nothingElse: true
`
	if v.dev {
		return resource
	}
	return "kubectl apply -f - <<'EOF'\n" + resource + "EOF"
}
