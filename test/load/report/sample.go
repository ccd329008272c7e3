package report

import (
	"slices"
	"time"

	"github.com/cauri-dev/cauri/test/load/generator"
)

// Sample is a figure with the values of several rounds.
type Sample struct {
	Median float64   `json:"median"`
	Low    float64   `json:"low"`
	High   float64   `json:"high"`
	Rounds []float64 `json:"rounds"` // in round order
}

// SampleOf summarizes the values of all rounds. There must be at least one.
func SampleOf(rounds ...float64) Sample {
	sorted := slices.Sorted(slices.Values(rounds))
	middle := len(sorted) / 2
	median := sorted[middle]
	if len(sorted)%2 == 0 {
		median = (sorted[middle-1] + sorted[middle]) / 2
	}
	return Sample{Median: median, Low: sorted[0], High: sorted[len(sorted)-1], Rounds: rounds}
}

// ratioOf divides two samples round by round, because changes of the machine's speed affect both sides of a round.
func ratioOf(figure, baseline Sample) Sample {
	ratios := make([]float64, len(figure.Rounds))
	for i := range ratios {
		ratios[i] = figure.Rounds[i] / baseline.Rounds[i]
	}
	return SampleOf(ratios...)
}

// Percentile is the smallest sorted value that p percent of the values do not exceed.
func Percentile(sorted []time.Duration, p int) time.Duration {
	return sorted[max(0, (len(sorted)*p+99)/100-1)]
}

// Milliseconds converts a time to milliseconds.
func Milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// Measured is the result of one side in one round.
type Measured struct {
	Rate float64 // per second
	p50  float64 // milliseconds; 0 if no times were measured
	p95  float64
	p99  float64
}

// String formats the result for progress output.
func (m Measured) String() string {
	text := Number(m.Rate) + "/s"
	if m.p99 > 0 {
		text += ", p50 " + Number(m.p50) + " ms, p99 " + Number(m.p99) + " ms"
	}
	return text
}

func MeasuredOf(rate float64, times *generator.Histogram) Measured {
	at := func(percentile float64) float64 { return Milliseconds(times.Percentile(percentile)) }
	return Measured{Rate: rate, p50: at(50), p95: at(95), p99: at(99)}
}

// Measurements are the results of all rounds.
type Measurements []Measured

func (all Measurements) of(which func(Measured) float64) Sample {
	var values []float64
	for _, m := range all {
		values = append(values, which(m))
	}
	return SampleOf(values...)
}

func (all Measurements) Rates() Sample { return all.of(func(m Measured) float64 { return m.Rate }) }
func (all Measurements) P50s() Sample  { return all.of(func(m Measured) float64 { return m.p50 }) }
func (all Measurements) P95s() Sample  { return all.of(func(m Measured) float64 { return m.p95 }) }
func (all Measurements) P99s() Sample  { return all.of(func(m Measured) float64 { return m.p99 }) }
