package main

import (
	"strings"
	"testing"
	"time"
)

func TestOutage(t *testing.T) {
	from := time.Now()
	at := func(seconds ...float64) *series {
		s := &series{}
		for i := 0; i+1 < len(seconds); i += 2 {
			s.all = append(s.all, success{from.Add(inSeconds(seconds[i])), from.Add(inSeconds(seconds[i+1]))})
		}
		return s
	}
	cases := map[string]struct {
		pairs []float64 // when it began, when it succeeded
		want  outage
	}{
		"nothing succeeds":                     {nil, outage{10 * time.Second, 10 * time.Second}},
		"before and after do not count":        {[]float64{-2, -1, 11, 12}, outage{10 * time.Second, 10 * time.Second}},
		"a gap in the middle":                  {[]float64{1, 2, 2, 3, 8, 9}, outage{2 * time.Second, 6 * time.Second}},
		"a gap at the end":                     {[]float64{1, 2, 2, 3}, outage{2 * time.Second, 7 * time.Second}},
		"in any order":                         {[]float64{8, 9, 1, 2, 2, 3}, outage{2 * time.Second, 6 * time.Second}},
		"what was begun before is no recovery": {[]float64{-1, 1, 3, 5, 5, 9}, outage{5 * time.Second, 4 * time.Second}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s := at(c.pairs...)
			if got := s.outage(from, from.Add(10*time.Second)); got != c.want {
				t.Errorf("found %v, want %v", got, c.want)
			}
		})
	}
	s := at(-1, 1, 2, 3)
	if n := s.since(from); n != 1 {
		t.Errorf("%d were begun after the beginning, want 1", n)
	}
}

func inSeconds(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }

func TestReport(t *testing.T) {
	outageOf := func(seconds float64) outages { return outages{Answers: outage{Longest: inSeconds(seconds)}} }
	round := func(seconds float64) outcome {
		return outcome{Fault: faults[0], Before: outageOf(0.1), During: outageOf(seconds), Refused: answered{Nothing: 1, Unavailable: 2}}
	}
	text := report(7, []outcome{round(3), round(1), round(2)}, 1000, nil)
	for _, want := range []string{
		"3 rounds, seed 7, 1000 transactions: nothing lost, nothing doubled.",
		"| none, before each round's | 3 | 0.10 / 0.10 |", "| api killed | 3 | 2.00 / 3.00 |", "| 3, 6, 0 |\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the report lacks %q:\n%s", want, text)
		}
	}
	if wrong := report(
		7,
		nil,
		0,
		[]string{"round 1, api killed: one is lost"},
	); !strings.Contains(wrong, "**1 problems**") ||
		strings.Contains(wrong, "nothing lost") {
		t.Errorf("a report of what is wrong says\n%s", wrong)
	}
}
