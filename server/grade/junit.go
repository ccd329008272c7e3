package grade

import (
	"fmt"

	"github.com/cauri-dev/cauri/server/junit"
)

// Said is the result of a line in words.
type Said struct {
	ID, What, Expects, Observed, Advice string
	Outcome                             Outcome
}

// Report returns the results as a suite with a case for each line.
func Report(results []Said) junit.Report {
	suite := junit.Suite{Name: "receiver"}
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
