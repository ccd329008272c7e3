package cli

import (
	"errors"
	"io"
	"os"
	"strings"
	"time"

	"github.com/cauri-dev/cauri/server/expectations"
	"github.com/cauri-dev/cauri/server/junit"
)

// judgement is the result of an expectation in output for programs.
type judgement struct {
	Name    string               `json:"name"`
	Verdict expectations.Verdict `json:"verdict"`
	Reason  string               `json:"reason"`
	Message string               `json:"message"`
	Results []expectations.Dated `json:"results"`
}

func judgements(all []*expected) []judgement {
	said := make([]judgement, len(all))
	for i, e := range all {
		said[i] = judgement{e.name, e.state.Verdict, e.state.Reason, e.state.Message, e.state.Results}
	}
	return said
}

func judged(j *judgement) string { return j.Name }

// cells returns a row for each line. The row has the result, the expectation, the line and the observation. An
// expectation whose lines could not be evaluated has one row.
func cells(all []*expected) (rows [][]string) {
	for _, e := range all {
		for _, r := range e.state.Results {
			rows = append(rows, []string{lineVerdict(e, r.Met), e.name, r.Line, r.Observed})
		}
		if len(e.state.Results) == 0 {
			rows = append(rows, []string{lineVerdict(e, false), e.name, "", e.state.Message})
		}
	}
	return rows
}

func lineVerdict(e *expected, met bool) string {
	if met || e.state.Verdict == expectations.Met {
		return "met"
	}
	return "failed"
}

// printJudgements prints a table. The first column is a constant, not a text of a sandbox. GitHub Actions would execute
// a line that begins with two colons as a command.
func printJudgements(out io.Writer, all []*expected) {
	table(out, Table{Titles: "RESULT EXPECTATION LINE OBSERVED", Rows: cells(all), Shorten: "OBSERVED LINE"})
}

// expectReport returns a report with a suite for each expectation and a case for each line.
func expectReport(all []*expected) (report junit.Report) {
	for _, e := range all {
		report.Suites = append(report.Suites, junitSuiteOf(e))
	}
	return report
}

// writeJUnit writes a report. It writes nothing for an empty path.
func writeJUnit(path string, report junit.Report) error {
	if path == "" {
		return nil
	}
	text, err := report.Encode()
	if err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o644)
}

// junitSuiteOf returns a case for each line. The time of a line that is met ends when it was met, and the time of
// another line when the expectation failed.
func junitSuiteOf(e *expected) junit.Suite {
	took := func(until time.Time) string { return seconds(max(0, until.Sub(e.began))) }
	suite := junit.Suite{Name: e.name, Time: took(e.decided)}
	for i := range e.state.Results {
		r := &e.state.Results[i]
		c := junit.Case{Class: e.name, Name: r.Line, Time: took(r.At)}
		if lineVerdict(e, r.Met) != "met" {
			c.Time = took(e.decided)
			c.Failure = &junit.Failure{Message: "observed: " + r.Observed, Text: e.state.Failure(r)}
		}
		suite.Add(c)
	}
	if len(e.state.Results) == 0 {
		suite.Add(junit.Case{Class: e.name, Name: "evaluation", Time: took(e.decided),
			Failure: &junit.Failure{Message: "observed: " + e.state.Message, Text: e.state.Message}})
	}
	return suite
}

const summaryVariable = "GITHUB_STEP_SUMMARY"

// summaryFile returns the path of the file with the job summary of GitHub Actions; "" if the parameter asked is false.
func summaryFile(asked bool) (string, error) {
	path := os.Getenv(summaryVariable)
	if asked && path == "" {
		return "", usage(errors.New("--github: " + summaryVariable + " is not set. GitHub Actions sets it in each step: leave the flag out elsewhere"))
	}
	if !asked {
		return "", nil
	}
	return path, nil
}

// addSummary adds a table to the job summary. titles are lower-case words.
func addSummary(path, titles string, rows [][]string) error {
	if path == "" {
		return nil
	}
	var text strings.Builder
	words := strings.Fields(titles)
	text.WriteString("| " + strings.Join(words, " | ") + " |\n|" + strings.Repeat(" --- |", len(words)) + "\n")
	for _, row := range rows {
		for _, cell := range row {
			text.WriteString("| " + markdown(cell) + " ")
		}
		text.WriteString("|\n")
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = file.WriteString(text.String() + "\n")
	return errors.Join(err, file.Close())
}

// markdown escapes a text for Markdown. The result is one line.
func markdown(text string) string {
	var out strings.Builder
	for _, r := range Printable(text) {
		switch {
		case r == '<':
			out.WriteString("&lt;")
		case r == '>':
			out.WriteString("&gt;")
		case r == '&':
			out.WriteString("&amp;")
		case strings.ContainsRune("\\`*_{}[]()#+-.!|~@:", r):
			out.WriteByte('\\')
			out.WriteRune(r)
		default:
			out.WriteRune(r)
		}
	}
	return out.String()
}
