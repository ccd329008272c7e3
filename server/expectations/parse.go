package expectations

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	kjson "sigs.k8s.io/json"

	"github.com/cauri-dev/cauri/server/payments"
)

// Problems is the error for invalid lines. Each message continues a sentence that begins with the field's name.
type Problems []Problem

// Problem is what is wrong with a field.
type Problem struct{ Field, Message string }

func (p Problems) Error() string {
	texts := make([]string, len(p))
	for i, problem := range p {
		texts[i] = problem.Field + " " + problem.Message
	}
	return strings.Join(texts, "; ")
}

// EventStates are the states of events that a line may name.
var EventStates = []string{"recorded", "queued", "delivered", "failed"}

// EventNames are the names of events that a line may name.
var EventNames = []string{
	payments.Collection.Event(), payments.Refund.Event(), payments.Disbursement.Event(), payments.CallbackEvent,
}

const (
	kinds       = "transactions, events, float, testClient, refunds or nothingElse"
	tooManyOfIt = "must be one line only"
)

// Parse reads the JSON array of an expectation's lines. Its error is of type [Problems] and names every wrong field.
func Parse(text []byte) ([]Line, error) { return parse(checker{}, text) }

// ParseIn is [Parse] for a sandbox: lines may name only what it knows.
func ParseIn(known *payments.Known, text []byte) ([]Line, error) {
	return parse(checker{known: known}, text)
}

// ParseWithMerchant is [Parse] that also accepts lines of the kind merchant, for callers that can send requests to the
// merchant's own program.
func ParseWithMerchant(text []byte) ([]Line, error) { return parse(checker{merchant: true}, text) }

func parse(c checker, text []byte) ([]Line, error) {
	var sent []json.RawMessage
	if err := json.Unmarshal(text, &sent); err != nil {
		return nil, Problems{{"expect", "must be a list of 1 to 50 lines, each one of " + kinds}}
	}
	if len(sent) == 0 || len(sent) > MaxLines {
		return nil, Problems{{"expect", fmt.Sprintf("must have 1 to %d lines, and has %d", MaxLines, len(sent))}}
	}
	lines := make([]Line, len(sent))
	for i := range sent {
		c.field = fmt.Sprintf("expect[%d]", i)
		c.line(sent[i], &lines[i])
	}
	if len(c.problems) > 0 {
		return nil, c.problems
	}
	return lines, nil
}

// checker collects the problems of lines.
type checker struct {
	merchant    bool
	known       *payments.Known
	field       string // of the present line
	nothingElse bool   // there was such a line
	problems    Problems
}

// wrong adds a problem of a field of the present line. With an empty field, it adds a problem of the whole line.
func (c *checker) wrong(field, format string, args ...any) {
	name := c.field
	if field != "" {
		name += "." + field
	}
	c.problems = append(c.problems, Problem{name, fmt.Sprintf(format, args...)})
}

func (c *checker) line(text []byte, l *Line) {
	unknown, err := kjson.UnmarshalStrict(text, l)
	if err != nil {
		c.wrong("", "is not a line: %s", strings.TrimPrefix(err.Error(), "json: "))
		return
	}
	for _, u := range unknown {
		c.wrong("", "has an %s. %s", u, known(u.Error()))
	}
	if len(unknown) > 0 {
		return
	}
	c.selecting(text)
	set := 0
	for _, is := range []bool{
		l.Transactions != nil, l.Events != nil, l.Float != nil, l.TestClient != nil, l.Refunds != nil,
		l.NothingElse != nil, l.Merchant != nil,
	} {
		if is {
			set++
		}
	}
	if set != 1 {
		c.wrong("", "must have exactly one of %s, and has %d: write a line for each", kinds, set)
		return
	}
	c.content(l)
}

// selecting adds a problem for each null and each empty text in what selects transactions and events. Without the value,
// the line selects more than its author meant.
func (c *checker) selecting(text []byte) {
	var sent map[string]any
	_ = json.Unmarshal(text, &sent) // the line has been read before
	for _, kind := range []string{"transactions", "events"} {
		fields, _ := sent[kind].(map[string]any)
		where, _ := fields["where"].(map[string]any)
		c.withoutValue(kind+".", fields)
		c.withoutValue(kind+".where.", where)
	}
}

func (c *checker) withoutValue(path string, fields map[string]any) {
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if value := fields[name]; (value == nil || value == "") && name != "count" { // a count is required
			c.wrong(path+name, "has no value, so that the line would select more: write one, or leave the field out")
		}
	}
}

// known returns a sentence with the valid fields of the object that has the unknown field.
func known(unknown string) string {
	const ofWhere = "orderRef, reference, type, status, operator, country, application, msisdn, createdAfter or createdBefore"
	switch {
	case strings.Contains(unknown, `"events.where.`):
		return "Write one of event, " + ofWhere + "."
	case strings.Contains(unknown, ".where."):
		return "Write one of " + ofWhere + "."
	case strings.Contains(unknown, `"transactions.`):
		return "Write where or count; what selects transactions stands under where."
	case strings.Contains(unknown, `"events.`):
		return "Write one of where, state, count or maxAttempts; what selects events stands under where."
	case strings.Contains(unknown, `"float.`):
		return "Write currency and equals."
	case strings.Contains(unknown, `"testClient.`):
		return "Write msisdn and balance."
	case strings.Contains(unknown, `"refunds.`):
		return "Write of and total."
	case strings.Contains(unknown, `"merchant.`):
		return "Write get and json."
	}
	return "Write one of " + kinds + "."
}

