package console_test

import (
	"encoding/json"
	"encoding/xml"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/server/grade"
	"github.com/cauri-dev/cauri/server/junit"
)

// cardOf returns the card of a receiver that fails some lines with 500.
func cardOf(failed ...string) grade.Card {
	card := grade.Card{Battery: grade.Battery, Letter: grade.A, StartedAt: time.Now().Add(-time.Minute), FinishedAt: time.Now()}
	for _, line := range grade.Lines() {
		r := grade.Result{Line: line.ID, Outcome: grade.Passed, Answers: []grade.Answer{{Status: http.StatusNoContent, DurationMs: 41}}}
		switch {
		case slices.Contains(failed, line.ID):
			r.Outcome, r.Answers = grade.Failed, append(r.Answers, grade.Answer{Status: http.StatusInternalServerError})
			card.Letter = max(card.Letter, line.Fails)
		case line.Group == grade.Standard:
			r.Outcome, r.Reason, r.Answers = grade.Skipped, grade.NoStandard, nil
		}
		card.Results = append(card.Results, r)
	}
	return card
}

func TestReportCard(t *testing.T) {
	f := newFixture(t)
	b := f.signedIn(checkout, key)
	b.get(checkout+"/webhooks/grade").has(t, "Your receiver has no grade yet", "This sandbox has no webhook", "cauri grade --receiver=")
	f.heard()
	if got := b.post(checkout, "/webhooks/grade", url.Values{}); got.status != http.StatusSeeOther {
		t.Fatalf("asking for a check is answered %d", got.status)
	}
	running := b.get(checkout + "/webhooks/grade")
	running.has(t, "The check runs.", "It waits for a worker")
	if !strings.Contains(running.text, `data-every="2"`) {
		t.Error("a check that runs is not read again")
	}
	card, err := json.Marshal(cardOf("same-event-twice", "refund-before-payment"))
	if err != nil {
		t.Fatal(err)
	}
	f.exec("update receiver_checks set began_at = now(), finished_at = now(), card = $1", card)
	got := b.get(checkout + "/webhooks/grade")
	got.has(t, "It answers 204, then 500 to the same event twice.", "Grade D", "To fix: the same event twice", "Why it matters",
		"Keep the tx_id of what is done", "A genuine event expects 2xx", "204 in 41 ms", "5 of 5", "not counted",
		"your receiver does not look at webhook-signature")
	if strings.Contains(got.text, "data-every") {
		t.Error("a check that has ended is read again")
	}
	var report junit.Report
	if err := xml.Unmarshal([]byte(b.get(checkout+"/webhooks/grade/report.xml").text), &report); err != nil {
		t.Fatal(err)
	}
	if s := report.Suites[0]; s.Failures != 2 || s.Skipped != 2 || s.Tests != len(grade.Lines()) {
		t.Errorf("the report has %d failures, %d skipped of %d", s.Failures, s.Skipped, s.Tests)
	}
	if got := b.post(checkout, "/webhooks/grade", url.Values{}); got.status != http.StatusTooManyRequests {
		t.Errorf("a second check within a minute is answered %d", got.status)
	}
	f.exec("update receiver_checks set problem = 'The sandbox has no signing secret yet.'")
	b.get(checkout+"/webhooks/grade").has(t, "The check could not be run.", "no signing secret yet")
	f.exec("update receiver_checks set card = null")
	redReport(t, b, "no signing secret yet")
}

// redReport checks that the report has one failed case, whose message contains a text.
func redReport(t *testing.T, b *browser, said string) {
	t.Helper()
	var report junit.Report
	if err := xml.Unmarshal([]byte(b.get(checkout+"/webhooks/grade/report.xml").text), &report); err != nil {
		t.Fatal(err)
	}
	if s := report.Suites[0]; s.Failures != 1 || !strings.Contains(s.Cases[0].Failure.Message, said) {
		t.Errorf("the report is %+v", s)
	}
}

// A card without a letter says what is probably wrong. Its report fails, because nothing was graded.
func TestReportCardWithoutALetter(t *testing.T) {
	f := newFixture(t)
	f.heard()
	b := f.signedIn(checkout, key)
	b.post(checkout, "/webhooks/grade", url.Values{})
	redReport(t, b, "The check runs.")
	for reason, said := range map[grade.Reason]string{
		grade.WrongURL: "The URL may be wrong", grade.Unreached: "No program was reached at the URL", grade.NeedsTransaction: "name a payment that it knows",
	} {
		card, err := json.Marshal(grade.Card{
			Battery: grade.Battery, StartedAt: time.Now(), FinishedAt: time.Now(),
			Results: []grade.Result{{Line: "genuine", Outcome: grade.Skipped, Reason: reason, Answers: []grade.Answer{{Status: 404}}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		f.exec("update receiver_checks set began_at = now(), finished_at = now(), card = $1", card)
		b.get(checkout+"/webhooks/grade").has(t, said, "0 of 1 lines passed.", "1 is not counted.")
		redReport(t, b, said)
	}
}
