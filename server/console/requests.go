package console

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/a-h/templ"
	"github.com/go-chi/chi/v5"

	"github.com/cauri-dev/cauri/server/advice"
	"github.com/cauri-dev/cauri/server/english"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/requests"
)

const (
	// requestsOnPage is how many rows a page of the request log has.
	requestsOnPage = 25
	// requestsEvery is the interval in seconds at which the browser reads the request log again. It must, because no
	// stream reports requests.
	requestsEvery = 3
)

// requestList is a page of the request log, with one request beside it.
type requestList struct {
	requestFilter
	rows         []loggedRequest
	one          *loggedRequest // nil: there is none
	chosen       bool           // whether the address of the page names it
	newer, older string         // addresses of the pages beside it; empty: there is none
	now          time.Time      // real time, as in the request log
}

// loggedRequest is a request in the log.
type loggedRequest struct {
	requests.Entry
	answer  refusal
	does    english.Text // what it changes in the console; empty for nothing
	instead english.Text // what to send instead; empty: not known
}

// refusal has fields of the answer to a refused request. The answers of /v1 and of the operators have them.
type refusal struct {
	Message string `json:"message"`
	Detail  struct {
		FieldErrors map[string][]string `json:"fieldErrors"`
	} `json:"detail"`
}

// requests shows the request log.
func (c *Console) requests(v *visit) (page, error) {
	l, err := c.listRequests(v)
	p := page{title: v.Text("Requests"), body: requestsPage(v, l)}
	if err != nil {
		return p, err
	}
	if l.chosen {
		p.title = l.one.Method + " " + l.one.Path
	}
	if l.newer == "" && len(l.wrong) == 0 { // rows on a later page stay where they are
		p.live, p.every = []string{"list"}, requestsEvery
		if !l.chosen {
			p.live = append(p.live, "lead")
		}
		if l.one != nil && !l.chosen { // the shown request stays when newer ones come
			p.again = l.with("one", l.one.requestID())
		}
	}
	return p, nil
}

// requestID returns the id of a request in the log, in the form of the API.
func (r *loggedRequest) requestID() string { return "log_" + r.ID.Code() }

// pathOf returns the address of a request beside the list.
func (l *requestList) pathOf(r *loggedRequest) string {
	return pathWith("/requests/"+r.requestID(), l.set)
}

// unfiltered returns the address of the list without its filters.
func (l *requestList) unfiltered() string { return (&listing{path: l.path}).with("show", l.show) }

func (c *Console) listRequests(v *visit) (*requestList, error) {
	query := v.request.URL.Query()
	l := &requestList{requestFilter: readRequestFilter(query), now: time.Now()}
	if id := chi.URLParam(v.request, "id"); id != "" {
		l.chosen = true
		if err := c.selectRequest(v, l, id); err != nil {
			return l, err
		}
	} else if err := c.selectRequest(v, l, query.Get("one")); err != nil && !errors.As(err, new(problem)) {
		return l, err
	}
	if len(l.wrong) > 0 {
		return l, nil
	}
	if l.show == showAll {
		if err := c.Service.LogAllRequests(v.ctx(), v.who); err != nil {
			return l, err
		}
	}
	ctx, tenant := v.ctx(), v.who.Sandbox.Tenant
	p, err := listReader[requests.Entry, payments.ID]{
		parse: payments.ParseCode, id: func(e *requests.Entry) string { return e.ID.Code() },
		after: func(id *payments.ID, limit int) ([]requests.Entry, error) {
			return c.Requests.List(ctx, tenant, l.Filter, id, limit)
		},
		before: func(id payments.ID, limit int) ([]requests.Entry, error) {
			return c.Requests.ListNewer(ctx, tenant, l.Filter, id, limit)
		},
	}.read(&l.listing, query, requestsOnPage)
	if err != nil {
		return l, err
	}
	l.newer, l.older = p.newer, p.older
	for i := range p.rows {
		l.rows = append(l.rows, c.readLogged(&p.rows[i]))
	}
	if l.one == nil && len(l.rows) > 0 {
		l.one = &l.rows[0]
	}
	return l, nil
}

// selectRequest sets the request to show beside the list. It returns a [problem] if the log has no request with this id.
func (c *Console) selectRequest(v *visit, l *requestList, id string) error {
	code, ok := strings.CutPrefix(id, "log_")
	parsed, err := payments.ParseCode(code)
	if !ok || err != nil {
		return newProblem(http.StatusNotFound, v.Text("This is not the id of a request"), v.Text("It begins with log_."),
			"not_found")
	}
	found, err := c.Requests.Find(v.ctx(), v.who.Sandbox.Tenant, parsed)
	if err != nil {
		return err
	}
	if found == nil {
		return newProblem(http.StatusNotFound, v.Text("This request is not in the log"),
			v.Text("The log keeps the newest requests, and a reset empties it."), "not_found")
	}
	one := c.readLogged(found)
	l.one = &one
	return nil
}

