package console

import (
	"strings"
	"time"

	"github.com/cauri-dev/cauri/server/sandboxes"
)

// htmxConfig is the configuration of htmx: no style in the page, nothing evaluated, and no balance in the browser's
// storage.
const htmxConfig = `{"includeIndicatorStyles":false,"allowEval":false,"historyCacheSize":0,"selfRequestsOnly":true}`

// always are the ids of the elements of the frame that are replaced when something changes.
var always = []string{"now", "title"}

// replaced returns the ids of what is replaced, for htmx.
func (p *page) replaced() string { return "#" + strings.Join(append(always, p.live...), ",#") }

// current reports whether a path of the sidebar is that of the page, or of a page above it.
func (v *visit) current(path string) bool {
	return v.path == path || strings.HasPrefix(v.path, path+"/")
}

// back returns the address of the page below {uri}/console, for the form of the appearance.
func (v *visit) back() string {
	if query := v.request.URL.RawQuery; query != "" {
		return v.path + "?" + query
	}
	return v.path
}

// here returns the address of the page relative to itself.
func (v *visit) here() string { return string(v.To(v.back())) }

// ahead returns how far sandbox time is ahead of real time.
func (v *visit) ahead(now time.Time) time.Duration { return v.clock.Now.Sub(now).Round(time.Second) }

// clockStands reports whether the clock moves only when it is advanced.
func (v *visit) clockStands() bool {
	return v.who.Sandbox.ClockMode == sandboxes.ManualClock || v.clock.Target != nil
}

// distance returns how far sandbox time is from real time, in words; empty if they are the same.
func (v *visit) distance() string {
	switch d := v.ahead(time.Now()); {
	case d > 2*time.Second:
		return v.Text("%s ahead", v.Duration(d))
	case d < -2*time.Second:
		return v.Text("%s behind", v.Duration(d))
	}
	return ""
}

// signedInFor says how long the session lasts.
func (v *visit) signedInFor() string {
	left := v.Duration(time.Until(v.session.ExpiresAt).Truncate(time.Minute))
	switch v.session.Role {
	case sandboxes.ConsoleViewer:
		return v.Text("You look at everything and change nothing, for %s.", left)
	case sandboxes.ConsoleHandset:
		return v.Text("You use one phone, for %s.", left)
	}
	return v.Text("Signed in for %s.", left)
}

// inTabbar is how many pages of [nav] the bar of a narrow screen has; the others are behind More.
const inTabbar = 4

func pressed(yes bool) string {
	if yes {
		return "true"
	}
	return "false"
}

// clockSays says which day it is in the sandbox, and how its clock moves.
func (v *visit) clockSays() string {
	day := v.LongDate(v.clock.Now)
	switch {
	case v.clock.Target != nil:
		return v.Text("%s, on the way to %s", day, v.Moment(*v.clock.Target, v.clock.Now))
	case v.clockStands():
		return v.Text("%s, stands until it is advanced", day)
	}
	return v.Text("%s, runs with real time", day)
}
