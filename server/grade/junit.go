package grade

import (
	"fmt"

	"github.com/cauri-dev/cauri/server/junit"
)

// LineText is the result of a line in words.
type LineText struct {
	ID, What, Expects, Observed, Advice string
	Outcome                             Outcome
}

// Report returns the results as a suite with a case for each line. Without a letter, a case with the summary has failed: CI systems show
// a report whose cases are all skipped as passed.
func Report(letter, summary string, results []LineText) junit.Report {
	suite := junit.Suite{Name: "receiver"}
	if letter == "" {
		suite.Add(junit.Case{Class: suite.Name, Name: "a letter from A to F", Failure: &junit.Failure{Message: "There is no grade: " + summary}})
	}
	for _, r := range results {
		c := junit.Case{Class: suite.Name, Name: fmt.Sprintf("%s: %s", r.ID, r.What)}
		switch r.Outcome {
		case Failed:
			c.Failure = &junit.Failure{Message: r.Expects + ", observed: " + r.Observed, Text: r.Advice}
		case Skipped:
			c.Skipped = &junit.Skipped{Message: r.Observed}
		}
		suite.Add(c)
	}
	return junit.Report{Suites: []junit.Suite{suite}}
}
