package console

import (
	"maps"
	"slices"

	"github.com/cauri-dev/cauri/server/advice"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/webhooks"
)

// eventsOnPage is how many rows a page of the list of events has.
const eventsOnPage = 25

// eventList is a page of the list of events.
type eventList struct {
	ledger.EventFilter
	listing
	webhook      *ledger.Webhook
	callbacks    []callbackProblem
	rows         []eventRow
	newer, older string // addresses of the pages beside this one; empty: there is none
}

// eventRow is an event in the list.
type eventRow struct {
	ledger.Event
	ledger.OrderOf
	name string // of the SIM; empty: there is no SIM, or it has no name
}

// eventNames are the names of all events.
func eventNames() []string {
	var names []string
	for _, t := range payments.Types {
		names = append(names, t.Event())
	}
	return append(names, payments.CallbackEvent)
}

var eventFields = []filterOf[ledger.EventFilter]{
	{"state", func(f *ledger.EventFilter, value string) bool { return readOne(&f.State, value, ledger.EventStates) }, ""},
	{"event", readEventName, "%s"},
	{"tx", readTransaction, "transaction %s"},
	{"after", func(f *ledger.EventFilter, value string) bool { return readMoment(&f.CreatedAfter, value) }, "created from %s"},
	{"before", func(f *ledger.EventFilter, value string) bool { return readMoment(&f.CreatedBefore, value) }, "created before %s"},
}

func readEventName(f *ledger.EventFilter, value string) bool {
	if value == payments.CallbackEvent {
		f.Callback = new(true)
		return true
	}
	for _, t := range payments.Types {
		if t.Event() == value {
			f.Type = t
			return true
		}
	}
	return false
}

func readTransaction(f *ledger.EventFilter, value string) bool {
	id, err := payments.ParseID(value)
	f.Transaction = &id
	return err == nil
}

func (c *Console) webhooks(v *visit) (page, error) {
	l, err := c.listEvents(v)
	p := page{title: v.Text("Webhooks"), body: webhooksPage(v, l)}
	if l.newer == "" { // rows on a later page stay where they are
		p.live = []string{"lead", "health", "list"}
	}
	return p, err
}

func (c *Console) listEvents(v *visit) (*eventList, error) {
	query := v.request.URL.Query()
	l := &eventList{webhook: &ledger.Webhook{}}
	l.listing = readListing("/webhooks", eventFields, query, &l.EventFilter)
	var err error
	if l.webhook, err = c.Service.ReadWebhook(v.ctx(), v.who); err != nil || len(l.wrong) > 0 {
		return l, err
	}
	ctx, tenant := v.ctx(), v.who.Sandbox.Tenant
	callbacks, err := c.Ledger.UnacknowledgedCallbacks(ctx, tenant)
	if err != nil {
		return l, err
	}
	if l.callbacks, err = c.readCallbacks(v, callbacks); err != nil {
		return l, err
	}
	p, err := listReader[ledger.Event, payments.EventID]{
		parse: payments.ParseEventID, id: func(e *ledger.Event) string { return e.EventID().String() },
		after: func(id *payments.EventID, limit int) ([]ledger.Event, error) {
			return c.Ledger.ListEvents(ctx, tenant, l.EventFilter, id, limit)
		},
		before: func(id payments.EventID, limit int) ([]ledger.Event, error) {
			return c.Ledger.ListNewerEvents(ctx, tenant, l.EventFilter, id, limit)
		},
	}.read(&l.listing, query, eventsOnPage)
	if err != nil {
		return l, err
	}
	l.newer, l.older = p.newer, p.older
	l.rows, err = c.eventRows(v, p.rows)
	return l, err
}

// eventRows returns the rows of events, with their orders and the names of the SIMs.
func (c *Console) eventRows(v *visit, found []ledger.Event) ([]eventRow, error) {
	if len(found) == 0 {
		return nil, nil
	}
	orders, err := c.Ledger.OrdersOf(v.ctx(), v.who.Sandbox.Tenant, found)
	if err != nil {
		return nil, err
	}
	names, err := c.Ledger.PartyNames(v.ctx(), v.who.Sandbox.Tenant, slices.Collect(maps.Keys(orders)))
	rows := make([]eventRow, len(found))
	for i := range found {
		rows[i].Event = found[i]
		if of := found[i].Transaction; of != nil {
			rows[i].OrderOf, rows[i].name = orders[*of], names[*of]
		}
	}
	return rows, err
}

// none reports whether the sandbox has no events.
func (l *eventList) none() bool { return len(l.rows) == 0 && len(l.set) == 0 && l.newer == "" }

// value returns the text for the value of a parameter in its chip.
func (l *eventList) value(v *visit, name string) string {
	switch name {
	case "tx":
		return shortID(*l.Transaction)
	case "after":
		return v.Moment(*l.CreatedAfter, v.clock.Now)
	case "before":
		return v.Moment(*l.CreatedBefore, v.clock.Now)
	}
	return l.set.Get(name)
}

