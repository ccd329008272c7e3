package httpapi_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// setFaults are the names and acts of the faults that were set and those that are declared, as GET /v1/faults lists them.
func (f *fixture) listedFaults() string {
	f.t.Helper()
	got := f.call("GET", "/v1/faults", nil)
	if got.status != http.StatusOK {
		f.t.Fatalf("answered %d %s", got.status, got.raw)
	}
	var list []string
	for _, entry := range got.body["data"].([]any) {
		fault := entry.(object)
		list = append(list, fmt.Sprintf("%s %s %v", fault["name"], fault["source"], fault["times"]))
	}
	return strings.Join(list, ", ")
}

// mayChange lets faults be changed at once, however often they were.
func (f *fixture) mayChange() { f.exec("update organizations set fault_changes = '{}'") }

// set sets a fault and wants a status.
func (f *fixture) set(name string, body any, status int) response {
	f.t.Helper()
	got := f.call("PUT", "/v1/faults/"+name, body)
	if got.status != status {
		f.t.Fatalf("setting %s answered %d %s, want %d", name, got.status, got.raw, status)
	}
	return got
}

// A fault that is set acts on the next request and is counted. Set again, it counts anew, also for a reference on which it
// acted before. Removed, it acts no more.
func TestFaultsAreSetAndRemoved(t *testing.T) {
	f := newFixture(t)
	f.allow()
	f.client("alice", alice, 50_000)
	f.follow()
	fault := object{"when": object{"first": 1}, "api": object{"dropConnection": "AfterCommit"}, "for": "15m"}
	got := f.set("lost", fault, 200)
	if got.body["setBy"] != "api" || got.body["effect"] != "lost: recorded and not answered" || got.body["timesLeft"] != 1.0 ||
		got.body["secondsLeft"].(float64) < 600 || got.body["secondsLeft"].(float64) > 900 {
		t.Errorf("answered %s", got.raw)
	}
	if got := f.try("POST", "/v1/payments", payment("a")); !got.dropped {
		t.Errorf("the fault does not act: %d %s", got.status, got.raw)
	}
	if got := f.try("POST", "/v1/payments", payment("a")); got.status != http.StatusOK {
		t.Errorf("the repetition answered %d %s", got.status, got.raw)
	}
	if got := f.listedFaults(); got != "lost api 1" {
		t.Errorf("listed are %s", got)
	}
	f.set("lost", fault, 200)
	if got := f.listedFaults(); got != "lost api 0" {
		t.Errorf("set again, listed are %s", got)
	}
	if got := f.try("POST", "/v1/payments", payment("a")); !got.dropped {
		t.Errorf("set again, the fault does not act: %d %s", got.status, got.raw)
	}
	if got := f.call("DELETE", "/v1/faults/lost", nil); got.status != http.StatusNoContent {
		t.Errorf("removing answered %d %s", got.status, got.raw)
	}
	if got := f.call("DELETE", "/v1/faults/lost", nil); got.status != http.StatusNotFound {
		t.Errorf("removing what is gone answered %d %s", got.status, got.raw)
	}
	if got := f.try("POST", "/v1/payments", payment("b")); got.status != http.StatusCreated {
		t.Errorf("after the removal answered %d %s", got.status, got.raw)
	}
	if got := f.listedFaults(); got != "" {
		t.Errorf("after the removal, listed are %s", got)
	}
}

// Faults that were set act before those of the resource, the newest first, and not on the requests about faults.
func TestOrderOfSetFaults(t *testing.T) {
	f := newFixture(t)
	f.allow()
	f.client("alice", alice, 50_000)
	f.faulty(`[{"name":"declared","when":{"every":true},"api":{"status":500}}]`)
	f.set("first", object{"when": object{"every": true}, "api": object{"status": 501}}, 200)
	f.set("second", object{"when": object{"every": true, "path": "/v1/*"}, "api": object{"status": 502}}, 200)
	if got := f.listedFaults(); got != "second api 0, first api 0, declared spec 0" {
		t.Errorf("listed are %s", got)
	}
	for _, want := range []struct{ status, remove string }{{"502", "/second"}, {"501", ""}, {"500", ""}} {
		if got := f.try("POST", "/v1/payments", payment("a")); fmt.Sprint(got.status) != want.status {
			t.Errorf("answered %d, want %s", got.status, want.status)
		}
		if got := f.call("DELETE", "/v1/faults"+want.remove, nil); got.status != http.StatusNoContent {
			t.Errorf("removing answered %d %s", got.status, got.raw)
		}
	}
}

