package grade_test

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/grade"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/webhooks"
)

const secret = "whsec_c2VjcmV0IG9mIHRoZSByZWNlaXZlcg=="

// receiver is a receiver that does everything right, but for its faults.
type receiver struct {
	t        *testing.T
	mu       *sync.Mutex
	seen     map[string]bool
	requests int
	bodies   [][]byte

	trustsUnsigned, trustsAll, failsTwice, standard, ignoresAge, oneSignature bool

	reads   func([]byte) []byte            // makes of the body what it verifies; nil: it takes the bytes that arrive
	forged  int                            // its answer to what is not genuine; 0: 401
	refuses func(event map[string]any) int // 0: it accepts
	knows   string                         // the only order that it knows; empty: all
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.requests++
	body, err := io.ReadAll(request.Body)
	if err != nil {
		r.t.Error(err)
	}
	r.bodies = append(r.bodies, body)
	if !r.genuine(request.Header, body) {
		w.WriteHeader(cmp.Or(r.forged, http.StatusUnauthorized))
		return
	}
	var event map[string]any
	if err := json.Unmarshal(body, &event); err != nil {
		r.t.Errorf("%v: %s", err, body)
	}
	id, _ := event["tx_id"].(string)
	if r.knows != "" && event["order_ref"] != r.knows {
		http.NotFound(w, request)
		return
	}
	if r.refuses != nil {
		if status := r.refuses(event); status != 0 {
			w.WriteHeader(status)
			return
		}
	}
	if r.failsTwice && r.seen[id] {
		http.Error(w, "duplicate key", http.StatusInternalServerError)
		return
	}
	r.seen[id] = true
	w.WriteHeader(http.StatusNoContent)
}

func (r *receiver) genuine(header http.Header, body []byte) bool {
	signature := header.Get(webhooks.HeaderSignature)
	if r.reads != nil {
		body = r.reads(body)
	}
	switch {
	case r.trustsAll, r.trustsUnsigned && signature == "":
		return true
	case !hmac.Equal([]byte(signature), []byte(webhooks.Signature(secret, body))):
		return false
	case !r.standard:
		return true
	}
	if r.oneSignature {
		first, _, _ := strings.Cut(header.Get(webhooks.HeaderStandardSignature), " ")
		header.Set(webhooks.HeaderStandardSignature, first)
	}
	err := webhooks.Verify(header, body, secret, time.Now())
	return err == nil || r.ignoresAge && errors.Is(err, webhooks.ErrBadTimestamp)
}