// picks returns the chips of the filters that are set.
func (l *eventList) picks(v *visit) (all []pick) {
	for _, field := range eventFields {
		if field.chip != "" && l.set.Has(field.name) {
			all = append(all, pick{v.Text(field.chip, l.value(v, field.name)), l.with(field.name, "")})
		}
	}
	return all
}

// curl returns the curl command for the same list of the API.
func (l *eventList) curl() string {
	var id string
	if l.Transaction != nil {
		id = l.Transaction.String()
	}
	return listCommand("/v1/events", parameter{"state", string(l.State)}, parameter{"event", l.set.Get("event")},
		parameter{"tx_id", id}, parameter{"created_after", timeOf(l.CreatedAfter)},
		parameter{"created_before", timeOf(l.CreatedBefore)})
}

// problem returns why events do not arrive, and what to do. Both are empty if they arrive.
func (l *eventList) problem(v *visit) (what, more string) {
	w := l.webhook
	if !w.Fails() {
		return "", ""
	}
	what, t := receiverSays(v, &w.EndpointHealth, w.URL)
	if w.LastDelivery != nil && w.Failures > 0 {
		more = v.Text("Before that it accepted.") + " "
	}
	more += t.advice
	if w.State == webhooks.EndpointPaused {
		more += " " + v.Text("After %s failures in a row over %s, Cauri sends one event a minute, and all others wait.",
			v.Number(ledger.BreakerFailures), v.Duration(ledger.BreakerAfter))
	}
	return what, more
}

// receiverSays returns why a receiver does not acknowledge events. The result what has one or two sentences about it.
// The result t has the same problem as separate texts. The parameter url is the present URL of the webhook.
func receiverSays(v *visit, h *webhooks.EndpointHealth, url string) (what string, t deliveryProblem) {
	a := advice.OfReceiver(h, url)
	t = describeProblem(v, &a, h.Cause())
	what = t.what + "."
	if a.Over() {
		return what, t // the sentence already has the number of events
	}
	if h.Failures > 0 && h.FailingSince != nil {
		what = v.Text("%s %s.", t.what, v.Since(*h.FailingSince, v.clock.Now))
	}
	switch n := h.Unacknowledged; {
	case n >= webhooks.MostUnacknowledged:
		what += " " + v.Text("More than %s events of the last 24 hours are not acknowledged.", v.Number(webhooks.MostUnacknowledged-1))
	case n > 0:
		what += " " + v.Count(int64(n), "1 event of the last 24 hours is not acknowledged.", "%s events of the last 24 hours are not acknowledged.")
	}
	return what, t
}

// blamed returns the path of the page of an event whose failure shows what is wrong with the receiver: the newest
// unacknowledged event, or else the last one that failed. If there is neither, it returns the path of the list.
func (l *eventList) blamed() string {
	switch w := l.webhook; {
	case w.Newest != nil:
		return "/webhooks/" + w.Newest.EventID().String()
	case w.LastFailed != nil:
		return "/webhooks/" + w.LastFailed.Event.String()
	}
	return "/webhooks"
}

// countOf returns how many events have a state, as a text. It returns "" for zero, or if the number is not known.
func (l *eventList) countOf(v *visit, s ledger.EventState) string {
	n := map[ledger.EventState]int64{ledger.EventQueued: int64(l.webhook.Waiting), ledger.EventFailed: l.webhook.Failed}[s]
	switch {
	case n == 0:
		return ""
	case s == ledger.EventQueued && n >= ledger.MostWaiting:
		return v.Number(ledger.MostWaiting-1) + "+"
	}
	return v.Number(n)
}

// lastAnswer returns the result of the last attempt in a few words.
func lastAnswer(v *visit, e *ledger.Event) string {
	switch {
	case e.Attempts == 0:
		return "–"
	case e.LastStatus != nil:
		return v.Text("answered %s", v.Number(int64(*e.LastStatus)))
	case e.LastError == nil:
		return v.Text("acknowledged")
	}
	return titleOfFailure(v, *e.LastError)
}

// forwardCommand returns the command that forwards the events to a program on a person's machine.
func forwardCommand(v *visit) string {
	if v.dev {
		return "cauri dev --webhook-url=http://localhost:3000/webhooks"
	}
	return "kubectl cauri -n " + v.namespace + " listen " + v.name + " \\\n  --forward-to=http://localhost:3000/webhooks"
}

// resourceTitle returns the title of a part of the sandbox's resource: where a person writes it.
func (v *visit) resourceTitle() string {
	if v.dev {
		return v.Text("In the file of -f")
	}
	return v.Text("In the resource")
}

// webhookResource returns the part of the resource that sets a webhook.
func webhookResource(v *visit) string {
	if v.dev {
		return "spec:\n  webhook: {url: \"http://localhost:3000/webhooks\"}"
	}
	return "spec:\n  webhook: {url: \"http://shop." + v.namespace + ".svc/webhooks\"}"
}
