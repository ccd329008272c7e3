package httpapi_test

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

var rewrite = flag.Bool("rewrite-exchanges", false, "write the answers of this run into testdata/native")

// The files of testdata/native are exchanges of clients with the operators' own APIs: the bytes that a client sends, and what it is
// answered. testdata/native/README.md explains them.
//
// What is sent and answered has the form of the API's description, and every call and every refusal that it names has an exchange.
func TestExchangesOfOperators(t *testing.T) {
	for _, api := range operators.NativeAPIs() {
		t.Run(string(api.Operator), func(t *testing.T) {
			files, err := filepath.Glob(filepath.Join("testdata", "native", string(api.Operator), "*.http"))
			if err != nil || len(files) == 0 {
				t.Fatalf("there are no exchanges (%v)", err)
			}
			seen := newCoverage(t, api)
			t.Cleanup(func() {
				if seen.files == len(files) && !t.Failed() { // and not only some, by -run
					seen.check(t)
				}
			})
			for _, file := range files {
				t.Run(strings.TrimSuffix(filepath.Base(file), ".http"), func(t *testing.T) { replay(newConversation(t, api), file, seen) })
			}
		})
	}
}

// replay sends the requests of a file one after the other to a sandbox of its own.
func replay(c *conversation, file string, seen *coverage) {
	t := c.t
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	defer seen.replayed()
	parts := regexp.MustCompile(`(?m)^### `).Split(string(text), -1)
	for i, part := range parts[1:] {
		title, exchange, _ := strings.Cut(part, "\n")
		if step, isStep := strings.CutPrefix(title, "do: "); isStep {
			c.do(step)
			continue
		}
		request, want, found := strings.Cut(exchange, "\nHTTP/1.1 ")
		if !found {
			t.Fatalf("%s: %q has no answer", file, title)
		}
		got := c.exchange(title, request)
		seen.note(t, title, got)
		want = strings.TrimRight("HTTP/1.1 "+want, "\n")
		if form := c.pattern(want); !form.MatchString(got.text) {
			if !*rewrite {
				t.Fatalf("%s: answered\n%s\nwant\n%s", title, got.text, want)
			}
			parts[i+1] = title + "\n" + request + "\n" + c.named(got.text) + "\n\n"
		} else {
			c.learn(form, got.text)
		}
	}
	if *rewrite {
		if err := os.WriteFile(file, []byte(strings.Join(parts, "### ")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// conversation is a client of an operator's own API, with what it knows by name.
type conversation struct {
	t     *testing.T
	f     *fixture
	base  string
	root  bool // whether requests go to the root of a host, without base
	names map[string]string
	fill  func(name string) string // makes what is not known yet
}

func newConversation(t *testing.T, api *operatorapi.API) *conversation {
	f := newFixture(t)
	f.config.OpeningFloat = map[payments.Currency]int64{payments.RWF: 5000}
	f.config.CallbackHosts = []string{"shop.example"}
	f.enable(api.Operator)
	f.clients = api.Operator
	f.client("alice-uwase", alice, 50_000, func(c *sandboxes.TestClientConfig) { c.Behavior = payments.Manual })
	f.client("poor", "+250788000002", 10)
	f.client("blocked", "+250788000003", 50_000, func(c *sandboxes.TestClientConfig) { c.Blocked = true })
	credentials := api.Derive(key)
	at, err := url.Parse(f.url)
	if err != nil {
		t.Fatal(err)
	}
	return &conversation{t: t, f: f, base: nativeBase + string(api.Operator), names: map[string]string{
		"host": at.Host, "key": credentials.Key, "user": credentials.User, "password": credentials.UserKey,
	}, fill: func(name string) string {
		if n, isReference := strings.CutPrefix(strings.ToLower(name), "reference"); isReference {
			return fmt.Sprintf("%08s-6a2c-4c2e-9a3c-0b8f6f1f2a10", n)
		}
		value := ofOperators[api.Operator].named(f, name)
		if value == "" {
			t.Fatalf("nothing is known by the name {%s}", name)
		}
		return value
	}}
}

const nativeBase = "/operators/"

// do is what happens between two exchanges.
func (c *conversation) do(step string) {
	what, rest, _ := strings.Cut(step, " ")
	switch what {
	case "fault": // with a path, for without one it acts on no GET
		c.f.faulty(fmt.Sprintf(`[{"name":"f%s","when":{"path":%q,"first":1},"operator":{"status":%[1]s}}]`, rest, c.base+"/*"))
	case "confirm":
		c.f.orangeClient("awa", rest, 50_000, payments.Approve)
		c.page("paytoken").confirm(rest, c.f.code(rest))
	case "cancel":
		c.page(rest).open("action", "cancel")
	case "clock": // ahead by these seconds
		c.f.startClock()
		c.f.exec("update clocks set ahead = make_interval(secs => $1::integer)", rest)
	case "approve":
		c.f.approve(rest)
	case "finish": // the operator decides what waits for it
		c.f.finish()
	case "limit":
		limit, err := strconv.Atoi(rest)
		if err != nil {
			c.t.Fatal(err)
		}
		c.f.config.RateLimit = new(int32(limit))
		c.f.sandbox(c.f.config, key)
		c.f.follow()
	default:
		c.t.Fatalf("no step is called %q", step)
	}
}

// page is the page of the order whose token has a name.
func (c *conversation) page(token string) *placed {
	return &placed{orange: c.f.orange(key), page: c.f.url + "/sandboxes/team/checkout/operators/orange/payment/pay_token/" + c.value(token)}
}

// placeholder is a name in braces: {key}, or in an answer {_:digits10}, which stands for ten digits, and {made:hex32}, which names them
// for the requests that follow. {basic user password} is a pair as Basic authentication has it.
var placeholder = regexp.MustCompile(`\{([A-Za-z_]\w*)(?::(\w+))?\}|\{basic (\w+) (\w+)\}`)

var classes = map[string]string{
	"hex64": `[0-9a-f]{64}`, "money": `(?:MP|CI)[0-9]{6}\.[0-9]{4}\.[A-Z][0-9]{5}`, "payout": `disburs-[0-9A-F]{10}-[\w-]+`, "base64": `[\w+/=]+`,
	"reference": `7[0-9]{16}`, "code": `[0-9A-HJKMNP-TV-Z]{26}`, "bytes": `[0-9]{3,5}`, "second": `[0-9]{4}(?:-[0-9]{2}){2} [0-9]{2}(?::[0-9]{2}){2}`,
	"conversation": `AG_[0-9]{8}_[0-9a-f]{20}`,
	"token28":      `[0-9A-Za-z]{28}`, "daraja": `[0-9a-f]{4}(?:-[0-9a-f]{4}){2}-[0-9a-f]{12}[0-9]{4,7}`, "checkout": `ws_CO_[0-9]{24}`,
	"receipt": `[A-Z][A-L][1-9A-V][0-9A-Z]{7}`, "uuid": `[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}`, "instant": `[0-9]{4}(?:-[0-9]{2}){2}T[0-9]{2}(?::[0-9]{2}){2}Z`,
	"digits10": `[0-9]{10}`, "hex32": `[0-9a-f]{32}`, "jwt": `[\w-]+\.[\w-]+\.[\w-]+`, "seconds": `[0-9]{1,2}`,
}

func (c *conversation) value(name string) string {
	if c.names[name] == "" {
		c.names[name] = c.fill(name)
	}
	return c.names[name]
}

// exchanged is an exchange as it was.
type exchanged struct {
	method, path string // below the operator's base, in canonical form
	sent         []byte
	answer       *http.Response
	body         []byte
	text         string // status, the headers that say something, and the body
}

// told are the headers that are compared. The others are the same for all answers, or differ with each.
var told = []string{"Content-Type", "Content-Length", "Retry-After", "X-Cauri-Reason"}

// exchange sends a request as it stands in the file, with CRLF at the ends of its header lines.
func (c *conversation) exchange(title, request string) exchanged {
	c.t.Helper()
	request = placeholder.ReplaceAllStringFunc(request, func(found string) string {
		m := placeholder.FindStringSubmatch(found)
		switch {
		case m[3] != "":
			return base64.StdEncoding.EncodeToString([]byte(c.value(m[3]) + ":" + c.value(m[4])))
		case m[1] == "length":
			return found
		case m[1] == "x": // a byte
			text, err := hex.DecodeString(m[2])
			if err != nil {
				c.t.Fatal(err)
			}
			return string(text)
		}
		return c.value(m[1])
	})
	head, body, _ := strings.Cut(strings.TrimLeft(request, "\n"), "\n\n")
	body = strings.TrimRight(body, "\n")
	head = strings.ReplaceAll(head, "{length}", strconv.Itoa(len(body)))
	address := c.names["host"]
	if c.root { // whose name leads to this machine
		_, port, _ := net.SplitHostPort(address)
		head, address = strings.Replace(head, " "+c.base+"/", " /", 1), net.JoinHostPort("127.0.0.1", port)
	}
	method, rest, _ := strings.Cut(head, " ")
	target, _, _ := strings.Cut(rest, " ")
	connection, err := net.Dial("tcp", address)
	if err != nil {
		c.t.Fatal(err)
	}
	defer connection.Close()
	if _, err := io.WriteString(connection, strings.ReplaceAll(head, "\n", "\r\n")+"\r\n\r\n"+body); err != nil {
		c.t.Fatal(err)
	}
	answer, err := http.ReadResponse(bufio.NewReader(connection), &http.Request{Method: method})
	if err != nil {
		c.t.Fatalf("%s: %v", title, err)
	}
	defer answer.Body.Close()
	content, err := io.ReadAll(answer.Body)
	if err != nil {
		c.t.Fatalf("%s: %v", title, err)
	}
	var text strings.Builder
	fmt.Fprintf(&text, "HTTP/1.1 %s\n", answer.Status)
	for _, name := range told {
		if value := answer.Header.Get(name); value != "" {
			fmt.Fprintf(&text, "%s: %s\n", name, value)
		}
	}
	if len(content) > 0 {
		fmt.Fprintf(&text, "\n%s", content)
	}
	path, err := url.PathUnescape(strings.SplitN(target, "?", 2)[0])
	if err != nil {
		c.t.Fatal(err)
	}
	if !c.root {
		path = strings.SplitN(path, c.base, 2)[1]
	}
	segments := strings.FieldsFunc(strings.TrimSpace(path), func(r rune) bool { return r == '/' })
	return exchanged{
		method: method, path: "/" + strings.Join(segments, "/"), sent: []byte(body), answer: answer, body: content,
		text: strings.TrimRight(text.String(), "\n"),
	}
}

// pattern is an answer of a file as an expression.
func (c *conversation) pattern(want string) *regexp.Regexp {
	c.t.Helper()
	var b strings.Builder
	last := 0
	for _, m := range placeholder.FindAllStringSubmatchIndex(want, -1) {
		b.WriteString(regexp.QuoteMeta(want[last:m[0]]))
		name := want[m[2]:m[3]]
		switch {
		case m[4] < 0:
			b.WriteString(regexp.QuoteMeta(c.value(name)))
		case name == "_":
			b.WriteString(classes[want[m[4]:m[5]]])
		default:
			fmt.Fprintf(&b, "(?P<%s>%s)", name, classes[want[m[4]:m[5]]])
		}
		last = m[1]
	}
	b.WriteString(regexp.QuoteMeta(want[last:]))
	return regexp.MustCompile("^" + b.String() + "$")
}

// learn keeps what an answer has under the names of its pattern.
func (c *conversation) learn(form *regexp.Regexp, text string) {
	for i, value := range form.FindStringSubmatch(text) {
		if name := form.SubexpNames()[i]; name != "" {
			c.names[name] = value
		}
	}
}

// named puts names in the place of what is known by one.
func (c *conversation) named(text string) string {
	for name, value := range c.names {
		text = strings.ReplaceAll(text, value, "{"+name+"}")
	}
	return text
}

// coverage compares exchanges with the description of an API, and notes what they show.
type coverage struct {
	api     *operatorapi.API
	mu      sync.Mutex
	files   int
	schema  map[string]*jsonschema.Schema // by method, path, and status or "body"
	calls   map[string]bool
	refused map[operatorapi.Reason]bool
}

func newCoverage(t *testing.T, api *operatorapi.API) *coverage {
	c := &coverage{api: api, schema: map[string]*jsonschema.Schema{}, calls: map[string]bool{}, refused: map[operatorapi.Reason]bool{}}
	encoded, err := json.Marshal(api.Document())
	if err != nil {
		t.Fatal(err)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(encoded))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("openapi.json", document); err != nil {
		t.Fatal(err)
	}
	compile := func(media string, pointer ...string) *jsonschema.Schema {
		at := document
		for _, name := range append(pointer, "content", media, "schema") {
			o, _ := at.(map[string]any)
			at = o[name]
		}
		if at == nil {
			return nil
		}
		for i := range pointer {
			pointer[i] = url.PathEscape(strings.NewReplacer("~", "~0", "/", "~1").Replace(pointer[i]))
		}
		schema, err := compiler.Compile("openapi.json#/" + strings.Join(pointer, "/") + "/content/" + strings.Replace(media, "/", "~1", 1) + "/schema")
		if err != nil {
			t.Fatal(err)
		}
		return schema
	}
	for i := range api.Routes {
		r := &api.Routes[i]
		name, method := r.Method+" "+r.Path, strings.ToLower(r.Method)
		sent := "application/json"
		if r.Doc.Form {
			sent = operatorapi.FormType
		}
		c.schema[name+" body"] = compile(sent, "paths", r.Path, method, "requestBody")
		for _, status := range c.statuses(r) {
			c.schema[fmt.Sprint(name, " ", status)] = compile("application/json", "paths", r.Path, method, "responses", strconv.Itoa(status))
		}
	}
	return c
}

// statuses are those that a call is answered with.
func (c *coverage) statuses(r *operatorapi.Route) []int {
	all := []int{r.Doc.Status}
	for _, why := range c.api.Refusals(r) {
		for _, basic := range []bool{false, true} {
			all = append(all, c.answerOf(r, &operatorapi.Refusal{Reason: why, Basic: basic}, nil).Status)
		}
	}
	return all
}

// refusal is how a call is refused whose body was sent; r is nil for an unknown path.
func (c *coverage) refusal(r *operatorapi.Route, why operatorapi.Reason, sent []byte) operatorapi.Answer {
	return c.answerOf(r, operatorapi.Refuse(why), sent)
}

func (c *coverage) answerOf(r *operatorapi.Route, refusal *operatorapi.Refusal, sent []byte) operatorapi.Answer {
	if r != nil && r.Refuse != nil {
		return r.Refuse(refusal, sent)
	}
	return c.api.Refuse(refusal)
}

// routeOf is the call of a path; nil for none.
func (c *coverage) routeOf(method, path string) *operatorapi.Route {
	for i := range c.api.Routes {
		r := &c.api.Routes[i]
		form := regexp.MustCompile(`\{\w+\}`).ReplaceAllString(r.Path, `[^/]+`)
		if r.Method == method && regexp.MustCompile("^"+form+"$").MatchString(path) {
			return r
		}
	}
	return nil
}

func (c *coverage) replayed() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.files++
}

func (c *coverage) note(t *testing.T, title string, e exchanged) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.routeOf(e.method, e.path)
	for _, why := range c.whys() {
		answer := c.refusal(r, why, e.sent)
		text, _ := json.Marshal(answer.Body)
		if xml, isText := answer.Body.(operatorapi.Text); isText {
			text = []byte(xml.Text)
		}
		if answer.Status == e.answer.StatusCode && (answer.Body == nil && len(e.body) == 0 || bytes.Equal(c.undrawn(text), c.undrawn(e.body))) {
			c.refused[why] = true
		}
	}
	if r == nil {
		return
	}
	name := r.Method + " " + r.Path
	answered := fmt.Sprint(name, " ", e.answer.StatusCode)
	if !slices.Contains(c.statuses(r), e.answer.StatusCode) {
		t.Errorf("%s: %s, which the description does not have", title, answered)
	}
	isPage := strings.HasPrefix(e.answer.Header.Get("Content-Type"), "text/html")
	if problem := c.misfit(answered, e.body); problem != "" && r.Doc.Elsewhere == "" && !isPage {
		t.Errorf("%s: the answer does not fit the description of %s: %s", title, answered, problem)
	}
	code, _, _ := strings.Cut(e.answer.Header.Get("X-Cauri-Reason"), ": ")
	if isRefused := code != "" && !strings.Contains(code, " "); e.answer.StatusCode != r.Doc.Status || isRefused { // a hint has no code
		return
	}
	c.calls[name] = true
	if schema := c.schema[name+" body"]; schema != nil && json.Valid(e.sent) { // and not a form
		if err := validate(schema, e.sent); err != nil {
			t.Errorf("%s: it was accepted, and does not fit the description of %s: %v", title, name, err)
		}
	}
}

// undrawn is a body without the fields that have another value in each answer.
func (c *coverage) undrawn(body []byte) []byte {
	var fields map[string]json.RawMessage
	if len(c.api.Drawn) == 0 || json.Unmarshal(body, &fields) != nil {
		return body
	}
	for _, name := range c.api.Drawn {
		delete(fields, name)
	}
	left, _ := json.Marshal(fields)
	return left
}

// misfit tells how a body differs from its description, which names all of its fields; empty: it fits.
func (c *coverage) misfit(what string, body []byte) string {
	schema := c.schema[what]
	if schema == nil {
		return string(body) // which has to be empty
	}
	if err := validate(schema, body); err != nil {
		return err.Error()
	}
	var value any
	_ = json.Unmarshal(body, &value)
	if field := undescribed(schema, value); field != "" {
		return "it has no field " + field
	}
	return ""
}

func validate(schema *jsonschema.Schema, body []byte) error {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return err
	}
	return schema.Validate(value)
}

// undescribed is a field of an object that its schema does not have; empty for none.
func undescribed(schema *jsonschema.Schema, value any) string {
	if schema != nil {
		for _, one := range schema.AnyOf {
			if one.Validate(value) == nil {
				return undescribed(one, value)
			}
		}
	}
	o, isObject := value.(map[string]any)
	if !isObject || schema == nil || schema.Properties == nil {
		return ""
	}
	for name, inside := range o {
		if schema.Properties[name] == nil {
			return name
		}
		if found := undescribed(schema.Properties[name], inside); found != "" {
			return name + "." + found
		}
	}
	return ""
}

// whys are the reasons of all calls.
func (c *coverage) whys() (all []operatorapi.Reason) {
	for i := range c.api.Routes {
		for _, why := range c.api.Refusals(&c.api.Routes[i]) {
			if !slices.Contains(all, why) {
				all = append(all, why)
			}
		}
	}
	return append(all, operatorapi.NoRoute)
}

func (c *coverage) check(t *testing.T) {
	for _, r := range c.api.Routes {
		if name := r.Method + " " + r.Path; !c.calls[name] {
			t.Errorf("no exchange shows a good request to %s", name)
		}
	}
	for _, why := range c.whys() {
		if !c.refused[why] {
			t.Errorf("no exchange shows the refusal %s", why)
		}
	}
}
