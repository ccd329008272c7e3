package httpapi_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

const recording = "testdata/recorded.http"

// The recording has each route and refusals of a sandbox that uses only the markets of the first schema. A market that is added changes
// none of these answers, except a text that lists what may be written. -rewrite-exchanges writes the answers of this run.
func TestAnswersAreAsRecorded(t *testing.T) {
	text, err := os.ReadFile(recording)
	if err != nil {
		t.Fatal(err)
	}
	f := newFixture(t)
	start := time.Date(2026, time.November, 22, 10, 0, 0, 0, time.UTC)
	seed := int64(7)
	f.config.Clock, f.config.Seed = sandboxes.ClockConfig{Mode: sandboxes.ManualClock, Start: &start}, &seed
	f.config.LatencyPercent, f.config.TestNumbers = 100, payments.StandardTestNumbers
	f.config.Webhook = &sandboxes.WebhookConfig{URL: "http://127.0.0.1:9/webhooks", Retry: sandboxes.DefaultRetryPolicy}
	f.allow()
	f.client("alice", alice, 50_000)
	f.client("poor", "+250788000003", 999)
	r := recorder{f: f, ids: map[string]string{}, counts: map[string]int{}}
	for block := range strings.SplitSeq(string(text), "### ") {
		if strings.TrimSpace(block) != "" {
			r.replay(t, block)
		}
	}
	if *rewrite {
		if err := os.WriteFile(recording, []byte(r.got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(strings.Split(string(text), "\n"), strings.Split(r.got.String(), "\n")); diff != "" {
		t.Errorf("answers (-recorded +now):\n%s", diff)
	}
	r.check(t)
}

// recorder repeats the requests of a recording.
type recorder struct {
	f        *fixture
	ids      map[string]string // what stands in the recording, by what was made in this run
	counts   map[string]int    // of those, by kind
	requests []*http.Request
	statuses []int
	got      strings.Builder
}

// replay sends the request of a block, which is a line with method and path, an optional line with the body, and the answer.
func (r *recorder) replay(t *testing.T, block string) {
	request, _, _ := strings.Cut(strings.TrimSpace(block), "\n\n")
	line, body, _ := strings.Cut(request, "\n")
	method, path, found := strings.Cut(line, " ")
	if !found {
		t.Fatalf("%s: write a method and a path in %q", recording, line)
	}
	var sent any
	if body != "" {
		sent = r.known(body)
	}
	if strings.HasPrefix(path, "/v1/requests") {
		if err := r.f.log.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	answer := r.f.call(method, r.known(path), sent, func(request *http.Request) { r.requests = append(r.requests, request) })
	r.statuses = append(r.statuses, answer.status)
	fmt.Fprintf(&r.got, "### %s\n\n%d\n%s\n\n", request, answer.status, r.stable(answer.raw))
}

// known puts what was made in this run in the place of the names in a request.
func (r *recorder) known(text string) string {
	for made, name := range r.ids {
		text = strings.ReplaceAll(text, name, made)
	}
	return text
}

var (
	madeHere = regexp.MustCompile(`\b[A-Za-z]{2,3}_[0-9A-HJKMNP-TV-Z]{26}|\breq_[A-Z2-7]{24}|\bSIM_[0-9A-Z]{16}|\bcauri_cl_\w+?_[\w-]+|` +
		`\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|127\.0\.0\.1:[0-9]{4,5}|\b[0-9A-HJKMNP-TV-Z]{26}\b|\b[0-9a-f]{64}\b`)
	timeOfRun = regexp.MustCompile(`202[0-9]-[0-9]{2}-[0-9]{2}T[0-9:.]+Z`)
	cursors   = regexp.MustCompile(`"(nextCursor|previousCursor)": "[^"]+"`)
	durations = regexp.MustCompile(`"(durationMs|seconds|version|commit)": ?("[^"]*"|[0-9]+)`)
	anHour    = regexp.MustCompile(`"secondsLeft": 35[0-9]{2}\b`) // of an hour, of which a slow machine has used up some
	choices   = regexp.MustCompile(strings.Join([]string{
		alternatives(payments.KnownEverywhere.Operators()), alternatives(payments.KnownEverywhere.Countries()),
		alternatives(payments.KnownEverywhere.Currencies()),
	}, "|"))
	supported = regexp.MustCompile(`(supported values: )\\"[A-Za-z\\", ]+\\"`)
	alone     = regexp.MustCompile(`(must be )[A-Z, or]+(, where alone \w+ is available: send )[A-Z, or]+(, or another)`)
)

// alternatives is the form of a text that lists all of the codes, such as "mtn, orange or moov".
func alternatives[T ~string](codes []T) string {
	return `(?:` + strings.Join([]string{payments.OneOf(codes), payments.AllOf(codes), payments.List(codes)}, "|") + `)`
}

// stable returns an answer in which ids and times of the run have names, and lists of what may be written are left out.
func (r *recorder) stable(raw string) string {
	var indented bytes.Buffer
	if json.Indent(&indented, []byte(raw), "", " ") == nil {
		raw = indented.String()
	}
	raw = madeHere.ReplaceAllStringFunc(raw, func(made string) string {
		if r.ids[made] == "" {
			kind, _, named := strings.Cut(made, "_")
			if !named {
				kind = "made"
			}
			r.counts[kind]++
			r.ids[made] = fmt.Sprintf("%s-%03d", kind, r.counts[kind])
		}
		return r.ids[made]
	})
	raw = cursors.ReplaceAllString(raw, `"$1": "cursor"`)
	raw = durations.ReplaceAllString(timeOfRun.ReplaceAllString(raw, "time"), `"$1": 0`)
	raw = anHour.ReplaceAllString(raw, `"secondsLeft": 3600`)
	raw = alone.ReplaceAllString(supported.ReplaceAllString(raw, "$1..."), "$1...$2...$3")
	return strings.TrimSpace(choices.ReplaceAllString(raw, "..."))
}

// elsewhere are the routes whose answers other tests hold: a stream does not end, the document lists every
// market, and a session comes from a browser.
var elsewhere = []string{"GET /v1/stream", "GET /v1/openapi.json", "GET /v1/openapi-3.0.json", "DELETE /v1/console_sessions/{session}"}

// check fails the test if a route has no good answer in the recording.
func (r *recorder) check(t *testing.T) {
	contract := theContract(t)
	good := map[string]bool{}
	for i, request := range r.requests {
		at := request.Method + " " + contract.template(request.URL.Path)
		good[at] = good[at] || r.statuses[i] < 300
	}
	for path, item := range contract.document["paths"].(object) {
		for method := range item.(object) {
			if at := strings.ToUpper(method) + " " + path; !good[at] && !slices.Contains(elsewhere, at) {
				t.Errorf("%s has no good answer of %s", recording, at)
			}
		}
	}
}
