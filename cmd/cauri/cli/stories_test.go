package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/cmd/cauri/sandboxapi"
	"github.com/cauri-dev/cauri/server/egress"
	"github.com/cauri-dev/cauri/server/expectations"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/server/stories"
	"github.com/cauri-dev/cauri/server/webhooks"
	"github.com/cauri-dev/cauri/server/worker"
)

// bookingShop is a shop that books each payment of which it gets a webhook.
type bookingShop struct {
	url string // of its webhooks; with /booked it says how often it has booked
	// between runs after it has looked whether a payment is booked, and before it books it; nil: it does both at once.
	between func()

	mutex  sync.Mutex
	booked map[string]int // by payment
	told   int            // how often it was booked, as it was asked last
}

func openShop(t *testing.T, between func()) *bookingShop {
	t.Helper()
	s := &bookingShop{between: between, booked: map[string]int{}}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

func (s *bookingShop) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if r.Method == http.MethodGet {
		s.told = 0
		for _, times := range s.booked {
			s.told += times
		}
		fmt.Fprintf(w, `{"booked":%d}`, s.told)
		return
	}
	id := r.Header.Get("X-Service-Delivery")
	if s.booked[id] > 0 {
		return
	}
	if s.between != nil {
		s.mutex.Unlock()
		s.between()
		s.mutex.Lock()
	}
	s.booked[id]++
}

// hasTold returns how often the shop has booked, as it said last.
func (s *bookingShop) hasTold() int {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.told
}

// both returns what lets a request wait until a second one waits too.
func both() func() {
	var meeting sync.WaitGroup
	meeting.Add(2)
	return func() { meeting.Done(); meeting.Wait() }
}

// playing makes the sandbox one that plays stories with a shop.
func (f *fixture) playing(shop *bookingShop) {
	f.t.Helper()
	f.config.API.Faults, f.config.TestNumbers = true, payments.StandardTestNumbers
	f.config.Webhook = &sandboxes.WebhookConfig{URL: shop.url}
	if _, err := f.store.ApplySandbox(f.t.Context(), f.config); err != nil {
		f.t.Fatal(err)
	}
	if err := f.directory.Refresh(f.t.Context()); err != nil {
		f.t.Fatal(err)
	}
	w := worker.New(worker.Options{
		Database: ledgertest.OpenAs(f.t, f.db, ledgertest.Worker), Log: slog.New(slog.DiscardHandler),
		Sender: webhooks.NewSender(egress.Guard{AllowLoopback: true}, "test", time.Now),
	})
	stop := until(f.t, func(ctx context.Context) error { w.Run(ctx); return nil })
	f.t.Cleanup(func() { _ = stop() })
}

// setFaults returns the names of the faults that are set.
func (f *fixture) setFaults() string {
	f.t.Helper()
	found, err := f.api.Faults(f.t.Context())
	if err != nil {
		f.t.Fatal(err)
	}
	var names []string
	for i := range found {
		names = append(names, found[i].Name)
	}
	return strings.Join(names, " ")
}

// story runs a story in the background, and returns when its faults are on. The result comes when it has ended, or was interrupted.
func (f *fixture) story(now func() time.Time, name string, args ...string) (interrupt func(), ended <-chan result) {
	f.t.Helper()
	ctx, cancel := context.WithCancel(f.t.Context())
	p := &program{Options: Options{Config: f.t.TempDir()}, now: now, poll: 10 * time.Millisecond, await: 10 * time.Millisecond}
	end := make(chan result, 1)
	go func() {
		end <- p.run(ctx, "", append([]string{"story", name, "--url=" + f.url, "--api-key=" + testKey}, args...)...)
	}()
	want := len(stories.Named(name).Faults(time.Time{}))
	for until := time.Now().Add(time.Minute); strings.Count(f.setFaults(), "story-"+name) != want; {
		if time.Now().After(until) {
			f.t.Fatalf("set are %s", f.setFaults())
		}
		select {
		case r := <-end:
			f.t.Fatalf("it ended with %v: %s", r.err, r.progress)
		case <-time.After(10 * time.Millisecond):
		}
	}
	return cancel, end
}

// pay makes a payment that succeeds.
func (f *fixture) pay(reference string) {
	f.t.Helper()
	request := wire.CreatePaymentRequest{
		Amount: 10, Currency: "RWF", MSISDN: "+250790000901", Reference: reference, Application: "shop", Scenario: "success",
	}
	if _, err := f.api.Pay(f.t.Context(), request); err != nil {
		f.t.Fatal(err)
	}
}

// hasBooked writes a file that expects how often a shop has booked.
func hasBooked(t *testing.T, s *bookingShop, times int) string {
	t.Helper()
	return "-f=" + expectFile(t, fmt.Sprintf(`{within: 1m, expect: [{merchant: {get: %q, json: {booked: %d}}}]}`, s.url, times))
}

