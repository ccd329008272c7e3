package generator

import (
	"math/bits"
	"time"
)

// precision is the number of bits of a value: the relative error is at most 1/128, and values below 128 µs are exact to
// 1 µs.
const precision = 7

// buckets cover times up to 19 hours.
const buckets = (36 - precision + 1) << precision

// Histogram counts times in constant space. The zero value is empty.
type Histogram struct {
	counts []int64
	seen   int64
	most   time.Duration
}

// Add counts a time. Negative times count as zero.
func (h *Histogram) Add(d time.Duration) {
	if h.counts == nil {
		h.counts = make([]int64, buckets)
	}
	h.counts[bucketOf(d)]++
	h.seen++
	h.most = max(h.most, d)
}

// Merge adds the counts of another histogram.
func (h *Histogram) Merge(other *Histogram) {
	if other.seen == 0 {
		return
	}
	if h.counts == nil {
		h.counts = make([]int64, buckets)
	}
	for i, n := range other.counts {
		h.counts[i] += n
	}
	h.seen += other.seen
	h.most = max(h.most, other.most)
}

// Count is the number of times.
func (h *Histogram) Count() int64 { return h.seen }

// Max is the longest time.
func (h *Histogram) Max() time.Duration { return h.most }

// Percentile returns a time that p percent of the times do not exceed. It is at most 1/128 longer than the shortest
// such time. It is 0 for an empty histogram.
func (h *Histogram) Percentile(p float64) time.Duration {
	want := max(1, int64(float64(h.seen)*p/100+0.999999))
	var sum int64
	for i, n := range h.counts {
		if sum += n; sum >= want {
			return min(longestIn(i), h.most)
		}
	}
	return h.most
}

func bucketOf(d time.Duration) int {
	us := uint64(max(0, d.Microseconds()))
	if us < 1<<precision {
		return int(us)
	}
	shift := bits.Len64(us) - precision - 1
	return min(shift<<precision+int(us>>shift), buckets-1)
}

// longestIn is the longest time in a bucket.
func longestIn(bucket int) time.Duration {
	if bucket < 2<<precision {
		return time.Duration(bucket+1)*time.Microsecond - 1
	}
	shift := bucket>>precision - 1
	first := uint64(bucket-shift<<precision) << shift
	return time.Duration(first+1<<shift)*time.Microsecond - 1
}