func (c *checker) content(l *Line) {
	switch {
	case l.Transactions != nil:
		c.count("transactions.count", l.Transactions.Count)
		c.where("transactions.where", &l.Transactions.Where)
	case l.Events != nil:
		c.count("events.count", l.Events.Count)
		c.where("events.where", &l.Events.Where.Where)
		c.oneOf("events.where.event", l.Events.Where.Event, EventNames)
		if kind := TypeOfEvent(l.Events.Where.Event); kind != "" && l.Events.Where.Type != "" && l.Events.Where.Type != string(kind) {
			c.wrong("events.where.type", "must be the type of the transactions that have this event: leave it out")
		}
		c.oneOf("events.state", l.Events.State, EventStates)
		if most := l.Events.MaxAttempts; most != nil && (*most < 0 || *most > MaxCount) {
			c.wrong("events.maxAttempts", "must be from 0 to %d", MaxCount)
		}
	case l.Float != nil:
		canonical := payments.CanonicalCurrency(l.Float.Currency)
		if !slices.Contains(c.known.Currencies(), canonical) {
			c.wrong("float.currency", "must be %s", payments.OneOf(c.known.Currencies()))
		}
		l.Float.Currency = string(canonical)
		c.amount("float.equals", l.Float.Equals)
	case l.TestClient != nil:
		if !payments.ValidMSISDN(l.TestClient.MSISDN) {
			c.wrong("testClient.msisdn", badNumber)
		}
		c.amount("testClient.balance", l.TestClient.Balance)
	case l.Refunds != nil:
		if l.Refunds.Of == "" {
			c.wrong("refunds.of", "is required: write the order, for example order-1042")
		}
		c.amount("refunds.total", l.Refunds.Total)
	case l.NothingElse != nil:
		c.nothing(*l.NothingElse)
	default:
		c.merchantLine(l.Merchant)
	}
}

const badNumber = "must be a number in international form: + and the code of its country, digits only"

func (c *checker) nothing(expected bool) {
	switch {
	case !expected:
		c.wrong("nothingElse", "must be true: leave the line out if there may be other transactions")
	case c.nothingElse:
		c.wrong("nothingElse", tooManyOfIt)
	}
	c.nothingElse = true
}

func (c *checker) merchantLine(m *Merchant) {
	if !c.merchant {
		c.wrong("merchant", "is for `cauri expect` only, since Cauri itself asks no URL: leave the line out, or use `cauri expect`")
		return
	}
	u, err := url.Parse(m.Get)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		c.wrong("merchant.get", "must be an http or https URL, for example http://localhost:3000/orders/1042")
	}
}

func (c *checker) count(field string, count Count) {
	if count.text == "" {
		c.wrong(field, `is required: write a number, for example 1, or a range: ">=1", "<=3" or "2..4"`)
	}
}

func (c *checker) amount(field string, amount *int64) {
	switch {
	case amount == nil:
		c.wrong(field, "is required: write an amount, for example 48500")
	case *amount < 0 || *amount > payments.MaxBalance:
		c.wrong(field, "must be from 0 to %d", int64(payments.MaxBalance))
	}
}

func (c *checker) where(field string, w *Where) {
	c.oneOf(field+".type", w.Type, payments.Texts(payments.Types))
	c.oneOf(field+".status", w.Status, payments.Texts(payments.Statuses))
	c.oneOf(field+".operator", w.Operator, payments.Texts(c.known.Operators()))
	c.oneOf(field+".country", w.Country, payments.Texts(c.known.Countries()))
	if w.MSISDN != "" && !payments.ValidMSISDN(w.MSISDN) {
		c.wrong(field+".msisdn", badNumber)
	}
	c.text(field+".orderRef", w.OrderRef, 120)
	c.text(field+".reference", w.Reference, 80)
	c.text(field+".application", w.Application, 80)
	c.time(field+".createdAfter", w.CreatedAfter)
	c.time(field+".createdBefore", w.CreatedBefore)
	after, hasAfter := payments.ParseTime(w.CreatedAfter)
	before, hasBefore := payments.ParseTime(w.CreatedBefore)
	if hasAfter && hasBefore && !before.After(after) {
		c.wrong(field+".createdBefore", "must be later than createdAfter")
	}
}

func (c *checker) oneOf(field, value string, names []string) {
	if value != "" && !slices.Contains(names, value) {
		c.wrong(field, "must be %s", payments.OneOf(names))
	}
}

func (c *checker) text(field, value string, most int) {
	if len([]rune(value)) > most || strings.ContainsRune(value, 0) {
		c.wrong(field, "must have at most %d characters, and no NUL", most)
	}
}

func (c *checker) time(field, value string) {
	if _, ok := payments.ParseTime(value); value != "" && !ok {
		c.wrong(field, "must be a time like 2026-12-01T00:00:00Z")
	}
}
