package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/test/load/chart"
)

func TestATargetIsOfTheRatioWhereThereIsAFloor(t *testing.T) {
	t.Parallel()
	alone := figure{Value: sampleOf(4, 5, 90)}
	beside := figure{Value: sampleOf(600), Floor: new(sampleOf(1000)), Ratio: new(sampleOf(0.6))}
	cases := map[string]struct {
		figure figure
		want   bool
	}{
		"no target":                {alone, true},
		"at most, its median":      {*new(alone).atMost(5), true},
		"above":                    {*new(alone).atMost(4.9), false},
		"the ratio, exactly":       {*new(beside).atLeast(0.6), true},
		"the ratio, not the value": {*new(beside).atLeast(0.61), false},
		"at most, of the ratio":    {*new(beside).atMost(2), true},
		"between two":              {*new(beside).atLeast(0.5).atMost(0.55), false},
		"below the least, alone":   {*new(alone).atLeast(6), false},
		"a floor without a target": {beside, true},
		"the least is met, alone":  {*new(alone).atLeast(5), true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := c.figure.holds(); got != c.want {
				t.Errorf("holds = %t, want %t", got, c.want)
			}
		})
	}
}

func TestAReportHoldsOnlyIfAllOfItDoes(t *testing.T) {
	t.Parallel()
	limit := 5.0
	good, bad := figure{Value: sampleOf(5), AtMost: &limit}, figure{Value: sampleOf(5.1), AtMost: &limit}
	cases := map[string]struct {
		report report
		want   bool
	}{
		"all hold":        {report{Figures: []figure{good, good}}, true},
		"nothing":         {report{}, true},
		"one does not":    {report{Figures: []figure{good, bad}}, false},
		"a problem":       {report{Figures: []figure{good}, Problems: []string{"money is missing"}}, false},
		"it was left out": {report{Skipped: "no time"}, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := c.report.holds(); got != c.want {
				t.Errorf("holds = %t, want %t", got, c.want)
			}
		})
	}
}

func TestExitCodes(t *testing.T) {
	t.Parallel()
	limit := 5.0
	slow := report{Figures: []figure{{Value: sampleOf(6), AtMost: &limit}}}
	broken := report{Problems: []string{"money is missing"}}
	cases := map[string]struct {
		rows  []report
		smoke bool
		err   error
		want  int
	}{
		"all is well":                  {[]report{{}}, false, nil, exitMet},
		"slow":                         {[]report{{}, slow}, false, nil, exitMissed},
		"slow in a short run":          {[]report{{}, slow}, true, nil, exitMet},
		"left out":                     {[]report{{}, {Skipped: "there is no PgBouncer"}}, false, nil, exitMissed},
		"left out in a short run":      {[]report{{}, {Skipped: "there was no time left"}}, true, nil, exitMet},
		"not conserved":                {[]report{broken}, false, nil, exitMissed},
		"not conserved in a short run": {[]report{slow, broken}, true, nil, exitMissed},
		"could not run":                {nil, false, errCannotMeasure, exitBroken},
		"could not run in a short run": {nil, true, errCannotMeasure, exitBroken},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := exitCode(c.rows, c.smoke, c.err, t.Output()); got != c.want {
				t.Errorf("the exit code is %d, want %d", got, c.want)
			}
		})
	}
}

func TestFiguresAreDrawnBesideTheirFloors(t *testing.T) {
	t.Parallel()
	b := &bench{}
	b.against("8 connections", "/s", sampleOf(50, 60, 40), sampleOf(100, 100, 100)).in("creates", "100 sandboxes", 8)
	b.figure("not drawn", 3, "")
	other := &bench{}
	other.add(figure{Value: sampleOf(70)}).in("creates", "100 sandboxes", 32)
	charts := chartsOf([]report{b.report, other.report})
	want := []chart.Series{
		{Name: "100 sandboxes", Points: []chart.Point{{X: 8, Y: 50, Low: 40, High: 60}, {X: 32, Y: 70, Low: 70, High: 70}}},
		{Name: "100 sandboxes: floor", Points: []chart.Point{{X: 8, Y: 100, Low: 100, High: 100}}},
	}
	if len(charts) != 1 || charts[0].Name != "creates" {
		t.Fatalf("charts %+v, want creates alone", charts)
	}
	if diff := cmp.Diff(want, charts[0].Series); diff != "" {
		t.Error(diff)
	}
	if _, err := charts[0].SVG(); err != nil {
		t.Error(err)
	}
	if frames[0].Series != nil {
		t.Error("the frame was drawn into")
	}
}