// A question that has a body is still a question: no fault without its path acts on it.
func TestFaultsLetQuestionsPass(t *testing.T) {
	f := newFixture(t)
	f.allow()
	f.client("alice", alice, 50_000)
	evaluate := object{"expect": []object{{"transactions": object{"count": 0}}}}
	ask := func() faulted { return f.try("POST", "/v1/expectations/evaluate", evaluate) }
	want := ask()
	if want.status != http.StatusOK {
		t.Fatalf("answered %d %s", want.status, want.raw)
	}
	f.set("down", object{"when": object{"every": true}, "api": object{"status": 503}}, 200)
	if got := f.try("POST", "/v1/payments", payment("a")); got.status != http.StatusServiceUnavailable {
		t.Errorf("a payment is answered %d %s", got.status, got.raw)
	}
	if got := ask(); got.status != http.StatusOK {
		t.Errorf("answered %d %s", got.status, got.raw)
	}
	if got := f.try("POST", "/v1/events/evt_0/compare", object{"body": "e30="}); got.status == http.StatusServiceUnavailable {
		t.Errorf("a comparison is answered %d %s", got.status, got.raw)
	}
	f.set("there", object{"when": object{"every": true, "path": "/v1/expectations/*"}, "api": object{"status": 502}}, 200)
	if got := ask(); got.status != http.StatusBadGateway {
		t.Errorf("with its path answered %d %s", got.status, got.raw)
	}
}

// A fault ends after its time, by the clock of the api and in its list, and what ended leaves room. Its time is real also
// where the clock of the sandbox stands.
func TestSetFaultEnds(t *testing.T) {
	for _, mode := range []sandboxes.ClockMode{sandboxes.RealClock, sandboxes.ManualClock} {
		t.Run(string(mode), func(t *testing.T) { setFaultEnds(t, mode) })
	}
}

func setFaultEnds(t *testing.T, mode sandboxes.ClockMode) {
	f := newFixture(t)
	f.config.Clock = sandboxes.ClockConfig{Mode: mode}
	f.allow()
	f.client("alice", alice, 50_000)
	f.follow()
	f.set("down", object{"when": object{"every": true}, "api": object{"status": 503}, "for": "24h"}, 200)
	f.exec("update set_faults set ends_at = now() - interval '1 second'")
	f.exec("update config_version set version = version + 1")
	f.exec("update organizations set version = (select version from config_version) where name = 'checkout'")
	f.follow()
	if got := f.try("POST", "/v1/payments", payment("a")); got.status != http.StatusCreated {
		t.Errorf("after its end answered %d %s", got.status, got.raw)
	}
	if got := f.call("DELETE", "/v1/faults/down", nil); got.status != http.StatusNotFound {
		t.Errorf("removing what has ended answered %d %s", got.status, got.raw)
	}
	if got := f.listedFaults(); got != "" {
		t.Errorf("listed are %s", got)
	}
}

// A reset removes what was set, a suspension keeps it, and a new permission is asked at once.
func TestSetFaultsThroughResetAndSuspension(t *testing.T) {
	f := newFixture(t)
	f.allow()
	f.follow()
	f.set("drop", object{"webhook": object{"drop": true}}, 200)
	f.config.Suspended = true
	f.sandbox(f.config, key)
	f.follow()
	if got := f.call("PUT", "/v1/faults/drop", object{"webhook": object{"drop": true}}); got.body["error"] != "suspended" {
		t.Errorf("suspended, setting answered %d %s", got.status, got.raw)
	}
	f.config.Suspended = false
	f.sandbox(f.config, key)
	f.follow()
	if got := f.listedFaults(); got != "drop api 0" {
		t.Errorf("after the suspension, listed are %s", got)
	}
	if got := f.call("POST", "/v1/reset", nil); got.status != http.StatusOK {
		t.Fatalf("the reset answered %d %s", got.status, got.raw)
	}
	if got := f.listedFaults(); got != "" {
		t.Errorf("after the reset, listed are %s", got)
	}
	f.config.API.Faults = false
	f.sandbox(f.config, key)
	got := f.call("PUT", "/v1/faults/drop", object{"webhook": object{"drop": true}})
	if got.status != http.StatusForbidden || got.body["detail"].(object)["field"] != "spec.api.faults" {
		t.Errorf("without the permission answered %d %s", got.status, got.raw)
	}
}

