package expectations

import (
	"fmt"
	"time"
)

// Bounds and defaults of the time within which an expectation must be met, and of the time for which it must stay met.
const (
	DefaultWithin = 30 * time.Second
	MinWithin     = 5 * time.Second // activity in a sandbox is seen within two seconds
	MaxWithin     = 24 * time.Hour
	DefaultSettle = 2 * time.Second
	MaxSettle     = time.Hour
)

// The values of the field since. It selects the transactions that count.
const (
	SinceReset    = "Reset"    // all transactions since the last reset
	SinceCreation = "Creation" // transactions after the creation of the expectation
)

// ParseDurations parses the fields within and settle. An empty text means the default. Its error is of type [Problems].
func ParseDurations(within, settle string) (w, s time.Duration, err error) {
	var problems Problems
	read := func(field, text string, or, least, most time.Duration) time.Duration {
		if text == "" {
			return or
		}
		d, err := time.ParseDuration(text)
		if err != nil || d < least || d > most {
			problems = append(problems, Problem{field, fmt.Sprintf("must be a duration from %s to %s, for example %s", least, most, or)})
		}
		return d
	}
	w = read("within", within, DefaultWithin, MinWithin, MaxWithin)
	s = read("settle", settle, DefaultSettle, 0, MaxSettle)
	if problems != nil {
		return 0, 0, problems
	}
	return w, s, nil
}
