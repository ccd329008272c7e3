package report

import (
	"slices"

	"github.com/cauri-dev/cauri/test/load/chart"
)

// frames are the charts without their series. The baseline of a figure is a series of its own.
var frames = []chart.Chart{
	{
		Name: "creates", Title: "Payments created, and what the baseline creates (medians and spread)",
		X: chart.Axis{Label: "connections", Log: true}, Y: chart.Axis{Label: "payments a second"},
	},
	{
		Name: "create-latency", Title: "Time of a create at a fixed rate of arrivals, 99th percentile (medians and spread)",
		X: chart.Axis{Label: "arrivals a second"}, Y: chart.Axis{Label: "milliseconds", Log: true},
	},
	{
		Name: "growth-large", Title: "First page of 20 of the sandbox that has a tenth of all, 99th percentile (medians and spread)",
		X: chart.Axis{Label: "transactions in the database", Log: true}, Y: chart.Axis{Label: "milliseconds", Log: true},
	},
	{
		Name: "growth-others", Title: "First page of 20 of the other sandboxes, 99th percentile (medians and spread)",
		X: chart.Axis{Label: "transactions in the database", Log: true}, Y: chart.Axis{Label: "milliseconds", Log: true},
	},
	{
		Name: "growth-creates", Title: "Payments created in a database that has grown, and in an empty one (medians and spread)",
		X: chart.Axis{Label: "transactions in the database", Log: true}, Y: chart.Axis{Label: "payments a second"},
	},
	{
		Name: "sandboxes", Title: "Payments created by 32 connections, and what the baseline creates (medians and spread)",
		X: chart.Axis{Label: "sandboxes", Log: true}, Y: chart.Axis{Label: "payments a second"},
	},
}

// ChartsOf merges the chart series of the cases. It omits charts without data.
func ChartsOf(cases []Report) (charts []chart.Chart) {
	for _, c := range frames {
		for _, measured := range cases {
			for _, f := range measured.Figures {
				if f.Plot == nil || f.Plot.Chart != c.Name {
					continue
				}
				addPoint(&c, f.Plot.Series, f.Plot.X, f.Value)
				if f.Baseline != nil {
					addPoint(&c, f.Plot.Series+": baseline", f.Plot.X, *f.Baseline)
				}
			}
		}
		if len(c.Series) > 0 {
			charts = append(charts, c)
		}
	}
	return charts
}

func addPoint(c *chart.Chart, series string, x float64, s Sample) {
	i := slices.IndexFunc(c.Series, func(other chart.Series) bool { return other.Name == series })
	if i < 0 {
		i = len(c.Series)
		c.Series = append(c.Series, chart.Series{Name: series})
	}
	c.Series[i].Points = append(c.Series[i].Points, chart.Point{X: x, Y: s.Median, Low: s.Low, High: s.High})
}
