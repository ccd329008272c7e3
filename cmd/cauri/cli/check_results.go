package cli

import "fmt"

// checked is one line of `cauri check`.
type checked struct {
	Check  string `json:"check"`
	Result string `json:"result"` // ok, FAILED or skipped
	Note   string `json:"note,omitempty"`
}

// checks collects the lines of `cauri check`.
type checks struct{ lines []checked }

func (c *checks) add(name, result, format string, args ...any) {
	c.lines = append(c.lines, checked{name, result, fmt.Sprintf(format, args...)})
}

// of adds a line for the result err, and returns whether err is nil.
func (c *checks) of(name string, err error, format string, args ...any) bool {
	if err != nil {
		c.add(name, resultFailed, "%s", Message(err))
		return false
	}
	c.add(name, resultOK, format, args...)
	return true
}

func (c *checks) failed() int {
	n := 0
	for _, line := range c.lines {
		if line.Result == resultFailed {
			n++
		}
	}
	return n
}

const (
	resultOK      = "ok"
	resultFailed  = "FAILED"
	resultSkipped = "skipped"
)