func check(t *testing.T, r *receiver, change ...func(*grade.Options)) *grade.Card {
	t.Helper()
	r.t, r.mu, r.seen = t, &sync.Mutex{}, map[string]bool{}
	server := httptest.NewServer(r)
	defer server.Close()
	o := grade.Options{Secret: secret, Now: time.Now, Send: func(ctx context.Context, m grade.Message) grade.Answer {
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL, bytes.NewReader(m.Body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header = m.Header
		answer, err := server.Client().Do(request)
		if err != nil {
			return grade.Answer{Error: err.Error()}
		}
		_ = answer.Body.Close()
		return grade.Answer{Status: answer.StatusCode, DurationMs: 1}
	}}
	for _, f := range change {
		f(&o)
	}
	card, err := grade.Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return card
}

// outcomes returns the ids of the lines with an outcome.
func outcomes(c *grade.Card, o grade.Outcome) (ids []string) {
	for _, r := range c.Results {
		if r.Outcome == o {
			ids = append(ids, r.Line)
		}
	}
	return ids
}

// Each fault of a receiver turns exactly its lines red, and gives its letter.
func TestFaultsOfReceivers(t *testing.T) {
	t.Parallel()
	refuses := func(field string, values ...string) func(map[string]any) int {
		return func(event map[string]any) int {
			if text, _ := event[field].(string); slices.Contains(values, text) {
				return http.StatusInternalServerError
			}
			return 0
		}
	}
	standard := []string{"old-timestamp", "second-signature"}
	for name, test := range map[string]struct {
		receiver        receiver
		letter          grade.Letter
		failed, skipped []string
		sentence        string
	}{
		"none":                       {receiver{}, "A", nil, standard, "It answers each event as expected."},
		"none, by Standard Webhooks": {receiver{standard: true}, "A", nil, nil, "It answers each event as expected."},
		"accepts what is old": {
			receiver{standard: true, ignoresAge: true}, "C", []string{"old-timestamp"}, nil,
			"It answers 204 to a timestamp that is ten minutes old.",
		},
		"reads one signature": {
			receiver{standard: true, oneSignature: true}, "C", []string{"second-signature"}, nil,
			"It answers 401 to a right signature behind another one.",
		},
		"trusts what is not signed": {
			receiver{trustsUnsigned: true}, "E", []string{"no-signature"}, standard, "It answers 204 to no signature at all.",
		},
		"looks at no signature": {
			receiver{trustsAll: true}, "E", []string{
				"wrong-signature", "no-signature", "signature-of-another-body", "signature-of-another-secret",
			}, standard, "It answers 204 to a wrong signature.",
		},
		"fails the second time": {
			receiver{failsTwice: true}, "D", []string{"same-event-twice", "twice-at-once"}, standard, "It answers 204, then 500 to the same event twice.",
		},
		"knows no TIMEOUT": {
			receiver{refuses: refuses("status", "TIMEOUT")}, "C", []string{"status-timeout"}, standard,
			"It answers 500 to a payment that ends TIMEOUT.",
		},
		"knows no refunds": {
			receiver{refuses: refuses("event", "payment.refunded")}, "C", []string{"refund-before-payment"}, standard,
			"It answers 500 to a refund before its payment.",
		},
		"knows every event": {receiver{refuses: refuses("event", webhooks.UnknownEvent)}, "C", []string{"unknown-event"}, standard, ""},
		"knows every field": {
			receiver{refuses: func(event map[string]any) int {
				if event[webhooks.UnknownField] != nil {
					return http.StatusBadRequest
				}
				return 0
			}}, "C", []string{"unknown-field"}, standard, "",
		},
		"takes small events": {
			receiver{refuses: func(event map[string]any) int {
				if text, _ := json.Marshal(event["raw"]); len(text) > 64<<10 {
					return http.StatusRequestEntityTooLarge
				}
				return 0
			}}, "C", []string{"large-raw"}, standard, "It answers 413 to 64 KiB of operator data.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			card := check(t, &test.receiver)
			if diff := gocmp.Diff(test.failed, outcomes(card, grade.Failed)); diff != "" || card.Letter != test.letter {
				t.Errorf("the letter is %s; failed lines (-want +got):\n%s", card.Letter, diff)
			}
			if diff := gocmp.Diff(test.skipped, outcomes(card, grade.Skipped)); diff != "" {
				t.Errorf("skipped lines (-want +got):\n%s", diff)
			}
			if got := card.Sentence().String(); test.sentence != "" && got != test.sentence {
				t.Errorf("it says %q", got)
			}
		})
	}
}

// Each line says why it matters and how to fix it, and docs/grade.md has the place that it names.
func TestLinesHaveAdvice(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/grade.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range grade.Lines() {
		if advice := line.Advice(); advice.Why == "" || advice.Fix == "" {
			t.Errorf("%s has the advice %+v", line.ID, advice)
		} else if !strings.Contains(string(page), "### "+line.Anchor+"\n") || !strings.Contains(string(page), string(advice.Why)) {
			t.Errorf("docs/grade.md does not say of %s why it matters: %s", line.Anchor, advice.Why)
		}
	}
}

