package httpapi_test

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/payments"
)

// Every refusal of an operator's own API names the part of the request that is wrong and says what it should be, in X-Cauri-Reason and in
// the request log. Its status and its body are the operator's.
//
// The requests follow from the tables of the operators: the example of each call is sent with each of its parts missing, empty, of another
// type, too long, or in another form. CAURI_TEST_WHOLE=1 sends more wrong values, and to each version of a call.
func TestRefusalsNameWhatIsWrong(t *testing.T) {
	for _, api := range operators.NativeAPIs() {
		t.Run(string(api.Operator), func(t *testing.T) {
			w := newWalk(t, api)
			whole, done := os.Getenv("CAURI_TEST_WHOLE") != "", map[string]bool{}
			for _, r := range api.Described() {
				if alike := r.Method + r.Name + r.Doc.Body; whole || !done[alike] {
					done[alike] = true
					w.calls(r, whole)
				}
			}
			if api.Operator == payments.Moov {
				w.soap()
			}
			w.log()
			t.Logf("%s: %d requests, %d refusals, %d name their part", api.Operator, w.sent, w.refused, w.named)
			if w.refused < 30 || w.named != w.refused {
				t.Errorf("%d of %d refusals name their part", w.named, w.refused)
			}
		})
	}
}

// walk sends wrong requests to the calls of an operator's API.
type walk struct {
	*conversation
	api                  *operatorapi.API
	examples             pageExamples
	parts                map[string]bool // names of the parts of requests
	seen                 *coverage
	sent, refused, named int
}

// partsOfAll are parts of requests that no table has.
var partsOfAll = []string{
	"the body", "path", "method", "Authorization", "Content-Type", "Content-Length", "token of SOAP", "the element in the Body",
	"the account holder in the path",
}

func newWalk(t *testing.T, api *operatorapi.API) *walk {
	c := newConversation(t, api)
	w := &walk{conversation: c, api: api, parts: map[string]bool{}, seen: newCoverage(t, api)}
	w.examples = ofOperators[api.Operator].examples(c.f)
	for _, name := range append(partsOfAll, api.KeyHeader) {
		w.parts[name] = true
	}
	for _, r := range api.Routes {
		w.know("", r.Doc.Request)
		w.know("", r.Doc.Headers)
		w.know("", r.Doc.Query)
		for _, parameter := range regexp.MustCompile(`\{(\w+)\}`).FindAllStringSubmatch(r.Path, -1) {
			w.parts[parameter[1]] = true
		}
	}
	for _, operation := range soapOperations(api) {
		for _, field := range operation.fields {
			w.parts[field] = true
		}
	}
	delete(w.parts, "")
	return w
}

// know notes the names of fields, with their paths.
func (w *walk) know(path string, fields []operatorapi.Field) {
	for _, f := range fields {
		w.parts[path+f.Name] = true
		w.know(path+f.Name+".", f.Fields)
	}
}

