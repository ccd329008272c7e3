package generator

import (
	"slices"
	"testing"
	"time"
)

func TestPercentilesOfAHistogram(t *testing.T) {
	t.Parallel()
	var few, many, far Histogram
	for n := range 100 {
		few.Add(time.Duration(n+1) * time.Microsecond)
	}
	var exact []time.Duration
	for n := range 20_000 {
		d := time.Duration(n*n%999_983) * time.Microsecond
		many.Add(d)
		exact = append(exact, d)
	}
	slices.Sort(exact)
	far.Add(24 * time.Hour)
	cases := map[string]struct {
		histogram Histogram
		p         float64
		want      time.Duration
	}{
		"half of a hundred":        {few, 50, 50 * time.Microsecond},
		"99 of a hundred":          {few, 99, 99 * time.Microsecond},
		"all of a hundred":         {few, 100, 100 * time.Microsecond},
		"a tenth of a percent":     {few, 0.1, time.Microsecond},
		"half of many":             {many, 50, exact[len(exact)/2-1]},
		"999 of a thousand":        {many, 99.9, exact[len(exact)*999/1000-1]},
		"of none":                  {Histogram{}, 99, 0},
		"beyond what it is for":    {far, 99, 24 * time.Hour},
		"all of many, the longest": {many, 100, exact[len(exact)-1]},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := c.histogram.Percentile(c.p)
			// Never shorter within the precision, and at most 1/128 longer.
			if got < c.want || got > c.want+max(c.want/128, time.Microsecond) {
				if c.want < 20*time.Hour || got == 0 {
					t.Errorf("Percentile(%v) = %s, want %s", c.p, got, c.want)
				}
			}
		})
	}
}

func TestEveryBucketFollowsTheOneBeforeIt(t *testing.T) {
	t.Parallel()
	for bucket := range buckets - 1 {
		longest := longestIn(bucket)
		if got := bucketOf(longest); got != bucket {
			t.Fatalf("the longest time of bucket %d, %s, is counted in bucket %d", bucket, longest, got)
		}
		if got := bucketOf(longest + 1); got != bucket+1 {
			t.Fatalf("the time after the longest of bucket %d, %s, is counted in bucket %d", bucket, longest, got)
		}
	}
}

func TestMergedHistogramsAreAsOne(t *testing.T) {
	t.Parallel()
	var one, first, second, empty Histogram
	for n := range 1000 {
		d := time.Duration(n) * time.Millisecond
		one.Add(d)
		if n%3 == 0 {
			first.Add(d)
		} else {
			second.Add(d)
		}
	}
	first.Merge(&second)
	first.Merge(&empty)
	empty.Merge(&first)
	for _, merged := range []Histogram{first, empty} {
		if merged.Count() != one.Count() || merged.Max() != one.Max() {
			t.Errorf("merged: %d times, the longest %s; want %d, %s", merged.Count(), merged.Max(), one.Count(), one.Max())
		}
		for _, p := range []float64{1, 50, 99, 100} {
			if got, want := merged.Percentile(p), one.Percentile(p); got != want {
				t.Errorf("Percentile(%v) of the merged is %s, want %s", p, got, want)
			}
		}
	}
}
