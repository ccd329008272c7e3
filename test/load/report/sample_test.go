package report

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/test/load/generator"
)

func TestASampleHasItsMedianAndItsSpread(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		rounds []float64
		want   Sample
	}{
		"one":                               {[]float64{7}, Sample{7, 7, 7, []float64{7}}},
		"three":                             {[]float64{30, 10, 20}, Sample{20, 10, 30, []float64{30, 10, 20}}},
		"four":                              {[]float64{4, 1, 3, 2}, Sample{2.5, 1, 4, []float64{4, 1, 3, 2}}},
		"an outlier moves the spread alone": {[]float64{10, 11, 10, 900, 10}, Sample{10, 10, 900, []float64{10, 11, 10, 900, 10}}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, SampleOf(c.rounds...)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A machine that is slow in one round is slow for both sides.
func TestARatioIsThatOfEachRound(t *testing.T) {
	t.Parallel()
	got := ratioOf(SampleOf(600, 60, 500), SampleOf(1000, 100, 1000))
	if diff := cmp.Diff(Sample{0.6, 0.5, 0.6, []float64{0.6, 0.6, 0.5}}, got); diff != "" {
		t.Error(diff)
	}
}

func TestMeasuredTellsMillisecondsOfItsTimes(t *testing.T) {
	t.Parallel()
	var times generator.Histogram
	for n := range 1000 {
		times.Add(time.Duration(n+1) * 10 * time.Microsecond)
	}
	got := MeasuredOf(250, &times)
	if got.Rate != 250 || got.p50 < 5 || got.p50 > 5.05 || got.p99 < 9.9 || got.p99 > 10 {
		t.Errorf("measured %+v, want 250/s, p50 5 ms, p99 9.9 ms", got)
	}
}

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
			if got := Percentile(c.sorted, c.p); got != c.want {
				t.Errorf("percentile = %d, want %d", got, c.want)
			}
		})
	}
}
