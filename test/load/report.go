package main

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"
)

// report is what a scenario came to.
type report struct {
	Scenario string    `json:"scenario"`
	Tells    string    `json:"tells"`
	Begun    time.Time `json:"begun"`
	Before   machine   `json:"machineBefore"`
	After    machine   `json:"machineAfter"`
	Figures  []figure  `json:"figures"`
	Problems []string  `json:"problems,omitempty"` // what the audits found
}

// figure is one number that was measured.
type figure struct {
	Name   string   `json:"name"`
	Value  float64  `json:"value"`
	Unit   string   `json:"unit"`
	AtMost *float64 `json:"atMost,omitempty"` // the target
}

func (f figure) met() bool { return f.AtMost == nil || f.Value <= *f.AtMost }

func (r report) met() bool {
	return len(r.Problems) == 0 && !slices.ContainsFunc(r.Figures, func(f figure) bool { return !f.met() })
}

// machine is the state of the machine: a figure means little without it.
type machine struct {
	Cores int    `json:"cores"`
	Load  string `json:"load"` // averages of 1, 5 and 15 minutes
}

func (m machine) String() string { return fmt.Sprintf("%d cores, load %s", m.Cores, m.Load) }

func machineNow() machine {
	m := machine{Cores: runtime.NumCPU(), Load: "unknown"}
	if content, err := os.ReadFile("/proc/loadavg"); err == nil {
		if fields := strings.Fields(string(content)); len(fields) >= 3 {
			m.Load = strings.Join(fields[:3], " ")
		}
	}
	return m
}

// figure adds a number to the report.
func (b *bench) figure(name string, value float64, unit string) {
	b.report.Figures = append(b.report.Figures, figure{Name: name, Value: value, Unit: unit})
}

// target adds a number that may not be higher than a limit.
func (b *bench) target(name string, value float64, unit string, atMost float64) {
	b.report.Figures = append(b.report.Figures, figure{Name: name, Value: value, Unit: unit, AtMost: &atMost})
}

// delays adds the times from due to arrival, with the targets of the 99th percentile and of the latest, in milliseconds; a
// target of 0 is none. An event that came before it was due is a problem.
func (b *bench) delays(whose string, delays []time.Duration, p99, latest float64) {
	if len(delays) == 0 {
		b.problem("no event of %s arrived", whose)
		return
	}
	slices.Sort(delays)
	if delays[0] < 0 {
		b.problem("an event of %s arrived %s before it was due", whose, -delays[0])
	}
	for _, f := range []struct {
		name   string
		delay  time.Duration
		target float64
	}{
		{"p50", percentile(delays, 50), 0}, {"p99", percentile(delays, 99), p99}, {"max", delays[len(delays)-1], latest},
	} {
		name, value := fmt.Sprintf("%s: due to arrival, %s", whose, f.name), float64(f.delay.Microseconds())/1000
		if f.target > 0 {
			b.target(name, value, "ms", f.target)
		} else {
			b.figure(name, value, "ms")
		}
	}
}

// percentile is the smallest of the sorted values that p percent of them do not exceed.
func percentile(sorted []time.Duration, p int) time.Duration {
	return sorted[max(0, (len(sorted)*p+99)/100-1)]
}

func (b *bench) problem(format string, args ...any) {
	b.report.Problems = append(b.report.Problems, fmt.Sprintf(format, args...))
}