// Bodies and bounds that are refused, each with what to write instead. Nothing is set.
func TestRefusedFaults(t *testing.T) {
	f := newFixture(t)
	f.allow()
	f.faulty(`[{"name":"declared","webhook":{"drop":true}}]`)
	for name, test := range map[string]struct {
		fault, body string
		status      int
		field, says string
	}{
		"nothing":             {"f", `{}`, 400, "fault", "write what goes wrong in exactly one of webhook, api and operator"},
		"two":                 {"f", `{"webhook":{"drop":true},"api":{"status":500}}`, 400, "fault", "exactly one of"},
		"an empty effect":     {"f", `{"webhook":{}}`, 400, "webhook", "for example drop: true or delay: 30s"},
		"a misspelled effect": {"f", `{"webhook":{"dorp":true}}`, 400, "webhook.dorp", "is unknown"},
		"a number as text":    {"f", `{"webhook":{"duplicate":"2"}}`, 400, "webhook.duplicate", "must be of type integer"},
		"many copies":         {"f", `{"webhook":{"duplicate":11}}`, 400, "webhook.duplicate", "should be less than or equal to 10"},
		"a half copy":         {"f", `{"webhook":{"duplicate":2.5}}`, 400, "webhook.duplicate", "must be of type int32"},
		"overlap alone":       {"f", `{"webhook":{"drop":true,"overlap":true}}`, 400, "webhook.overlap", "write overlap only with duplicate"},
		"a long delay":        {"f", `{"api":{"delay":"61s"}}`, 400, "api.delay", "write a delay from 1ms to 60s"},
		"a status":            {"f", `{"api":{"status":404}}`, 400, "api.status", "supported values"},
		"a wrong number":      {"f", `{"when":{"msisdn":"0788"},"webhook":{"drop":true}}`, 400, "when.msisdn", "with + and its country code"},
		"a name":              {"F-", `{"webhook":{"drop":true}}`, 400, "name", "write a name of a-z, 0-9 and -"},
		"a long time":         {"f", `{"webhook":{"drop":true},"for":"25h"}`, 400, "for", "from 10s to 24h"},
		"a short time":        {"f", `{"webhook":{"drop":true},"for":"1s"}`, 400, "for", "from 10s to 24h"},
		"a time in words":     {"f", `{"webhook":{"drop":true},"for":"an hour"}`, 400, "for", "15m"},
		"a text":              {"f", `{"webhook":"drop"}`, 400, "webhook", "object"},
		"a status of MTN":     {"f", `{"when":{"operator":"mtn"},"operator":{"statusFlickers":true}}`, 400, "when.operator", "write operator: mpesa"},
		"a status of nobody":  {"f", `{"operator":{"statusFlickers":true}}`, 400, "operator.statusFlickers", "write an environment of mpesa"},
		"no flicker":          {"f", `{"operator":{"statusFlickers":false}}`, 400, "operator", "write what goes wrong at the operator"},
		"a declared one":      {"declared", `{"webhook":{"drop":true}}`, 409, "", "declares the fault"},
	} {
		t.Run(name, func(t *testing.T) {
			got := f.call("PUT", "/v1/faults/"+test.fault, test.body)
			said := got.raw
			if test.field != "" {
				fields, _ := got.body["detail"].(object)["fieldErrors"].(object)
				said = fmt.Sprint(fields[test.field])
			}
			if got.status != test.status || !strings.Contains(said, test.says) {
				t.Errorf("answered %d %s", got.status, got.raw)
			}
		})
	}
	if got := f.listedFaults(); got != "declared spec 0" {
		t.Errorf("listed are %s", got)
	}
	for i := range 20 {
		f.mayChange()
		f.set(fmt.Sprint("f", i), object{"webhook": object{"drop": true}}, 200)
	}
	f.mayChange()
	if got := f.set("f20", object{"webhook": object{"drop": true}}, 409); got.body["error"] != "too_many_faults" {
		t.Errorf("answered %s", got.raw)
	}
	for range 10 {
		f.set("f0", object{"webhook": object{"drop": true}}, 200)
	}
	got := f.set("f0", object{"webhook": object{"drop": true}}, 429)
	if wait := got.header.Get("Retry-After"); got.body["error"] != "too_many_changes" || wait == "" || wait == "0" || len(wait) > 2 {
		t.Errorf("answered %s with Retry-After %q", got.raw, wait)
	}
}