// httptest.Server.Close ends the idle connections of http.DefaultTransport. A check that used one of them could lose an answer when another
// test ended: Transport takes a connection for idle before it hands over the last answer.
func TestOtherTestsTakeNoAnswer(t *testing.T) {
	t.Parallel()
	card := check(t, &receiver{}, func(o *grade.Options) {
		send := o.Send
		o.Send = func(ctx context.Context, m grade.Message) grade.Answer {
			idle := httptrace.ClientTrace{PutIdleConn: func(error) { httptest.NewServer(nil).Close() }}
			return send(httptrace.WithClientTrace(ctx, &idle), m)
		}
	})
	if failed := outcomes(card, grade.Failed); failed != nil {
		t.Errorf("failed lines: %q, %+v", failed, card.Results)
	}
}

// A receiver that never answered was neither in time nor fast.
func TestWithoutAnAnswerNothingIsInTime(t *testing.T) {
	t.Parallel()
	card := check(t, &receiver{}, func(o *grade.Options) {
		o.Send = func(context.Context, grade.Message) grade.Answer {
			return grade.Answer{Error: "nothing listens", DurationMs: 3}
		}
	})
	if passed := outcomes(card, grade.Passed); len(passed) > 0 || card.Letter != grade.F {
		t.Errorf("%q passed, and the letter is %s", passed, card.Letter)
	}
}

func TestReceiversThatKnowTheirTransactions(t *testing.T) {
	t.Parallel()
	id := payments.ID{1}
	body := []byte(`{"event":"payment.completed","tx_id":"` + id.String() + `","order_ref":"order-7","status":"SUCCESS","raw":null}`)
	known := func(o *grade.Options) { o.Known = &grade.Known{ID: id, Body: body} }

	r := &receiver{knows: "order-7"}
	card := check(t, r)
	if card.Letter != "" || card.Count(grade.Failed) != 0 ||
		!strings.Contains(card.Sentence().String(), "It answers 404 to an event of a payment") {
		t.Errorf("without a transaction the letter is %q: %s", card.Letter, card.Sentence())
	}
	forged := []string{"wrong-signature", "no-signature", "signature-of-another-body", "signature-of-another-secret"}
	if diff := gocmp.Diff(append(forged, "within-10-seconds", "within-1-second"), outcomes(card, grade.Passed)); diff != "" {
		t.Errorf("lines that hold without a transaction (-want +got):\n%s", diff)
	}

	unsigned := check(t, &receiver{knows: "order-7", trustsAll: true})
	if passed := outcomes(unsigned, grade.Passed); passed != nil || unsigned.Letter != "" || unsigned.LetterOf(grade.Time) != "" {
		t.Errorf("that unknown payments are refused says nothing about signatures, but %q holds", passed)
	}

	r = &receiver{knows: "order-7"}
	card = check(t, r, known)
	if diff := gocmp.Diff([]string{"refund-before-payment", "old-timestamp", "second-signature"}, outcomes(card, grade.Skipped)); diff != "" ||
		card.Letter != grade.A {
		t.Errorf("with a transaction the letter is %s, and skipped are %s", card.Letter, diff)
	}
	for _, sent := range r.bodies {
		if bytes.Contains(sent, []byte(`"payment.refunded"`)) {
			t.Errorf("a refund that did not happen was sent: %s", sent)
		}
	}
	if !bytes.Equal(r.bodies[0], bytes.Replace(body, []byte(`,"raw"`), []byte(`, "raw"`), 1)) { // an old event gets the blank
		t.Errorf("the genuine event is %s", r.bodies[0])
	}
	card = check(t, &receiver{knows: "order-7"}, known, func(o *grade.Options) { o.Allow = true })
	if got := outcomes(card, grade.Skipped); len(got) != 2 || card.Letter != grade.A {
		t.Errorf("with --allow, skipped are %v, and the letter is %s", got, card.Letter)
	}
}

