package chart

import (
	"encoding/xml"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

func TestAScaleHasRoomForAllValues(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		axis   Axis
		values []float64
		ticks  []float64
	}{
		"rows of four sizes":    {Axis{Log: true}, []float64{1e4, 1e7, 1e5, 1e6}, []float64{1e4, 1e5, 1e6, 1e7}},
		"within a power of ten": {Axis{Log: true}, []float64{8, 32}, []float64{1, 2, 5, 10, 20, 50, 100}},
		"one power of ten":      {Axis{Log: true}, []float64{100}, []float64{100, 200, 500, 1000}},
		"below one":             {Axis{Log: true}, []float64{0.02, 0.5}, []float64{0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1}},
		"from zero":             {Axis{}, []float64{3, 41}, []float64{0, 5, 10, 15, 20, 25, 30, 35, 40, 45}},
		"from zero, few steps":  {Axis{}, []float64{1200}, []float64{0, 200, 400, 600, 800, 1000, 1200}},
		"from zero, more":       {Axis{}, []float64{2400}, []float64{0, 500, 1000, 1500, 2000, 2500}},
		"exactly a step":        {Axis{}, []float64{5000}, []float64{0, 1000, 2000, 3000, 4000, 5000}},
		"all are zero":          {Axis{}, []float64{0, 0}, []float64{0, 0.2, 0.4, 0.6, 0.8, 1}},
		"fractions in a tick":   {Axis{}, []float64{0.35}, []float64{0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScale(c.axis, c.values, 80, 740)
			if len(s.ticks) != len(c.ticks) {
				t.Fatalf("ticks %v, want %v", s.ticks, c.ticks)
			}
			for i, want := range c.ticks {
				if math.Abs(s.ticks[i]-want) > want/1e6 {
					t.Fatalf("ticks %v, want %v", s.ticks, c.ticks)
				}
			}
			for _, v := range c.values {
				if at := s.at(v); at < 80-1e-6 || at > 740+1e-6 {
					t.Errorf("%v is at %.1f, outside of the axis", v, at)
				}
			}
		})
	}
}

func TestEachPowerOfTenTakesTheSameRoom(t *testing.T) {
	t.Parallel()
	s := newScale(Axis{Log: true}, []float64{1e4, 1e7}, 0, 300)
	for i, v := range []float64{1e4, 1e5, 1e6, 1e7} {
		if at := s.at(v); math.Abs(at-100*float64(i)) > 1e-6 {
			t.Errorf("%v is at %.2f, want %d", v, at, 100*i)
		}
	}
}

func TestAPictureIsWellFormedAndHasEveryPoint(t *testing.T) {
	t.Parallel()
	c := Chart{
		Name: "growth", Title: `Lists & "creates" < 10,000,000 rows`, X: Axis{"rows", true}, Y: Axis{"ms", false},
		Series: []Series{
			{"p50 <b>", []Point{{X: 1e4, Y: 1}, {X: 1e5, Y: 2}, {X: 1e7, Y: 3}}},
			{"p99", []Point{{X: 1e4, Y: 5, Low: 4, High: 7}, {X: 1e7, Y: 20, Low: 18, High: 31}}},
		},
	}
	text, err := c.SVG()
	if err != nil {
		t.Fatal(err)
	}
	for decoder := xml.NewDecoder(strings.NewReader(text)); ; {
		if _, err := decoder.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatalf("the picture is no XML: %v\n%s", err, text)
		}
	}
	if got := strings.Count(text, "<circle"); got != 5 {
		t.Errorf("the picture has %d points, want 5", got)
	}
	// Larger values are higher up, and the axis has room for the spread.
	circles := regexp.MustCompile(`<circle cx="([0-9.]+)" cy="([0-9.]+)"`).FindAllStringSubmatch(text, -1)
	first, last := circles[0], circles[4]
	if y(t, last) >= y(t, first) || y(t, last) < top {
		t.Errorf("the value 20 is at %s and 1 at %s", last[2], first[2])
	}
	again, err := c.SVG()
	if err != nil || again != text {
		t.Errorf("drawn again, the picture is another one (%v)", err)
	}
}

func y(t *testing.T, circle []string) float64 {
	value, err := strconv.ParseFloat(circle[2], 64)
	if err != nil {
		t.Fatal(err)
	}
	return value
}

func TestChartsThatCannotBeDrawnAreErrors(t *testing.T) {
	t.Parallel()
	good := []Series{{"s", []Point{{X: 1, Y: 1}}}}
	for name, c := range map[string]Chart{
		"no name":              {Series: good},
		"a name with a folder": {Name: "../x", Series: good},
		"no series":            {Name: "c"},
		"no points":            {Name: "c", Series: []Series{{Name: "s"}}},
		"below zero":           {Name: "c", Series: []Series{{"s", []Point{{X: -1, Y: 1}}}}},
		"no number":            {Name: "c", Series: []Series{{"s", []Point{{X: 1, Y: math.NaN()}}}}},
		"zero on a log axis":   {Name: "c", X: Axis{Log: true}, Series: []Series{{"s", []Point{{X: 0, Y: 1}}}}},
	} {
		if _, err := c.SVG(); err == nil {
			t.Errorf("%s: was drawn", name)
		}
	}
}

func TestNumbersAreWrittenAsPeopleReadThem(t *testing.T) {
	t.Parallel()
	for value, want := range map[float64]string{0: "0", 0.25: "0.25", 12.5: "12.5", 999: "999", 1000: "1,000", 1e7: "10,000,000", 0.1 + 0.2: "0.3"} {
		if got := number(value); got != want {
			t.Errorf("number(%v) = %s, want %s", value, got, want)
		}
	}
}
