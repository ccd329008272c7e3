package report

import (
	"fmt"
	"time"
)

// Settings are the settings of a run.
type Settings struct {
	Rounds       int      `json:"rounds"`
	Length       Duration `json:"length"`       // of a round of one side
	Sandboxes    int      `json:"sandboxes"`    // of the case controller
	Transactions int      `json:"transactions"` // of the cases growth and console
	Small        bool     `json:"small"`        // a tenth of everything: only to check that it works
}

// Duration is a time with the JSON form "5s".
type Duration time.Duration

func (d Duration) String() string { return time.Duration(d).String() }

func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

func (d *Duration) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	*d = Duration(parsed)
	return err
}

// Size is a number of things. A smoke run uses a tenth of it.
func (s Settings) Size(n int) int {
	if s.Small {
		return max(1, n/10)
	}
	return n
}

func (s Settings) Check() error {
	if s.Rounds < 1 || s.Length < Duration(100*time.Millisecond) || s.Sandboxes < 0 || s.Transactions < 100 {
		return fmt.Errorf(
			"-rounds=%d -length=%s -sandboxes=%d -transactions=%d: the minimum is 1 round, 100ms, 0 sandboxes and 100 transactions",
			s.Rounds,
			s.Length,
			s.Sandboxes,
			s.Transactions,
		)
	}
	return nil
}
