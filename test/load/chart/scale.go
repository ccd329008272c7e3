package chart

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// scale maps values to positions on an axis.
type scale struct {
	log        bool
	low, high  float64 // values at the ends
	begin, end float64 // pixels
	ticks      []float64
}

// newScale makes a scale with room for all values.
func newScale(axis Axis, values []float64, begin, end float64) scale {
	s := scale{log: axis.Log, begin: begin, end: end, low: values[0], high: values[0]}
	for _, v := range values {
		s.low, s.high = min(s.low, v), max(s.high, v)
	}
	if s.log {
		s.powers()
	} else {
		s.steps()
	}
	return s
}

// powers puts the ends and the ticks at powers of ten. If there are few, it adds 2 and 5 times the powers.
func (s *scale) powers() {
	first, last := int(math.Floor(math.Log10(s.low))), int(math.Ceil(math.Log10(s.high)))
	if first == last {
		last++
	}
	s.low, s.high = math.Pow10(first), math.Pow10(last)
	between := []float64{1}
	if last-first <= 2 {
		between = []float64{1, 2, 5}
	}
	for power := first; power < last; power++ {
		for _, factor := range between {
			s.ticks = append(s.ticks, factor*math.Pow10(power))
		}
	}
	s.ticks = append(s.ticks, s.high)
}

// steps makes a scale from 0 to the first step at or above the highest value.
func (s *scale) steps() {
	if s.high == 0 {
		s.high = 1
	}
	step := math.Pow10(int(math.Floor(math.Log10(s.high))))
	for _, part := range []float64{5, 2} {
		if s.high/step < 10/part { // too few lines
			step /= part
			break
		}
	}
	count := math.Ceil(s.high/step - 1e-9)
	s.low, s.high = 0, step*count
	for i := range int(count) + 1 {
		s.ticks = append(s.ticks, step*float64(i))
	}
}

func (s scale) at(value float64) float64 {
	part := (value - s.low) / (s.high - s.low)
	if s.log {
		part = math.Log10(value/s.low) / math.Log10(s.high/s.low)
	}
	return s.begin + part*(s.end-s.begin)
}

// number formats a value for readers: 1,000,000 and 0.25.
func number(value float64) string {
	text := strconv.FormatFloat(value, 'g', 6, 64)
	if value >= 1000 && value < 1e15 {
		text = fmt.Sprintf("%.0f", value)
		for i := len(text) - 3; i > 0; i -= 3 {
			text = text[:i] + "," + text[i:]
		}
	}
	return strings.TrimSuffix(text, ".0")
}