func TestSlowReceivers(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		answer grade.Answer
		letter grade.Letter
		failed []string
	}{
		"slow": {grade.Answer{Status: 204, DurationMs: 1_001}, "B", []string{"within-1-second"}},
		"without answer": {
			grade.Answer{Error: "no answer within 10s", Late: true, DurationMs: 10_000}, "F",
			[]string{"genuine", "within-10-seconds", "within-1-second"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var sent atomic.Int32
			card := check(t, &receiver{}, func(o *grade.Options) {
				send := o.Send
				o.Send = func(ctx context.Context, m grade.Message) grade.Answer {
					if sent.Add(1) == 1 {
						return test.answer
					}
					return send(ctx, m)
				}
			})
			if diff := gocmp.Diff(test.failed, outcomes(card, grade.Failed)); diff != "" || card.Letter != test.letter {
				t.Errorf("the letter is %s; failed lines (-want +got):\n%s", card.Letter, diff)
			}
		})
	}
}

// The copies of twice-at-once are in flight together. A receiver that refuses one of them fails this line alone.
func TestTwiceAtOnce(t *testing.T) {
	t.Parallel()
	var line string
	var inFlight sync.WaitGroup
	inFlight.Add(2)
	var refused atomic.Bool
	card := check(t, &receiver{}, func(o *grade.Options) {
		send := o.Send
		o.Send = func(ctx context.Context, m grade.Message) grade.Answer {
			if line != "same-event-twice" { // the line before
				return send(ctx, m)
			}
			inFlight.Done()
			inFlight.Wait()
			if refused.CompareAndSwap(false, true) {
				return grade.Answer{Status: 500, DurationMs: 1}
			}
			return send(ctx, m)
		}
		o.After = func(_ context.Context, c *grade.Card) error {
			line = c.Results[len(c.Results)-1].Line
			return nil
		}
	})
	if diff := gocmp.Diff([]string{"twice-at-once"}, outcomes(card, grade.Failed)); diff != "" || card.Letter != grade.D {
		t.Errorf("the letter is %s; failed lines (-want +got):\n%s", card.Letter, diff)
	}
}

// What Cauri invents can be told apart from what happened, and no two events are of one transaction but those that have to be.
func TestInventedTransactions(t *testing.T) {
	t.Parallel()
	r := &receiver{}
	check(t, r)
	ids := map[string]int{}
	for _, body := range r.bodies {
		var event struct {
			ID    string `json:"tx_id"`
			Order string `json:"order_ref"`
		}
		if err := json.Unmarshal(body, &event); err != nil || !strings.HasPrefix(event.Order, "cauri-check-") {
			t.Errorf("%v: %s", err, body)
		}
		ids[event.ID]++
	}
	if len(ids) != len(r.bodies)-2 { // two lines send an event twice
		t.Errorf("%d messages are of %d transactions", len(r.bodies), len(ids))
	}
}

// They are of a market: of the given one, else of the first that there is.
func TestInventedTransactionsAreOfAMarket(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in   grade.Market
		want string
	}{
		{grade.Market{}, "mtn CI XOF +2250506123456"},
		{grade.Market{Operator: payments.Orange, Country: payments.CoteDIvoire}, "orange CI XOF +2250707123456"},
		{grade.Market{Operator: payments.Airtel, Country: payments.Rwanda}, "airtel RW RWF +250730123456"},
	} {
		r := &receiver{}
		check(t, r, func(o *grade.Options) { o.In = c.in })
		for _, body := range r.bodies {
			var event struct{ Operator, Country, Currency, MSISDN string }
			if err := json.Unmarshal(body, &event); err != nil || fmt.Sprint(event) != "{"+c.want+"}" {
				t.Fatalf("want %s: %s (%v)", c.want, body, err)
			}
		}
	}
}

func TestACheckThatIsCanceled(t *testing.T) {
	t.Parallel()
	canceled := errors.New("the sandbox was reset")
	_, err := grade.Run(t.Context(), grade.Options{
		Secret: secret, Now: time.Now, Send: func(context.Context, grade.Message) grade.Answer { return grade.Answer{Status: 204} },
		After: func(_ context.Context, c *grade.Card) error {
			if len(c.Results) == 3 {
				return canceled
			}
			return nil
		},
	})
	if !errors.Is(err, canceled) {
		t.Errorf("the error is %v", err)
	}
}
