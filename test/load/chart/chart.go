// Package chart draws data series as SVG: lines of points with their spread, on linear or logarithmic axes.
package chart

import (
	"errors"
	"fmt"
	"math"
	"strings"
)

// Chart is the content of one picture, in the JSON form of the input file.
type Chart struct {
	Name   string   `json:"name"` // file name without extension
	Title  string   `json:"title"`
	X      Axis     `json:"x"`
	Y      Axis     `json:"y"`
	Series []Series `json:"series"`
}

// Axis is the x or the y axis.
type Axis struct {
	Label string `json:"label"`
	Log   bool   `json:"log,omitempty"` // logarithmic with powers of ten; otherwise linear from 0
}

// Series is one line.
type Series struct {
	Name   string  `json:"name"`
	Points []Point `json:"points"` // in drawing order
}

// Point is a value with its spread. Low and High are 0 if there is none.
type Point struct {
	X    float64 `json:"x"`
	Y    float64 `json:"y"`
	Low  float64 `json:"low,omitempty"`
	High float64 `json:"high,omitempty"`
}

// colours are distinguishable for color-blind readers (Okabe and Ito), on white and on black.
var colours = []string{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c8c8c"}

// The size of the picture in pixels.
const (
	width, height            = 760, 420
	left, right, top, bottom = 80, 40, 50, 60
	lineOfLegend             = 18
)

// check returns an error that says why a chart cannot be drawn.
func (c Chart) check() error {
	if c.Name == "" || strings.ContainsAny(c.Name, `/\`) {
		return fmt.Errorf("a chart has the name %q: it must be a valid file name", c.Name)
	}
	if len(c.Series) == 0 || len(c.Series) > len(colours) {
		return fmt.Errorf("chart %s has %d series: it must have 1 to %d", c.Name, len(c.Series), len(colours))
	}
	for _, s := range c.Series {
		if len(s.Points) == 0 {
			return fmt.Errorf("chart %s: the series %q has no points", c.Name, s.Name)
		}
		for _, p := range s.Points {
			for _, v := range []float64{p.X, p.Y, p.Low, p.High} {
				if math.IsNaN(v) || math.IsInf(v, 0) || v < 0 {
					return fmt.Errorf("chart %s: the series %q has the value %v: values must be 0 or more", c.Name, s.Name, v)
				}
			}
			if c.X.Log && p.X <= 0 || c.Y.Log && p.Y <= 0 {
				return errors.New("chart " + c.Name + ": a logarithmic axis cannot show 0")
			}
		}
	}
	return nil
}

// SVG draws the chart. It returns an error for a chart without data or with values that its axes cannot show.
func (c Chart) SVG() (string, error) {
	if err := c.check(); err != nil {
		return "", err
	}
	var xs, ys []float64
	for _, s := range c.Series {
		for _, p := range s.Points {
			xs, ys = append(xs, p.X), append(ys, p.Y)
			for _, end := range []float64{p.Low, p.High} {
				if end > 0 {
					ys = append(ys, end)
				}
			}
		}
	}
	legend := float64(lineOfLegend * len(c.Series))
	p := &picture{
		x: newScale(c.X, xs, left, width-right), y: newScale(c.Y, ys, height-bottom, top), height: height + legend,
	}
	p.frame(c)
	for i, s := range c.Series {
		p.series(s, colours[i])
		p.legend(s.Name, colours[i], height+float64(lineOfLegend*i))
	}
	return p.String(), nil
}

// picture is the SVG so far.
type picture struct {
	x, y   scale
	height float64
	body   strings.Builder
}

func (p *picture) add(format string, args ...any) { fmt.Fprintf(&p.body, format+"\n", args...) }

// String returns the whole SVG. The background is white.
func (p *picture) String() string {
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %.0f" font-family="sans-serif" font-size="12">
<rect width="100%%" height="100%%" fill="#ffffff"/>
%s</svg>
`, width, p.height, p.body.String())
}

// frame draws the title and the axes with their grid.
func (p *picture) frame(c Chart) {
	p.add(`<text x="%d" y="24" font-size="15" fill="#222222">%s</text>`, left, escape(c.Title))
	for _, tick := range p.x.ticks {
		at := p.x.at(tick)
		p.add(`<line x1="%.1f" y1="%d" x2="%.1f" y2="%d" stroke="#dddddd"/>`, at, top, at, height-bottom)
		p.add(`<text x="%.1f" y="%d" text-anchor="middle" fill="#444444">%s</text>`, at, height-bottom+18, number(tick))
	}
	for _, tick := range p.y.ticks {
		at := p.y.at(tick)
		p.add(`<line x1="%d" y1="%.1f" x2="%d" y2="%.1f" stroke="#dddddd"/>`, left, at, width-right, at)
		p.add(`<text x="%d" y="%.1f" text-anchor="end" fill="#444444">%s</text>`, left-8, at+4, number(tick))
	}
	p.add(`<text x="%d" y="%d" text-anchor="middle" fill="#222222">%s</text>`, (left+width-right)/2, height-bottom+42, escape(c.X.Label))
	middle := (top + height - bottom) / 2
	p.add(`<text x="16" y="%d" text-anchor="middle" fill="#222222" transform="rotate(-90 16 %d)">%s</text>`, middle, middle, escape(c.Y.Label))
}

// series draws a line, its points, and the spread of each.
func (p *picture) series(s Series, colour string) {
	var path strings.Builder
	for i, point := range s.Points {
		command := "L"
		if i == 0 {
			command = "M"
		}
		fmt.Fprintf(&path, "%s%.1f %.1f", command, p.x.at(point.X), p.y.at(point.Y))
	}
	p.add(`<path d="%s" fill="none" stroke="%s" stroke-width="2"/>`, path.String(), colour)
	for _, point := range s.Points {
		x := p.x.at(point.X)
		if point.Low > 0 && point.High > 0 {
			p.add(`<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s"/>`, x, p.y.at(point.Low), x, p.y.at(point.High), colour)
		}
		p.add(`<circle cx="%.1f" cy="%.1f" r="3.5" fill="%s"><title>%s: %s, %s</title></circle>`, x, p.y.at(point.Y), colour,
			escape(s.Name), number(point.X), number(point.Y))
	}
}

func (p *picture) legend(name, colour string, y float64) {
	p.add(`<rect x="%d" y="%.0f" width="12" height="12" fill="%s"/>`, left, y, colour)
	p.add(`<text x="%d" y="%.0f" fill="#222222">%s</text>`, left+18, y+10, escape(name))
}

func escape(text string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;").Replace(text)
}
