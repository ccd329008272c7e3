package report

import (
	"fmt"
	"time"
)

// Settings are how a run measures.
type Settings struct {
	Rounds       int      `json:"rounds"`
	Length       Duration `json:"length"`       // of a round of one side
	Sandboxes    int      `json:"sandboxes"`    // of the case controller
	Transactions int      `json:"transactions"` // of the case growth
	Small        bool     `json:"small"`        // a tenth of everything: to see that it works, not for figures
}

// Duration is a time that JSON has as 5s.
type Duration time.Duration

func (d Duration) String() string { return time.Duration(d).String() }

func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

func (d *Duration) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	*d = Duration(parsed)
	return err
}

// Size is a number of things, a tenth of it where little is measured.
func (s Settings) Size(n int) int {
	if s.Small {
		return max(1, n/10)
	}
	return n
}

func (s Settings) Check() error {
	if s.Rounds < 1 || s.Length < Duration(100*time.Millisecond) || s.Sandboxes < 0 || s.Transactions < 100 {
		return fmt.Errorf(
			"-rounds=%d -length=%s -sandboxes=%d -transactions=%d: write 1 round or more, of 100ms or more, sandboxes from 0, and transactions from 100",
			s.Rounds,
			s.Length,
			s.Sandboxes,
			s.Transactions,
		)
	}
	return nil
}
