package main

import (
	"testing"
	"time"
)

func TestPercentile(t *testing.T) {
	t.Parallel()
	var hundred []time.Duration
	for n := range 100 {
		hundred = append(hundred, time.Duration(n+1))
	}
	cases := map[string]struct {
		sorted []time.Duration
		p      int
		want   time.Duration
	}{
		"half of a hundred":     {hundred, 50, 50},
		"99 of a hundred":       {hundred, 99, 99},
		"all of a hundred":      {hundred, 100, 100},
		"99 of one":             {[]time.Duration{7}, 99, 7},
		"half of two":           {[]time.Duration{1, 2}, 50, 1},
		"99 of two":             {[]time.Duration{1, 2}, 99, 2},
		"none is still a value": {hundred, 0, 1},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := percentile(c.sorted, c.p); got != c.want {
				t.Errorf("percentile = %d, want %d", got, c.want)
			}
		})
	}
}

func TestAReportIsMetOnlyIfAllOfItIs(t *testing.T) {
	t.Parallel()
	limit := 5.0
	cases := map[string]struct {
		report report
		want   bool
	}{
		"within the target": {report{Figures: []figure{{Value: 5, AtMost: &limit}}}, true},
		"no target":         {report{Figures: []figure{{Value: 50}}}, true},
		"beyond the target": {report{Figures: []figure{{Value: 1, AtMost: &limit}, {Value: 5.1, AtMost: &limit}}}, false},
		"a problem":         {report{Problems: []string{"money is missing"}}, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := c.report.met(); got != c.want {
				t.Errorf("met = %t, want %t", got, c.want)
			}
		})
	}
}
