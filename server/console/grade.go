package console

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/cauri-dev/cauri/server/grade"
	"github.com/cauri-dev/cauri/server/httpfront"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/ledger/receiverchecks"
)

// gradePage is the report card of the sandbox's receiver.
type gradePage struct {
	webhook *ledger.Webhook
	check   *receiverchecks.Check // the newest check; nil: there was no check yet
	card    grade.Card            // the results of check so far; zero value: there are none
}

// rereadGrade is the interval in seconds at which the browser reads the page again while a check runs.
const rereadGrade = 2

func (c *Console) grade(v *visit) (page, error) {
	g, err := c.readGrade(v)
	if err != nil {
		return page{}, err
	}
	p := page{title: v.Text("Report card"), body: gradeShown(v, g), live: []string{"card"}, of: "event"}
	if g.runs() {
		p.every = rereadGrade
	}
	return p, nil
}

func (c *Console) readGrade(v *visit) (*gradePage, error) {
	g := &gradePage{}
	var err error
	if g.webhook, err = c.Service.ReadWebhook(v.ctx(), v.who); err != nil {
		return nil, err
	}
	g.check, err = c.Ledger.NewestReceiverCheck(v.ctx(), v.who.Sandbox.Tenant)
	if errors.Is(err, ledger.ErrNotFound) {
		return g, nil
	}
	if err == nil && g.check.Card != nil {
		err = json.Unmarshal(g.check.Card, &g.card)
	}
	return g, err
}

// checkReceiver asks for a check, and redirects to the page.
func (c *Console) checkReceiver(v *visit) (httpfront.Answer, error) {
	_, err := c.Service.CheckReceiver(v.ctx(), v.who, nil, false)
	var often receiverchecks.ErrTooManyChecks
	switch {
	case errors.As(err, &often) && often.Wait > 0:
		return httpfront.Answer{}, newProblem(http.StatusTooManyRequests, v.Text("The receiver was checked less than a minute ago"),
			v.Text("Wait for %s, and run it again.", v.Duration(often.Wait)), "too_many_checks")
	case errors.As(err, &often): // it runs already
	case errors.Is(err, ledger.ErrNoEndpoint):
		return httpfront.Answer{}, newProblem(http.StatusConflict, v.Text("This sandbox has no webhook"),
			v.Text("Set spec.webhook.url of the SandboxEnvironment first."), "no_webhook")
	case err != nil:
		return httpfront.Answer{}, err
	}
	return v.goTo("/webhooks/grade"), nil
}

// gradeReport sends the report card in the format of JUnit.
func (c *Console) gradeReport(v *visit) (httpfront.Answer, error) {
	var g *gradePage
	err := c.renewing(v, func() (err error) {
		g, err = c.readGrade(v)
		return err
	})
	if err == nil && g.check == nil {
		err = errNotFound
	}
	if err != nil {
		return httpfront.Answer{}, err
	}
	var said []grade.LineText
	for i := range g.card.Results {
		r := &g.card.Results[i]
		line := r.Of()
		why, fix := r.Advice()
		said = append(said, grade.LineText{
			ID: line.ID, What: line.What.String(), Expects: string(line.Expects), Observed: r.Observed().String(),
			Advice: string(why) + " " + fix.String(), Outcome: r.Outcome,
		})
	}
	summary := cmp.Or(g.check.Problem, g.card.Sentence().String())
	text, err := grade.Report(string(g.card.Letter), summary, said).Encode()
	header := secure.Clone()
	header.Set("Content-Disposition", `attachment; filename="`+v.name+`-receiver.xml"`)
	return httpfront.Answer{Status: http.StatusOK, Header: header, Body: xmlFile(text)}, err
}

// xmlFile is a body with an XML file.
type xmlFile []byte

// ContentType implements [httpfront.Body].
func (xmlFile) ContentType() string { return "application/xml; charset=utf-8" }

// Append implements [httpfront.Body].
func (f xmlFile) Append(text []byte) ([]byte, error) { return append(text, f...), nil }

// runs reports whether a check has not ended yet.
func (g *gradePage) runs() bool { return g.check != nil && g.check.FinishedAt == nil }

// classOfLetter returns the class of a letter in the style sheet.
func classOfLetter(l grade.Letter) string {
	switch {
	case l == "":
		return "quiet"
	case l <= grade.B:
		return "ok"
	case l <= grade.C:
		return "wait"
	}
	return "bad"
}

// titleOfGroup returns the title of a group of lines.
func titleOfGroup(v *visit, g grade.Group) string {
	switch g {
	case grade.Genuine:
		return v.Text("Lets in only what is genuine")
	case grade.Survives:
		return v.Text("Survives what really happens")
	case grade.Time:
		return v.Text("Answers in time")
	}
	return "Standard Webhooks"
}

// resultsOf returns the results of a group.
func (g *gradePage) resultsOf(of grade.Group) (results []*grade.Result) {
	for i := range g.card.Results {
		if r := &g.card.Results[i]; r.Of().Group == of {
			results = append(results, r)
		}
	}
	return results
}

// passedOf returns a text with two numbers: the lines that passed, and the lines that count. A skipped line does not count.
func passedOf(v *visit, results []*grade.Result) string {
	var passed, counted int64
	for _, r := range results {
		if r.Outcome != grade.Skipped {
			counted++
		}
		if r.Outcome == grade.Passed {
			passed++
		}
	}
	return v.Text("%s of %s", v.Number(passed), v.Number(counted))
}

// passed returns how many lines of the report card passed, as a text.
func (g *gradePage) passed(v *visit) string {
	text := v.Count(int64(g.card.Count(grade.Passed)), "1 of %s lines passed.", "%s of %s lines passed.", v.Number(int64(len(g.card.Results))))
	if n := int64(g.card.Count(grade.Skipped)); n > 0 {
		text += " " + v.Count(n, "1 is not counted.", "%s are not counted.")
	}
	return text
}

// ran returns when the check ran, as a text.
func (g *gradePage) ran(v *visit) string {
	return v.Text("Ran on %s at %s UTC in %s, battery %s, against the webhook URL of this sandbox and no other. Nothing was booked, no money moved.",
		v.Date(g.card.StartedAt), v.Clock(g.card.StartedAt),
		v.Duration(max(time.Second, g.card.FinishedAt.Sub(g.card.StartedAt).Round(time.Second))),
		v.Number(int64(g.card.Battery)))
}

// changed reports whether the receiver has failed to acknowledge an event since the check.
func (g *gradePage) changed() bool {
	since := g.webhook.NewestFailed
	return g.check.FinishedAt != nil && since != nil && g.webhook.Fails() && since.RealStartedAt.After(*g.check.FinishedAt)
}

// capital returns a text whose first letter is a capital one.
func capital(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + strings.TrimPrefix(text, text[:size])
}
