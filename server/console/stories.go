package console

import (
	"bytes"
	"errors"
	"net/url"
	"slices"
	"time"

	"github.com/cauri-dev/cauri/server/expectations"
	"github.com/cauri-dev/cauri/server/httpfront"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/ledger/faultcounts"
	"github.com/cauri-dev/cauri/server/ledger/observations"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/service"
	"github.com/cauri-dev/cauri/server/stories"
)

// rereadStory is the interval in seconds at which the browser reads the verdict of a story again. It must, because time
// alone decides nothing here, and events are sent without a change of a payment.
const rereadStory = 3

// storyTime is how long the faults of a story act, in real time, if nobody ends it.
const storyTime = time.Hour

// storiesPage is the stories, and those that are played.
type storiesPage struct {
	playing []playedStory
	since   string // id of the newest transaction when the page began a story; empty: another page did, or there was none
	wrong   string // why no story was begun or ended; empty: nothing is wrong
}

// playedStory is a story that is played, with what its Expectation says now.
type playedStory struct {
	*stories.Story
	msisdn   string // that pays; empty: the sandbox has none
	lines    []expectations.Line
	results  []expectations.Result
	verdict  expectations.Verdict
	unlooked bool // the lines took too long to evaluate
}

// storiesOn returns the stories that are played: those whose faults are on, the newest first.
func (v *visit) storiesOn() (on []*stories.Story) {
	for _, f := range v.faults() {
		if s := stories.OfFault(f.Name); s != nil && f.Number != 0 && !slices.Contains(on, s) {
			on = append(on, s)
		}
	}
	return on
}

// told returns the stories that can happen with the operators of the sandbox: those of an operator's own API only where it is.
func (v *visit) told() []stories.Story {
	return slices.DeleteFunc(slices.Clone(stories.All()), func(s stories.Story) bool {
		return s.OwnAPI() != "" && !v.who.Sandbox.Has(s.OwnAPI())
	})
}

// plays reports whether a story is played.
func (v *visit) plays(s *stories.Story) bool {
	return slices.ContainsFunc(v.storiesOn(), func(on *stories.Story) bool { return on.Name == s.Name })
}

func (c *Console) stories(v *visit) (page, error) {
	l, err := c.readStories(v, v.request.URL.Query().Get("since"))
	return l.page(v), err
}

func (c *Console) readStories(v *visit, since string) (*storiesPage, error) {
	l := &storiesPage{since: since}
	for _, s := range v.storiesOn() {
		played := playedStory{Story: s, lines: s.Lines(), verdict: expectations.Open}
		var err error
		if played.msisdn, err = c.payerOf(v, s.Payer); err != nil {
			return l, err
		}
		if err = c.judgeStory(v, &played, since); err != nil {
			return l, err
		}
		l.playing = append(l.playing, played)
	}
	return l, nil
}

// page returns the page. It is read again while a story is played.
func (l *storiesPage) page(v *visit) page {
	p := page{title: v.Text("Stories"), body: storiesShown(v, l), live: []string{"lead", "playing"}, again: "/stories"}
	if l.since != "" {
		p.again = pathWith("/stories", url.Values{"since": {l.since}})
	}
	if len(l.playing) > 0 {
		p.every = rereadStory
	}
	return p
}

// lead returns a sentence about what is played.
func (l *storiesPage) lead(v *visit) string {
	switch {
	case len(l.playing) > 0:
		return v.Text("A story is being played. Do what it says, and see what your shop makes of it.")
	case v.mayChangeFaults():
		return v.Text("What happens to every shop that takes mobile money. Begin one, pay, and see what your shop does.")
	}
	return v.Text("What happens to every shop that takes mobile money.")
}

// beganAt returns the id after which the transactions of a story begin: that of the page that began it, or the first one
// at the sandbox time from which its faults act.
func (v *visit) beganAt(s *stories.Story, since string) *payments.ID {
	var began *payments.ID
	for _, f := range v.who.Sandbox.Faults {
		if of := stories.OfFault(f.Name); of == s && f.When.From != nil {
			began = new(payments.FirstID(*f.When.From))
		}
	}
	if id, err := payments.ParseID(since); err == nil && (began == nil || bytes.Compare(id[:], began[:]) > 0) {
		return &id
	}
	return began
}