// readLogged returns a request of the log, with its decoded answer and the advice for it.
func (c *Console) readLogged(e *requests.Entry) loggedRequest {
	r := loggedRequest{Entry: *e}
	_ = json.Unmarshal(e.ResponseBody, &r.answer) // an answer in another form has no message
	if e.Actor != "" {
		r.does = changeAt(e.Method, strings.TrimPrefix(e.Path, changesPath))
	}
	if !r.succeeded() && strings.HasPrefix(e.Path, "/v1/") { // the advice is only for this API
		r.instead = advice.Instead(e.Error)
	}
	return r
}

// changeAt returns what a request to a path of the console changes; "" for nothing. A path without a parameter comes
// before those with one.
func changeAt(method, path string) (does english.Text) {
	parts := strings.Split(path, "/")
	for _, change := range changes {
		own := strings.Split(change.path, "/")
		fits := func(a, b string) bool { return a == b || strings.HasPrefix(a, "{") }
		if change.method == method && slices.EqualFunc(own, parts, fits) && (does == "" || change.path == path) {
			does = change.does
		}
	}
	return does
}

func (r *loggedRequest) succeeded() bool { return r.Kind == requests.Succeeded }

// isOf reports whether two requests are the same one.
func (r *loggedRequest) isOf(o *loggedRequest) bool { return o != nil && r.ID == o.ID }

// appearance returns the appearance of the answer: an icon, a CSS class and a text.
func (r *loggedRequest) appearance(v *visit) (icon, class, text string) {
	switch {
	case r.Status == 0:
		return "bolt", "wait", v.Text("no answer")
	case r.succeeded() && r.does != "":
		return "check", "ok", v.Text("done")
	case r.succeeded():
		return "check", "ok", fmt.Sprint(r.Status)
	}
	return "x", "bad", fmt.Sprint(r.Status)
}

