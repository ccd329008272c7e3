package report

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/test/load/chart"
)

func TestATargetIsOfTheRatioWhereThereIsABaseline(t *testing.T) {
	t.Parallel()
	alone := Figure{Value: SampleOf(4, 5, 90)}
	beside := Figure{Value: SampleOf(600), Baseline: new(SampleOf(1000)), Ratio: new(SampleOf(0.6))}
	cases := map[string]struct {
		figure Figure
		want   bool
	}{
		"no target":                   {alone, true},
		"at most, its median":         {*new(alone).WantAtMost(5), true},
		"above":                       {*new(alone).WantAtMost(4.9), false},
		"the ratio, exactly":          {*new(beside).WantAtLeast(0.6), true},
		"the ratio, not the value":    {*new(beside).WantAtLeast(0.61), false},
		"at most, of the ratio":       {*new(beside).WantAtMost(2), true},
		"between two":                 {*new(beside).WantAtLeast(0.5).WantAtMost(0.55), false},
		"below the least, alone":      {*new(alone).WantAtLeast(6), false},
		"a baseline without a target": {beside, true},
		"the least is met, alone":     {*new(alone).WantAtLeast(5), true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := c.figure.Holds(); got != c.want {
				t.Errorf("holds = %t, want %t", got, c.want)
			}
		})
	}
}

func TestAReportHoldsOnlyIfAllOfItDoes(t *testing.T) {
	t.Parallel()
	limit := 5.0
	good, bad := Figure{Value: SampleOf(5), AtMost: &limit}, Figure{Value: SampleOf(5.1), AtMost: &limit}
	cases := map[string]struct {
		report Report
		want   bool
	}{
		"all hold":        {Report{Figures: []Figure{good, good}}, true},
		"nothing":         {Report{}, true},
		"one does not":    {Report{Figures: []Figure{good, bad}}, false},
		"a problem":       {Report{Figures: []Figure{good}, Problems: []string{"money is missing"}}, false},
		"it was left out": {Report{Skipped: "no time"}, false},
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
	slow := Report{Figures: []Figure{{Value: SampleOf(6), AtMost: &limit}}}
	broken := Report{Problems: []string{"money is missing"}}
	cases := map[string]struct {
		cases []Report
		smoke bool
		err   error
		want  int
	}{
		"all is well":                  {[]Report{{}}, false, nil, ExitMet},
		"slow":                         {[]Report{{}, slow}, false, nil, exitMissed},
		"slow in a short run":          {[]Report{{}, slow}, true, nil, ExitMet},
		"left out":                     {[]Report{{}, {Skipped: "there is no PgBouncer"}}, false, nil, exitMissed},
		"left out in a short run":      {[]Report{{}, {Skipped: "there was no time left"}}, true, nil, ExitMet},
		"not conserved":                {[]Report{broken}, false, nil, exitMissed},
		"not conserved in a short run": {[]Report{slow, broken}, true, nil, exitMissed},
		"could not run":                {nil, false, ErrCannotMeasure, ExitBroken},
		"could not run in a short run": {nil, true, ErrCannotMeasure, ExitBroken},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := ExitCode(c.cases, c.smoke, c.err, t.Output()); got != c.want {
				t.Errorf("the exit code is %d, want %d", got, c.want)
			}
		})
	}
}

func TestFiguresAreDrawnBesideTheirBaselines(t *testing.T) {
	t.Parallel()
	b := &Report{}
	b.Against("8 connections", "/s", SampleOf(50, 60, 40), SampleOf(100, 100, 100)).In("creates", "100 sandboxes", 8)
	b.Figure("not drawn", 3, "")
	other := &Report{}
	other.Add(Figure{Value: SampleOf(70)}).In("creates", "100 sandboxes", 32)
	charts := ChartsOf([]Report{*b, *other})
	want := []chart.Series{
		{Name: "100 sandboxes", Points: []chart.Point{{X: 8, Y: 50, Low: 40, High: 60}, {X: 32, Y: 70, Low: 70, High: 70}}},
		{Name: "100 sandboxes: baseline", Points: []chart.Point{{X: 8, Y: 100, Low: 100, High: 100}}},
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
