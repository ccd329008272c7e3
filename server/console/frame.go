package console

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/a-h/templ"

	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// htmxConfig is the configuration of htmx. htmx adds no style to the page, evaluates no code, and stores no page,
// because pages have balances. It handles new forms without a delay.
const htmxConfig = `{"includeIndicatorStyles":false,"allowEval":false,"historyCacheSize":0,"selfRequestsOnly":true,"defaultSettleDelay":0}`

// always has the ids of the elements of the frame that every update replaces.
var always = []string{
	"now", "title", "stopped", "on", "count-handsets", "count-payments", "count-webhooks", "count-requests", "count-faults",
	"pip-handsets", "pip-payments", "pip-webhooks", "pip-requests", "pip-faults",
}

// replaced returns the selector of the elements that htmx replaces.
func (p *page) replaced() string {
	if p.frameless {
		return "#stopped,#" + strings.Join(p.live, ",#")
	}
	return "#" + strings.Join(append(always, p.live...), ",#")
}

// framed returns a page in its frame.
func framed(v *visit, p page) templ.Component {
	if p.frameless {
		return handsetLayout(v, p)
	}
	return layout(v, p)
}

// current reports whether path is the path of the page or of one of its parent pages.
func (v *visit) current(path string) bool {
	return v.path == path || strings.HasPrefix(v.path, path+"/")
}

// back returns the page's path and query, below {uri}/console. The appearance form leads back to it.
func (v *visit) back() string {
	if query := v.request.URL.RawQuery; query != "" {
		return v.path + "?" + query
	}
	return v.path
}

// again returns a relative link, with its query, to the page from which the browser reads the live elements.
func (v *visit) again(p page) string { return string(v.To(cmp.Or(p.again, v.back()))) }

// ahead returns how far sandbox time is ahead of real time.
func (v *visit) ahead() time.Duration { return v.clock.Now.Sub(v.clockAt).Round(time.Second) }

// clockStands reports whether the clock is manual: it moves only when it is advanced.
func (v *visit) clockStands() bool {
	return v.who.Sandbox.ClockMode == sandboxes.ManualClock || v.clock.Target != nil
}

// distance returns the difference between sandbox time and real time, in words; "" if there is none.
func (v *visit) distance() string {
	switch d := v.ahead(); {
	case d > 2*time.Second:
		return v.Text("%s ahead", v.Duration(d))
	case d < -2*time.Second:
		return v.Text("%s behind", v.Duration(d))
	}
	return ""
}

// offset returns the difference as a signed duration: +1 h 01 min.
func (v *visit) offset() string {
	if v.ahead() < 0 {
		return "−" + v.Duration(v.ahead())
	}
	return "+" + v.Duration(v.ahead())
}

// signedInFor returns a sentence with the remaining time of the session.
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

// inTabbar is the number of pages of [nav] in the tab bar of a narrow screen. The button More shows the others.
const inTabbar = 4

func pressed(yes bool) string {
	if yes {
		return "true"
	}
	return "false"
}

// clockSays returns a text with the date in the sandbox, and how its clock moves.
func (v *visit) clockSays() string {
	day := v.LongDate(v.clock.Now)
	switch {
	case v.clock.Target != nil:
		return v.Text("%s, advances %s", day, v.Until(*v.clock.Target, v.clock.Now))
	case v.clockStands():
		return v.Text("%s, stands until it is advanced", day)
	}
	return v.Text("%s, runs with real time", day)
}

// readFaultsOn returns the faults that were set and can still act.
func (c *Console) readFaultsOn(ctx context.Context, v *visit) (on faults.Set, err error) {
	var set []*faults.Fault
	for _, f := range v.faults() {
		if f.Number != 0 && !f.Over(v.clock.Now, 0) {
			set = append(set, &f)
		}
	}
	used, err := c.Ledger.UsedUpFaults(ctx, v.who.Sandbox.Tenant, set)
	for _, f := range set {
		if !slices.Contains(used, f.Name) {
			on = append(on, *f)
		}
	}
	return on, err
}

// rereads returns the interval in seconds after which the browser reads the page again although nothing changes; 0:
// never. A fault that was set ends without a change.
func (v *visit) rereads(p page) int {
	every := p.every
	for _, f := range v.on {
		if ends := int(time.Until(f.Ends).Seconds()) + 1; !f.Ends.IsZero() && (every == 0 || ends < every) {
			every = max(1, ends)
		}
	}
	return every
}

// navCounts are the numbers beside the pages in the sidebar.
type navCounts struct {
	phones  int // phones that ring
	pending int // payments without an outcome
	unacked int // events and callbacks that are not acknowledged
	refused int // requests of the last hour
}

// refusedSince is how far back the sidebar counts refused requests.
const refusedSince = time.Hour

func (c *Console) readCounts(ctx context.Context, tenant int64) (n navCounts, err error) {
	health, err := c.Ledger.Health(ctx, tenant)
	if err != nil {
		return n, err
	}
	n.phones, n.pending = health.Phones, health.Pending
	if health.Fails() {
		n.unacked = max(1, health.Unacknowledged)
	}
	for _, callbacks := range health.Callbacks {
		n.unacked += callbacks.Count
	}
	n.refused, err = c.Requests.CountRefused(ctx, tenant, time.Now().Add(-refusedSince))
	return n, err
}

// navCount is the number beside a page.
type navCount struct {
	n    int
	text string // what it counts: the text after the number
	bad  bool
}

// countOf returns the number beside a page. It returns false if the page has none.
func (v *visit) countOf(path string) (navCount, bool) {
	switch path {
	case "/handsets":
		return navCount{v.counts.phones, v.Count(int64(v.counts.phones), "phone rings", "phones ring"), false}, true
	case "/payments":
		return navCount{v.counts.pending, v.Count(int64(v.counts.pending), "payment pending", "payments pending"), false}, true
	case "/webhooks":
		return navCount{v.counts.unacked, v.Count(int64(v.counts.unacked), "event is not acknowledged", "events are not acknowledged"), true}, true
	case "/requests":
		text := v.Count(int64(v.counts.refused), "request refused in the last hour", "requests refused in the last hour")
		return navCount{v.counts.refused, text, false}, true
	case "/faults":
		return navCount{len(v.on), v.Count(int64(len(v.on)), "fault was switched on", "faults were switched on"), false}, true
	}
	return navCount{}, false
}

// shown returns the number as a text. A + after it means that there may be more.
func (c navCount) shown(v *visit) string {
	if c.n >= ledger.MostCounted {
		return v.Number(ledger.MostCounted-1) + "+"
	}
	return v.Number(int64(c.n))
}