// wrongFields returns the names of the wrong fields, sorted.
func (r *loggedRequest) wrongFields() (names []string) {
	for name := range r.answer.Detail.FieldErrors {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// quoted returns the attributes of the text about a request. They set the language to English if the text is a message
// of the API that the language of the page does not have.
func (r *loggedRequest) quoted(v *visit) templ.Attributes {
	if r.Status == 0 || r.does != "" || r.Kind == requests.Unauthenticated || len(r.wrongFields()) > 0 || r.answerText() == "" {
		return nil
	}
	if _, known := v.Heard(r.answerText()); known {
		return nil
	}
	return templ.Attributes{"lang": "en"}
}

// fewNames is the maximum number of names in a sentence.
const fewNames = 3

// reasonOf returns a short text for a row: why the request was refused, or what it did.
func (r *loggedRequest) reasonOf(v *visit) string {
	names := r.wrongFields()
	switch {
	case r.does != "":
		return v.Text(r.does)
	case r.Status == 0:
		return v.Text("the connection was closed without an answer")
	case r.Kind == requests.Unauthenticated:
		return v.Text("it came without a valid key")
	case len(names) == 1:
		return v.Text("%s is wrong", names[0])
	case len(names) > fewNames:
		return v.Text("%s fields are wrong", v.Number(int64(len(names))))
	case len(names) > 0:
		return v.Text("%s and %s are wrong", strings.Join(names[:len(names)-1], ", "), names[len(names)-1])
	}
	text, _ := v.Heard(r.answerText())
	short, _ := firstSentence(text)
	return short
}

// answerText returns the text of the API about the request: the message of a refusal, or else the hint.
func (r *loggedRequest) answerText() string {
	if r.succeeded() {
		return r.Hint
	}
	return cmp.Or(r.answer.Message, r.Hint)
}

// firstSentence returns the first sentence of a text, and the rest.
func firstSentence(text string) (first, rest string) {
	first, rest, found := strings.Cut(text, ". ")
	if found {
		first += "."
	}
	return first, rest
}

// verdict returns a sentence about the request: whether it was refused, and why.
func (r *loggedRequest) verdict(v *visit) string {
	names := len(r.wrongFields())
	switch {
	case r.Status == 0:
		return v.Text("The connection was closed without an answer.")
	case r.succeeded() && r.does != "":
		return v.Text("Done in this console: %s.", v.Text(r.does))
	case r.succeeded():
		return v.Text("This request succeeded.")
	case r.does != "":
		return v.Text("Not done in this console: %s.", v.Text(r.does))
	case names > 0:
		return v.Count(int64(names), "Refused: one field is wrong.", "Refused: %s fields are wrong.")
	case r.Kind == requests.Unauthenticated:
		return v.Text("Refused: it came without a valid key.")
	case r.answerText() != "":
		text, _ := v.Heard(r.answerText())
		return text
	}
	return v.Text("Refused.")
}

// actor returns who made a change: the role and the id of a console session.
func (r *loggedRequest) actor() (role, session string) {
	session, role, _ = strings.Cut(strings.TrimPrefix(r.Actor, "console session "), ", ")
	return role, session
}

// longID matches an id of Cauri in a path.
var longID = regexp.MustCompile(`\b([A-Za-z]{2,3}_)[0-9A-Z]{22}([0-9A-Z]{4})\b`)

// shortPath returns the path with short ids.
func (r *loggedRequest) shortPath() string { return longID.ReplaceAllString(r.Path, "$1…$2") }

// sentLine is a field or a parameter of a request. why says what is wrong with it.
type sentLine struct {
	name    string
	value   string // as JSON, with the comma after it
	missing bool
	why     []string
}

// sent returns the fields of the logged body, in their order, and then the missing fields that the answer names.
func (r *loggedRequest) sent() []sentLine {
	object := r.RequestBody
	if object == nil {
		object = r.Query
	}
	var lines []sentLine
	wrong := r.answer.Detail.FieldErrors
	in := json.NewDecoder(bytes.NewReader(object))
	_, _ = in.Token()
	seen := map[string]bool{}
	for in.More() {
		name, _ := in.Token()
		text, ok := name.(string)
		var value json.RawMessage
		if !ok || in.Decode(&value) != nil {
			break
		}
		seen[text] = true
		lines = append(lines, sentLine{name: text, value: escaped(value), why: wrong[text]})
	}
	for _, name := range r.wrongFields() {
		if !seen[name] && !slices.Contains(r.NotKept, name) {
			lines = append(lines, sentLine{name: name, missing: true, why: wrong[name]})
		}
	}
	for i := range max(0, len(lines)-1) {
		lines[i].value += ","
	}
	return lines
}

// answered returns the logged fields of the answer as indented JSON; "" for none.
func (r *loggedRequest) answered() string {
	var out bytes.Buffer
	if r.ResponseBody == nil || json.Indent(&out, r.ResponseBody, "", "  ") != nil {
		return ""
	}
	return escaped(out.Bytes())
}

// directions matches the characters that change the direction of writing.
var directions = regexp.MustCompile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")

// escaped returns JSON with escapes for the characters that change the direction of writing.
func escaped(text []byte) string {
	return directions.ReplaceAllStringFunc(string(text), func(c string) string {
		return fmt.Sprintf(`\u%04x`, []rune(c)[0])
	})
}

// notKept returns the parts of a request that the log does not keep: names of fields, the rest of the body, or the
// body.
func (r *loggedRequest) notKept(v *visit) string {
	names := slices.Clone(r.NotKept)
	for i, name := range names {
		switch name {
		case string(requests.RestOfBody):
			names[i] = v.Text(requests.RestOfBody)
		case string(requests.WholeBody):
			names[i] = v.Text(requests.WholeBody)
		}
	}
	return strings.Join(names, ", ")
}

// lead returns the sentence that describes the list, for example which request was refused last.
func (l *requestList) lead(v *visit) string {
	switch {
	case len(l.wrong) > 0:
		return v.Text("A filter cannot be read. The field says what to write.")
	case len(l.rows) == 0 && len(l.picks(v)) > 0:
		return v.Text("No request in the log matches.")
	case l.show == showChanges && len(l.rows) == 0:
		return v.Text("Nobody has changed anything in this console since the last reset.")
	case l.show == showChanges:
		return v.Text("What people changed in this console, newest first.")
	case l.show == showAll:
		return v.Text("What your code sent and what was answered. As long as you look, requests that succeed are kept too.")
	case len(l.rows) == 0:
		return v.Text("Nothing was refused since the last reset.")
	case l.newer != "":
		return v.Text("What your code sent, and why it was refused.")
	}
	newest := &l.rows[0]
	ago := v.Duration(l.now.Sub(newest.ReceivedAt))
	return v.Text("The last one was refused %s ago: %s.", ago, newest.Method+" "+newest.shortPath())
}
