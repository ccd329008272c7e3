package expectations

import (
	"encoding/json"
	"errors"
	"regexp"
	"strconv"
)

// MaxCount is the largest number that a count may name. An observation counts one row more than that, which is enough to
// say that there are too many.
const MaxCount = 9_999

// Count is a number or a range of numbers. The zero value is no count at all.
type Count struct {
	text     string
	min, max int
}

const countForm = `must be a number from 0 to 9999, or a range: ">=1", "<=3" or "2..4"`

var (
	errCount     = errors.New(countForm)
	errBackwards = errors.New(`must be a range from the smaller to the larger number, such as "2..4"`)
)

var countText = regexp.MustCompile(`^(?:([0-9]{1,4})|>=([0-9]{1,4})|<=([0-9]{1,4})|([0-9]{1,4})\.\.([0-9]{1,4}))$`)

// ParseCount reads the text of a count.
func ParseCount(text string) (Count, error) {
	found := countText.FindStringSubmatch(text)
	if found == nil {
		return Count{}, errCount
	}
	number := func(i int) int {
		n, _ := strconv.Atoi(found[i]) // the pattern allows digits only
		return n
	}
	c := Count{text: text, min: number(1), max: number(1)}
	switch {
	case found[2] != "":
		c.min, c.max = number(2), MaxCount+1
	case found[3] != "":
		c.min, c.max = 0, number(3)
	case found[4] != "":
		c.min, c.max = number(4), number(5)
	}
	if c.min > c.max {
		return Count{}, errBackwards
	}
	return c, nil
}

// UnmarshalJSON reads a number or the text of a range.
func (c *Count) UnmarshalJSON(text []byte) (err error) {
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		return err
	}
	switch value := value.(type) {
	case nil:
		return nil
	case string:
		*c, err = ParseCount(value)
	case float64:
		*c, err = ParseCount(string(text))
	default:
		err = errCount
	}
	return err
}

// MarshalJSON writes a number as a number.
func (c Count) MarshalJSON() ([]byte, error) {
	if n, err := strconv.Atoi(c.text); err == nil {
		return json.Marshal(n)
	}
	return json.Marshal(c.text)
}

// String returns the count as it was written.
func (c Count) String() string { return c.text }

func (c Count) includes(n int) bool { return c.min <= n && n <= c.max }
