package cli

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/server/httpapi/wire"
)

// send sends a request as a merchant's code does, and lets the log write it.
func (f *fixture) send(method, path, body string) {
	f.t.Helper()
	request, err := http.NewRequestWithContext(f.t.Context(), method, f.url+"/api"+path, strings.NewReader(body))
	if err != nil {
		f.t.Fatal(err)
	}
	request.Header = http.Header{"Authorization": {"Bearer " + testKey}, "Content-Type": {"application/json"}, "X-Request-Id": {"order-1042"}}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		f.t.Fatal(err)
	}
	_ = answer.Body.Close()
	f.flush()
}

func (f *fixture) flush() {
	f.t.Helper()
	if err := f.log.Flush(f.t.Context()); err != nil {
		f.t.Fatal(err)
	}
}

func TestRequestsSayWhatWasSentAndWhy(t *testing.T) {
	f := newFixture(t)
	f.run("requests").want(t, ExitSuccess, "No request was refused", "requests --succeeded")
	f.send(http.MethodPost, "/v1/payments", `{"amount":"25000","currency":"RWF","phone":"+250788000001"}`)
	f.send(http.MethodGet, "/v1/events/evt_1", "")
	list := f.run("requests")
	list.want(t, ExitSuccess, "POST", "/v1/payments", "400 invalid_body", "amount: expected integer", "GET", "404 not_found",
		"There is no event with this id")
	if got := f.run("requests", "--error=not_found", "-o", "name"); strings.Count(got.out, "log_") != 1 {
		t.Errorf("those not found are %q", got.out)
	}
	if found := entries[wire.LoggedRequest](t, f.run("requests", "--path=/v1/pay", "--status=400", "-o", "json")); len(found) != 1 {
		t.Errorf("those of payments are %+v", found)
	}
	f.run("requests", "--status=503").want(t, ExitSuccess, "There are no such requests")
	id := strings.Fields(f.run("requests", "--status=400", "-o", "name").out)[0]
	one := f.run("requests", id)
	one.want(t, ExitSuccess, "Sent      POST /v1/payments", "Answered  400 invalid_body", "Why       amount: expected integer",
		"Id        order-1042", "Not kept  phone", `  "amount": "25000",`, `"fieldErrors": {`)
	if strings.Contains(one.out, "+250788000001") {
		t.Errorf("a value that is not kept is in\n%s", one.out)
	}
	if r := decoded[wire.LoggedRequest](t, f.run("requests", id, "-o", "json")); r.ID != id {
		t.Errorf("got %+v", r)
	}
	f.run("requests", "log_1").want(t, ExitRefused, "write an id that `cauri requests` lists")
	if got := run(t, Options{}, "__complete", "requests", "--url="+f.url, "--api-key="+testKey, "log"); !strings.Contains(got.out, id+"\tPOST") {
		t.Errorf("the completions are %q", got.out)
	}
	if got := run(t, Options{}, "__complete", "requests", "--url="+f.url, "--api-key="+testKey, "--error=no"); !strings.Contains(got.out, "not_found\n") {
		t.Errorf("the completions of --error are %q", got.out)
	}
}

func TestWhyARequestWasRefused(t *testing.T) {
	t.Parallel()
	unauthorized, fault := http.StatusUnauthorized, "slow-api"
	for want, r := range map[string]wire.LoggedRequest{
		"a: one; two; b: three":      {ResponseBody: json.RawMessage(`{"message":"m","detail":{"fieldErrors":{"b":["three"],"a":["one","two"]}}}`)},
		"m":                          {ResponseBody: json.RawMessage(`{"message":"m","detail":null}`)},
		"":                           {ResponseBody: json.RawMessage(`null`)},
		"no API key of this sandbox": {Status: &unauthorized},
		"fault slow-api. m":          {ResponseBody: json.RawMessage(`{"message":"m"}`), Fault: &fault, Effects: []string{fault}},
	} {
		if got := reasonOf(&r); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if got := answerOf(&wire.LoggedRequest{}); got != "nothing" {
		t.Errorf("no answer is %q", got)
	}
}

// What the log has at the start is known. From then on each request is told once, also those that succeed.
func TestRequestsAreToldOnce(t *testing.T) {
	f := newFixture(t)
	f.send(http.MethodGet, "/v1/events/evt_before", "")
	p := &program{poll: time.Millisecond}
	follow := p.newRequestLog(f.api).(*requestLog)
	poll := func(want ...string) {
		t.Helper()
		var got []string
		err := follow.poll(t.Context(), func(c change) error {
			got = append(got, c.Request.Path+" "+answerOf(c.Request))
			return nil
		})
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("told %q, %v, want %q", got, err, want)
		}
	}
	poll()
	if err := f.directory.Refresh(t.Context()); err != nil { // it says that the sandbox is watched
		t.Fatal(err)
	}
	f.send(http.MethodGet, "/v1/events/evt_1", "")
	f.send(http.MethodGet, "/v1/payments", "")
	poll("/v1/events/{...} 404 not_found", "/v1/payments 200")
	poll()
	for range wire.MaxLimit + 1 { // more than a page
		f.send(http.MethodGet, "/v1/nothing", "")
	}
	told := 0
	count := func(change) error { told++; return nil }
	if err := follow.poll(t.Context(), count); err != nil || told != wire.MaxLimit+1 {
		t.Errorf("told %d of %d, %v", told, wire.MaxLimit+1, err)
	}
	for i := range requestMemory {
		follow.known[strconv.Itoa(i)] = true
	}
	f.send(http.MethodGet, "/v1/nothing", "")
	for range 2 {
		if err := follow.poll(t.Context(), count); err != nil || told != wire.MaxLimit+2 || len(follow.known) > wire.MaxLimit {
			t.Errorf("told %d, %v, with %d in mind", told, err, len(follow.known))
		}
	}
}
