package main

import (
	"slices"
	"time"

	"github.com/cauri-dev/cauri/test/load/generator"
)

// sample is a figure as several rounds measured it.
type sample struct {
	Median float64   `json:"median"`
	Low    float64   `json:"low"`
	High   float64   `json:"high"`
	Rounds []float64 `json:"rounds"` // in their order
}

// sampleOf sums up the figures of all rounds, of which there is one at least.
func sampleOf(rounds ...float64) sample {
	sorted := slices.Sorted(slices.Values(rounds))
	middle := len(sorted) / 2
	median := sorted[middle]
	if len(sorted)%2 == 0 {
		median = (sorted[middle-1] + sorted[middle]) / 2
	}
	return sample{Median: median, Low: sorted[0], High: sorted[len(sorted)-1], Rounds: rounds}
}

// ratioOf compares two samples round by round: what the machine did in a round, it did to both.
func ratioOf(figure, floor sample) sample {
	ratios := make([]float64, len(figure.Rounds))
	for i := range ratios {
		ratios[i] = figure.Rounds[i] / floor.Rounds[i]
	}
	return sampleOf(ratios...)
}

// percentile is the smallest of the sorted values that p percent of them do not exceed.
func percentile(sorted []time.Duration, p int) time.Duration {
	return sorted[max(0, (len(sorted)*p+99)/100-1)]
}

// milliseconds is a time as it is told.
func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// measured is what one round of one side came to.
type measured struct {
	rate float64 // a second
	p50  float64 // milliseconds; 0 where no times were taken
	p99  float64
}

// String is for the progress.
func (m measured) String() string {
	text := number(m.rate) + "/s"
	if m.p99 > 0 {
		text += ", p50 " + number(m.p50) + " ms, p99 " + number(m.p99) + " ms"
	}
	return text
}

func measuredOf(rate float64, times *generator.Histogram) measured {
	return measured{rate: rate, p50: milliseconds(times.Percentile(50)), p99: milliseconds(times.Percentile(99))}
}

// measurements are those of all rounds.
type measurements []measured

func (all measurements) of(which func(measured) float64) sample {
	var values []float64
	for _, m := range all {
		values = append(values, which(m))
	}
	return sampleOf(values...)
}

func (all measurements) rates() sample { return all.of(func(m measured) float64 { return m.rate }) }
func (all measurements) p50s() sample  { return all.of(func(m measured) float64 { return m.p50 }) }
func (all measurements) p99s() sample  { return all.of(func(m measured) float64 { return m.p99 }) }