// ask sends a request and checks its answer.
func (w *walk) ask(what, method, path, body string, header http.Header) {
	w.t.Helper()
	r, err := http.NewRequestWithContext(w.t.Context(), method, w.f.url+w.base+path, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	r.Header = header
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		w.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	w.sent++
	code, detail, _ := strings.Cut(answer.Header.Get("X-Cauri-Reason"), ": ")
	if code == "" || answer.StatusCode == http.StatusAccepted {
		return
	}
	w.refused++
	if w.names(detail) {
		w.named++
	} else {
		w.t.Errorf("%s of %s %s is answered %d (%s)", what, method, path, answer.StatusCode, answer.Header.Get("X-Cauri-Reason"))
	}
	e := exchanged{method: method, path: strings.SplitN(path, "?", 2)[0], sent: []byte(body), answer: answer, body: text}
	if !w.isOperators(e, code) {
		w.t.Errorf("%s of %s %s is answered %d %s, which is not the operator's", what, method, path, answer.StatusCode, text)
	}
}

// isOperators reports whether an answer is one that the table of the operator has for a refusal of the call.
func (w *walk) isOperators(e exchanged, code string) bool {
	r := w.seen.routeOf(e.method, e.path)
	for _, why := range w.seen.whys() {
		for _, refusal := range []*operatorapi.Refusal{
			{Reason: why}, {Reason: why, Basic: true}, {Reason: why, ErrorCode: code}, {Reason: why, Token: operatorapi.NoToken},
			{Reason: why, Allow: []string{http.MethodPost}}, {Reason: why, Allow: []string{http.MethodGet, http.MethodHead}},
		} {
			if r == nil {
				refusal.Path = e.path
			}
			answer := w.seen.answerOf(r, refusal, e.sent)
			text, _ := json.Marshal(answer.Body)
			if is, isText := answer.Body.(operatorapi.Text); isText {
				text = []byte(is.Text)
			} else if answer.Body == nil {
				text = nil
			}
			if answer.Status == e.answer.StatusCode && string(w.seen.undrawn(text)) == string(w.seen.undrawn(e.body)) {
				return true
			}
		}
	}
	return false
}

var notDetail = regexp.MustCompile(`, or | or |, | and `)

// names reports whether a detail begins with the name of a part, or with several, and then says something.
func (w *walk) names(detail string) bool {
	if rest, isBody := strings.CutPrefix(detail, "the body "); isBody {
		return rest != ""
	}
	part, form, found := strings.Cut(detail, ": ")
	return found && form != "" && !slices.ContainsFunc(notDetail.Split(part, -1), func(name string) bool { return !w.parts[name] })
}

// calls sends the example of a call with each part wrong.
func (w *walk) calls(r *operatorapi.Route, whole bool) {
	w.t.Helper()
	header, path, body := w.example(r)
	with := func(change func(http.Header)) http.Header {
		changed := header.Clone()
		change(changed)
		return changed
	}
	for _, f := range append(r.Doc.Headers, operatorapi.Field{Name: w.api.KeyHeader}, operatorapi.Field{Name: "Authorization"}) {
		if f.Name == "" {
			continue
		}
		w.ask("no "+f.Name, r.Method, path, body, with(func(h http.Header) { h.Del(f.Name) }))
		for _, value := range []string{"", "x", strings.Repeat("x", 3000)}[:map[bool]int{false: 1, true: 3}[whole]] {
			w.ask(fmt.Sprintf("%s: %.10q", f.Name, value), r.Method, path, body, with(func(h http.Header) { h.Set(f.Name, value) }))
		}
	}
	for _, parameter := range regexp.MustCompile(`\{\w+\}`).FindAllString(r.Path, -1) {
		w.ask(parameter, r.Method, strings.Replace(path, w.parameter(parameter), "none", 1), body, header)
	}
	w.ask("the method", http.MethodDelete, path, body, header)
	w.ask("another path", r.Method, path+"/none", body, header)
	if query := r.Doc.Query; query != nil {
		w.ask("no query", r.Method, strings.SplitN(path, "?", 2)[0], body, header)
	}
	if r.Doc.Body == "" || r.Doc.Form {
		return
	}
	for _, wrong := range []string{"", "{", "[]", "null", "a=b"} {
		w.ask(fmt.Sprintf("the body %q", wrong), r.Method, path, wrong, header)
	}
	w.ask("another type", r.Method, path, body, with(func(h http.Header) { h.Set("Content-Type", "text/plain") }))
	var sent object
	if err := json.Unmarshal([]byte(body), &sent); err != nil {
		w.t.Fatal(err)
	}
	w.fields(r.Doc.Request, "", whole, func(at string, value any, remove bool) {
		changed, _ := json.Marshal(changedAt(sent, strings.Split(at, "."), value, remove))
		w.ask(fmt.Sprintf("%s: %.20v", at, value), r.Method, path, string(changed), header)
	})
}

// fields calls a function with wrong values for each field.
func (w *walk) fields(fields []operatorapi.Field, path string, whole bool, try func(at string, value any, remove bool)) {
	values := []any{"", object{}, strings.Repeat("9", 5000)}
	if whole {
		values = append(values, nil, "x", "\x00", 0, -1, 1.5, true, []any{}, "é'&")
	}
	for _, f := range fields {
		at := path + f.Name
		try(at, nil, true)
		for _, value := range values {
			try(at, value, false)
		}
		w.fields(f.Fields, at+".", whole, try)
	}
}

// changedAt is a copy of an object with another value at a path.
func changedAt(o object, path []string, value any, remove bool) object {
	changed := maps.Clone(o)
	switch inside, _ := o[path[0]].(object); {
	case len(path) > 1:
		changed[path[0]] = changedAt(inside, path[1:], value, remove)
	case remove:
		delete(changed, path[0])
	default:
		changed[path[0]] = value
	}
	return changed
}

// example is the example of a call as it succeeds, with new references.
func (w *walk) example(r *operatorapi.Route) (header http.Header, path, body string) {
	w.t.Helper()
	c := w.api.Derive(key)
	header = http.Header{"Content-Type": {"application/json"}}
	path, body = r.Path, r.Doc.Body
	if r.Doc.Form {
		header.Set("Content-Type", operatorapi.FormType)
		body = "grant_type=client_credentials"
	}
	for _, f := range r.Doc.Headers {
		if value := w.api.Examples[f.Name]; value != "" && !f.Optional {
			header.Set(f.Name, value)
		}
	}
	if w.api.KeyHeader != "" {
		header.Set(w.api.KeyHeader, c.Key)
	}
	switch r.Access {
	case operatorapi.ByToken:
		header.Set("Authorization", "Bearer "+w.examples.bearer(r))
	case operatorapi.ByUser:
		request := http.Request{Header: http.Header{}}
		request.SetBasicAuth(c.User, c.UserKey)
		if w.api.Login == nil {
			header.Set("Authorization", request.Header.Get("Authorization"))
		}
	}
	if r.Doc.Query != nil {
		path += "?username=" + c.User + "&password=" + c.UserKey
	}
	for name, value := range w.api.Variables {
		for entry, secret := range c.Secret {
			if "CAURI_"+strings.ToUpper(strings.ReplaceAll(entry, "-", "_")) == value {
				body = strings.ReplaceAll(body, name, secret)
			}
		}
	}
	for name, value := range w.api.Examples {
		path = strings.ReplaceAll(path, "{"+name+"}", value)
	}
	var replaced []string
	if w.examples.replaced != nil {
		replaced = w.examples.replaced(r)
	}
	replacer := strings.NewReplacer(replaced...)
	for name := range header {
		header.Set(name, replacer.Replace(header.Get(name)))
	}
	return header, replacer.Replace(path), replacer.Replace(body)
}

// parameter is the value of a parameter in the path of an example.
func (w *walk) parameter(name string) string { return w.api.Examples[strings.Trim(name, "{}")] }

// log checks that the request log says the same as the header.
func (w *walk) log() {
	w.t.Helper()
	for _, entry := range w.f.requests("") {
		hint, _ := entry["hint"].(string)
		if entry["error"] != nil && !w.names(hint) && entry["error"] != "rate_limited" {
			w.t.Errorf("the request log has %v %v with %v, and the hint %q", entry["method"], entry["path"], entry["error"], hint)
		}
	}
}

// soapOperation is an operation of a WSDL.
type soapOperation struct {
	name   string
	inside bool
	fields []string
}

// soapOperations are the operations in the WSDL of an API; none if it has no WSDL.
func soapOperations(api *operatorapi.API) (all []soapOperation) {
	for _, f := range api.Files {
		if !strings.HasSuffix(f.Path, "/UssdPush") {
			continue
		}
		in := xml.NewDecoder(strings.NewReader(f.Text("http://x")))
		depth := 0
		for {
			token, err := in.Token()
			if errors.Is(err, io.EOF) {
				return all
			}
			start, isStart := token.(xml.StartElement)
			if _, isEnd := token.(xml.EndElement); isEnd {
				depth--
			}
			if !isStart {
				continue
			}
			depth++
			if start.Name.Local != "element" {
				continue
			}
			name := start.Attr[0].Value
			switch {
			case depth == 4:
				all = append(all, soapOperation{name: name})
			case name == "request":
				all[len(all)-1].inside = true
			case name != "token":
				last := &all[len(all)-1]
				last.fields = append(last.fields, name)
			}
		}
	}
	return all
}

// soap sends each operation with each field wrong.
func (w *walk) soap() {
	w.t.Helper()
	m := w.f.moov(key)
	nobody := "2290195999999" // Push waits for no payer
	good := map[string]string{"msisdn": nobody, "destination": nobody, "amount": "5"}
	header := http.Header{"Content-Type": {"text/xml"}}
	for _, o := range soapOperations(w.api) {
		if strings.HasSuffix(o.name, "Response") {
			continue
		}
		for _, wrong := range append(o.fields, "token") {
			for _, value := range []string{"", "x", strings.Repeat("9", 3000)} {
				var fields []string
				for _, name := range o.fields {
					if given := good[name]; name != wrong {
						fields = append(fields, name, given)
					} else {
						fields = append(fields, name, value)
					}
				}
				body := m.soapBody(o.name, o.inside, fields...)
				if wrong == "token" {
					body = strings.Replace(body, m.token, value, 1)
				}
				w.ask(o.name+"."+wrong+": "+value[:min(len(value), 5)], http.MethodPost, ussdPush, body, header)
			}
		}
	}
	w.ask("an unknown operation", http.MethodPost, ussdPush, m.soapBody("refund", true), header)
	w.ask("no envelope", http.MethodPost, ussdPush, "<a/>", header)
	w.ask("another path", http.MethodPost, "/com.tlc.merchant.api/Other", m.soapBody("getBalance", true, "msisdn", ama[1:]), header)
}