// judgeStory evaluates the lines of a story's Expectation.
func (c *Console) judgeStory(v *visit, played *playedStory, since string) error {
	seen, err := c.Ledger.Observe(v.ctx(), v.who.Sandbox.Tenant, played.lines, v.beganAt(played.Story, since))
	if errors.Is(err, observations.ErrTooManyRows) {
		played.unlooked = true
		return nil
	}
	if err != nil {
		return err
	}
	played.verdict = expectations.Met
	for i := range played.lines {
		r := expectations.Check(v.who.Sandbox.Known, &played.lines[i], &seen.Lines[i])
		played.results = append(played.results, r)
		switch {
		case r.Never:
			played.verdict = expectations.Failed
		case !r.Met && played.verdict == expectations.Met:
			played.verdict = expectations.Open
		}
	}
	return nil
}

// payerOf returns a number of the sandbox that answers prompts in this way: a test number, or else a test client. It
// returns "" if there is none.
func (c *Console) payerOf(v *visit, does payments.Behavior) (string, error) {
	for _, n := range service.TestNumbers(v.who.Sandbox) {
		if n.Behavior == does {
			return n.MSISDN, nil
		}
	}
	clients, err := c.Ledger.ListTestClients(v.ctx(), v.who.Sandbox.Tenant, ledger.TestClientFilter{}, "", mostClients)
	for i := range clients {
		if clients[i].Behavior == does && !clients[i].Blocked {
			return clients[i].MSISDN, nil
		}
	}
	return "", err
}

// changeStory begins or ends a story.
func (c *Console) changeStory(v *visit) (httpfront.Answer, error) {
	var refused *refusedFault
	var since string
	var err error
	name := v.form("begin")
	if name != "" {
		refused, since, err = c.beginStory(v, stories.Named(name))
	} else {
		refused, err = c.endStory(v, stories.Named(v.form("end")))
	}
	if err != nil {
		return httpfront.Answer{}, err
	}
	if refused == nil {
		path := "/stories"
		if since != "" {
			path = pathWith(path, url.Values{"since": {since}})
		}
		return v.goTo(path), nil
	}
	var l *storiesPage
	err = c.renewing(v, func() (err error) {
		if err := c.readFrame(v.ctx(), v); err != nil {
			return err
		}
		l, err = c.readStories(v, "")
		return err
	})
	if err != nil {
		return httpfront.Answer{}, err
	}
	l.wrong = refused.text
	return c.refuse(v, refused, l.page(v))
}

// beginStory sets the faults of a story. It returns why it does not, and the newest transaction. A form that was sent
// twice is no reason.
func (c *Console) beginStory(v *visit, s *stories.Story) (refused *refusedFault, since string, err error) {
	if s == nil || len(s.Needs()) > 0 {
		return nil, "", errBadForm
	}
	if v.plays(s) {
		return nil, "", nil
	}
	webhook, err := c.Service.ReadWebhook(v.ctx(), v.who)
	if err != nil {
		return nil, "", err
	}
	if webhook.URL == "" {
		return v.conflict(v.Text("This sandbox has no webhook") + ". " + v.Text("Set spec.webhook.url of the SandboxEnvironment first.")), "", nil
	}
	msisdn, err := c.payerOf(v, s.Payer)
	if err == nil && msisdn == "" {
		return v.conflict(v.Text("No number of this sandbox approves payments: set spec.testNumbers to Standard.")), "", nil
	}
	if err != nil {
		return nil, "", err
	}
	now, err := c.Ledger.Clock(v.ctx(), v.who.Sandbox.Tenant)
	if err != nil {
		return nil, "", err
	}
	seen, err := c.Ledger.Observe(v.ctx(), v.who.Sandbox.Tenant, nil, nil)
	if err != nil {
		return nil, "", err
	}
	if seen.Newest != nil {
		since = seen.Newest.String()
	}
	for _, f := range s.Faults(now.Now.UTC()) {
		setting := faultcounts.Setting{Name: f.Name, Entry: service.EntryOf(&f), For: storyTime, By: "console"}
		if refused, err = v.refusal(c.Service.SetFault(v.ctx(), v.who, setting)); refused != nil || err != nil {
			_, notEnded := c.endStory(v, s)
			return refused, "", errors.Join(err, notEnded)
		}
	}
	return nil, since, nil
}

// endStory removes the faults of a story. It returns why it does not.
func (c *Console) endStory(v *visit, s *stories.Story) (refused *refusedFault, err error) {
	if s == nil {
		return nil, errBadForm
	}
	for _, f := range s.Faults(time.Time{}) {
		if refused, err = v.refusal(c.Service.RemoveFaults(v.ctx(), v.who, f.Name)); refused != nil || err != nil {
			return refused, err
		}
	}
	return nil, nil
}

// storyCommand returns the command that plays a story in its own sandbox.
func storyCommand(s *stories.Story) string { return "cauri dev --story=" + s.Name }