// What was paid before a story does not count. A shop that looks, and books later, books once if the copies come one after
// the other, and twice if they come at once.
func TestShopsInTheStoryTwiceAtOnce(t *testing.T) {
	t.Run("it books at once", func(t *testing.T) {
		f, shop := newFixture(t), openShop(t, nil)
		f.playing(shop)
		f.pay("earlier")
		_, ended := f.story(time.Now, "twice-at-once", hasBooked(t, shop, 2), "-o=json")
		f.pay("order-1")
		r := <-ended
		r.want(t, ExitSuccess)
		if all := entries[judgement](t, r); len(all) != 2 || all[0].Verdict != expectations.Met || all[1].Verdict != expectations.Met {
			t.Errorf("the verdicts are %+v", all)
		}
	})
	t.Run("it looks first", func(t *testing.T) {
		f, shop := newFixture(t), openShop(t, both())
		f.playing(shop)
		late := func() (now time.Time) {
			if now = time.Now(); shop.hasTold() == 2 {
				now = now.Add(2 * time.Minute) // nothing changes any more
			}
			return now
		}
		_, ended := f.story(late, "twice-at-once", hasBooked(t, shop, 1))
		f.pay("order-1")
		(<-ended).want(t, ExitNegative, "1. Pay with +250790000901 in your shop.\n", `{"booked":2}`, "1 of 2 expectations failed", "twice-at-once", "The faults of the story are off.")
	})
	t.Run("it looks first, and the copies come one after the other", func(t *testing.T) {
		f, shop := newFixture(t), openShop(t, func() { time.Sleep(20 * time.Millisecond) })
		f.playing(shop)
		f.run("faults", "on", "twice").want(t, 0)
		f.pay("order-1")
		f.run("expect", hasBooked(t, shop, 1), "-f="+expectFile(t, `{within: 1m, expect: [{events: {state: delivered, count: 1}}]}`)).want(t, 0)
		if acted := entries[wire.Fault](t, f.run("faults", "list", "-o=json")); acted[0].Times != 1 {
			t.Errorf("the fault is %+v", acted)
		}
	})
}

// Whoever interrupts a story has no faults left, and those that were on before.
func TestStoryIsInterrupted(t *testing.T) {
	f, shop := newFixture(t), openShop(t, nil)
	f.playing(shop)
	f.run("faults", "on", "late-webhook").want(t, 0)
	interrupt, ended := f.story(time.Now, "double-tap")
	interrupt()
	(<-ended).want(t, ExitUnavailable, "it was interrupted", "The faults of the story are off.")
	if left := f.setFaults(); left != "late-webhook" {
		t.Errorf("still on are %s", left)
	}
}

// A sandbox takes a change of faults later that it refuses because there were too many.
func TestChangesOfFaultsAreRepeated(t *testing.T) {
	t.Parallel()
	p := &program{await: time.Millisecond}
	tooMany := &sandboxapi.RefusedError{Code: "too_many_changes", RetryAfter: time.Millisecond}
	answers := []error{tooMany, tooMany, nil, io.EOF}
	change := func() (err error) { err, answers = answers[0], answers[1:]; return err }
	if err := p.changeFault(t.Context(), change); err != nil || len(answers) != 1 {
		t.Errorf("it ended with %v before %v", err, answers)
	}
	if err := p.changeFault(t.Context(), change); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.changeFault(ended, func() error { return tooMany }); !errors.Is(err, tooMany) {
		t.Error(err)
	}
}

func TestStoriesAreListed(t *testing.T) {
	t.Parallel()
	listed := run(t, Options{}, "stories")
	listed.want(t, 0, "lost-webhook", "spec.clock, spec.pendingTimeout")
	all := entries[listedStory](t, run(t, Options{}, "stories", "-o=json"))
	if len(all) != len(stories.All()) || all[0].Name != "double-tap" || all[0].Needs == nil {
		t.Errorf("listed are %+v", all)
	}
}

func TestStoriesThatCannotBePlayed(t *testing.T) {
	f, shop := newFixture(t), openShop(t, nil)
	f.run("story", "none").want(t, ExitUsage, `there is no story "none": write one of double-tap`)
	f.run("story").want(t, ExitUsage, "STORY is missing")
	f.run("story", "salary-day").want(t, ExitUsage, "needs spec.clock and spec.seed", "`cauri dev --story=salary-day`")
	f.run("story", "double-tap").want(t, ExitRefused, "has no webhook")
	f.playing(shop)
	f.config.API.Faults, f.config.TestNumbers = false, payments.NoTestNumbers
	apply := func() {
		t.Helper()
		if _, err := f.store.ApplySandbox(t.Context(), f.config); err != nil {
			t.Fatal(err)
		}
		if err := f.directory.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	apply()
	f.run("story", "double-tap").want(t, ExitRefused, "spec.api.faults")
	if err := f.store.DeleteTestClient(t.Context(), "33333333-3333-3333-3333-000000000001"); err != nil {
		t.Fatal(err)
	}
	f.run("story", "double-tap").want(t, ExitRefused, "set spec.testNumbers to Standard")
}
