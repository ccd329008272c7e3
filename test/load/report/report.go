// Package report has the results of runs: samples, targets, tables, pages, JSON and charts, and the comparison of
// several runs.
package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cauri-dev/cauri/test/load/chart"
)

// Figures are all results of a run, in the JSON form of its output.
type Figures struct {
	Begun    time.Time     `json:"begun"`
	Seconds  float64       `json:"seconds"`
	Settings Settings      `json:"settings"`
	Machine  machine       `json:"machine"` // before the first case
	Cases    []Report      `json:"rows"`
	Charts   []chart.Chart `json:"charts,omitempty"`
}

// Report is the result of a case.
type Report struct {
	Case     string   `json:"row"`
	Tells    string   `json:"tells"`
	Seconds  float64  `json:"seconds"`
	Before   machine  `json:"machineBefore"`
	After    machine  `json:"machineAfter"`
	Figures  []Figure `json:"figures"`
	Problems []string `json:"problems,omitempty"` // problems that the audits found
	Skipped  string   `json:"skipped,omitempty"`  // why the case was not measured
}

// Figure is one measured value, with or without a baseline.
type Figure struct {
	Name     string  `json:"name"`
	Unit     string  `json:"unit,omitempty"`
	Value    Sample  `json:"value"`
	Baseline *Sample `json:"floor,omitempty"` // the same value of the baseline, in the same rounds
	Ratio    *Sample `json:"ratio,omitempty"` // value divided by baseline

	// The targets: for the ratio if there is a baseline, otherwise for the value.
	AtLeast *float64 `json:"atLeast,omitempty"`
	AtMost  *float64 `json:"atMost,omitempty"`

	Plot  *plot `json:"plot,omitempty"`
	Shown bool  `json:"shown,omitempty"` // shown in the table without a target
}

// plot is the place of a figure in a chart.
type plot struct {
	Chart  string  `json:"chart"`
	Series string  `json:"series"`
	X      float64 `json:"x"`
}

// judged returns the sample that the target applies to.
func (f Figure) judged() Sample {
	if f.Ratio != nil {
		return *f.Ratio
	}
	return f.Value
}

func (f Figure) hasTarget() bool { return f.AtLeast != nil || f.AtMost != nil }

// inTable reports whether the table shows the figure. The details and the JSON have all figures.
func (f Figure) inTable() bool { return f.Shown || f.hasTarget() }

// Holds reports whether the median meets the targets.
func (f Figure) Holds() bool {
	median := f.judged().Median
	return (f.AtLeast == nil || median >= *f.AtLeast) && (f.AtMost == nil || median <= *f.AtMost)
}

// holds reports whether the case meets its targets. A requested case that was not measured does not.
func (r Report) holds() bool {
	return r.Skipped == "" && len(r.Problems) == 0 && !slices.ContainsFunc(r.Figures, func(f Figure) bool { return !f.Holds() })
}

// Add adds a figure to the report. The pointer is valid until the next Add.
func (r *Report) Add(f Figure) *Figure {
	r.Figures = append(r.Figures, f)
	return &r.Figures[len(r.Figures)-1]
}

// Figure adds a value without a target.
func (r *Report) Figure(name string, value float64, unit string) {
	r.Add(Figure{Name: name, Value: SampleOf(value), Unit: unit})
}

// Target adds a value with an upper limit.
func (r *Report) Target(name string, value float64, unit string, atMost float64) {
	r.Add(Figure{Name: name, Value: SampleOf(value), Unit: unit, AtMost: &atMost})
}

// Against adds a figure with its baseline.
func (r *Report) Against(name, unit string, value, baseline Sample) *Figure {
	ratio := ratioOf(value, baseline)
	return r.Add(Figure{Name: name, Unit: unit, Value: value, Baseline: &baseline, Ratio: &ratio})
}

func (f *Figure) WantAtLeast(limit float64) *Figure { f.AtLeast = &limit; return f }
func (f *Figure) WantAtMost(limit float64) *Figure  { f.AtMost = &limit; return f }

// Show makes the table show a figure without a target.
func (f *Figure) Show() *Figure { f.Shown = true; return f }

// In puts the figure into a chart.
func (f *Figure) In(chart, series string, x float64) *Figure {
	f.Plot = &plot{Chart: chart, Series: series, X: x}
	return f
}

// Problem adds a problem that an audit found, as one line.
func (r *Report) Problem(format string, args ...any) {
	r.Problems = append(r.Problems, strings.Join(strings.Fields(fmt.Sprintf(format, args...)), " "))
}

// Delays adds the times from due to arrival in milliseconds, with targets for the 99th percentile and the maximum. A
// target of 0 means none. An event that arrived before it was due is a problem.
func (r *Report) Delays(whose string, delays []time.Duration, p99, latest float64) {
	if len(delays) == 0 {
		r.Problem("no event of %s arrived", whose)
		return
	}
	slices.Sort(delays)
	if delays[0] < 0 {
		r.Problem("an event of %s arrived %s before it was due", whose, -delays[0])
	}
	for _, f := range []struct {
		name   string
		delay  time.Duration
		target float64
	}{
		{"p50", Percentile(delays, 50), 0}, {"p99", Percentile(delays, 99), p99}, {"max", delays[len(delays)-1], latest},
	} {
		name, value := fmt.Sprintf("%s: due to arrival, %s", whose, f.name), Milliseconds(f.delay)
		if f.target > 0 {
			r.Target(name, value, "ms", f.target)
		} else {
			r.Figure(name, value, "ms")
		}
	}
}