// Each preset can be set as it is.
func TestPresetsCanBeSet(t *testing.T) {
	f := newFixture(t)
	f.config.Environments = append(f.config.Environments, mpesaEnvironment()) // for the preset of M-Pesa's query
	f.sandbox(f.config, key)
	f.allow()
	f.follow()
	for _, p := range faults.Presets() {
		f.mayChange()
		got := f.call("PUT", "/v1/faults/"+p.Name, p.Fault)
		if got.status != http.StatusOK || got.body["effect"] == p.Name {
			t.Errorf("%s: answered %d %s", p.Name, got.status, got.raw)
		}
	}
}

// The presets of answers act as their sentences say. The answer of slow comes too late for a test.
func TestPresetsOfAnswers(t *testing.T) {
	f := newFixture(t)
	f.allow()
	f.client("alice", alice, 50_000)
	f.follow()
	for name, want := range map[string]string{
		"lost-answer": "dropped, 200", "unavailable": "503 after 2, 503 after 2", "too-many-requests": "429 after 1, 201", "not-json": "malformed, 200",
	} {
		f.mayChange()
		f.set(name, faults.PresetNamed(name).Fault, 200)
		var said []string
		for range 2 {
			switch got := f.try("POST", "/v1/payments", payment(name)); {
			case got.dropped:
				said = append(said, "dropped")
			case got.malformed:
				said = append(said, "malformed")
			case got.header.Get("Retry-After") != "":
				said = append(said, fmt.Sprint(got.status, " after ", got.header.Get("Retry-After")))
			default:
				said = append(said, fmt.Sprint(got.status))
			}
		}
		if got := strings.Join(said, ", "); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
		f.call("DELETE", "/v1/faults", nil)
	}
}

// A stream tells the faults as the list has them: when one is set, when it acts, and when it is removed.
func TestStreamTellsFaults(t *testing.T) {
	f := newFixture(t)
	f.allow()
	f.client("alice", alice, 50_000)
	f.faulty(`[{"name":"declared","when":{"reference":"b"},"api":{"status":500}}]`)
	l := f.listen("?types=faults", "")
	f.set("down", object{"when": object{"first": 1}, "api": object{"status": 503}, "for": "15m"}, 200)
	told := l.next()
	if diff := cmp.Diff(f.call("GET", "/v1/faults", nil).body, told.data["faults"]); diff != "" {
		t.Errorf("told is another list than that of GET (-want +got):\n%s", diff)
	}
	if got := f.try("POST", "/v1/payments", payment("a")); got.status != http.StatusServiceUnavailable {
		t.Errorf("answered %d %s", got.status, got.raw)
	}
	first := l.next().data["faults"].(object)["data"].([]any)[0].(object)
	if first["name"] != "down" || first["times"] != 1.0 || first["timesLeft"] != 0.0 {
		t.Errorf("after its act, told is %v", first)
	}
	if got := f.try("POST", "/v1/payments", payment("b")); got.status != http.StatusInternalServerError {
		t.Errorf("answered %d %s", got.status, got.raw)
	}
	if got := l.next().data["faults"].(object)["data"].([]any)[1].(object); got["name"] != "declared" || got["times"] != 1.0 {
		t.Errorf("after the act of the declared fault, told is %v", got)
	}
	f.call("DELETE", "/v1/faults", nil)
	if got := l.next().data["faults"].(object)["data"].([]any); len(got) != 1 {
		t.Errorf("after the removal, told is %v", got)
	}
}
