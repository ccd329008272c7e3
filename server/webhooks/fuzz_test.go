package webhooks_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/cauri-dev/cauri/server/egress"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/webhooks"
)

// FuzzRetryAfter checks that what a receiver asks for is no longer ago than now, and one day at most where it is a number.
func FuzzRetryAfter(f *testing.F) {
	for _, seed := range []string{"120", "-1", "0", "99999999999999999999", " 5 ", "Sun, 31 May 2026 12:00:10 GMT",
		"Sun, 31 May 9999 12:00:00 GMT", "Thu, 01 Jan 1970 00:00:00 GMT", "soon", ""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		got := webhooks.RetryAfter(value, at)
		if got < 0 {
			t.Errorf("%q is read as %s", value, got)
		}
		if _, err := http.ParseTime(strings.TrimSpace(value)); err != nil && got > 24*time.Hour {
			t.Errorf("%q is read as %s", value, got)
		}
	})
}

// FuzzSchedule checks that every retry is between now and the longest delay, but for the jitter, and that they come to an end.
func FuzzSchedule(f *testing.F) {
	f.Add(5, int64(5*time.Second), 5.0, int64(time.Hour), 1, 500, int64(0), 0.5)
	f.Add(100, int64(0), 10.0, int64(24*time.Hour), 99, 429, int64(1<<62), 0.999)
	f.Add(0, int64(1), 1.0, int64(1), 1, 410, int64(0), 0.0)
	f.Fuzz(func(t *testing.T, retries int, initial int64, factor float64, longest int64, attempts, status int, retryAfter int64,
		chance float64) {
		const day = int64(24 * time.Hour)
		if retries < 0 || retries > 100 || initial < 0 || initial > longest || longest > day || !(factor >= 1 && factor <= 10) || attempts < 1 ||
			!(chance >= 0 && chance < 1) || retryAfter < 0 {
			return // refused by the resource's schema
		}
		s := webhooks.Schedule{MaxRetries: retries, InitialDelay: time.Duration(initial), Factor: factor, MaxDelay: time.Duration(longest)}
		r := webhooks.Result{Status: status, RetryAfter: time.Duration(retryAfter)}
		delay, again := s.Next(attempts, r, func() float64 { return chance })
		if again != (status != http.StatusGone && attempts <= retries) {
			t.Errorf("after %d attempts of %d retries and a %d, another one: %t", attempts, retries, status, again)
		}
		if most := s.MaxDelay + s.MaxDelay/10; delay < 0 || delay > most {
			t.Errorf("the next attempt comes after %s, of %s at most", delay, most)
		}
		if again && delay < min(r.RetryAfter, s.MaxDelay) {
			t.Errorf("the next attempt comes after %s, before the %s that were asked for", delay, r.RetryAfter)
		}
		if probe := s.AfterProbe(r); probe < 0 || probe > s.MaxDelay {
			t.Errorf("a probe is waited for %s", probe)
		}
	})
}

// FuzzBody checks that an event is JSON that says what the transaction is, whatever texts it has, and that its money adds up.
func FuzzBody(f *testing.F) {
	f.Add("r1", "FCFA", `{"a":1}`, int64(1000), int64(15), int64(1000))
	f.Add("é\u2028\"", "", `nothing`, payments.MaxAmount, int64(0), int64(0))
	f.Fuzz(func(t *testing.T, reference, currency, raw string, amount, commission, net int64) {
		if !json.Valid([]byte(raw)) || amount < 0 || amount > payments.MaxAmount || commission < 0 || commission > amount || net < 0 ||
			net > amount {
			return
		}
		tx := &payments.Transaction{
			Details: payments.Details{Reference: reference, Currency: currency}, Type: payments.Collection,
			Status: payments.Success, Amount: amount, Commission: commission, NetAmount: net, CompletedAt: &at,
		}
		body, err := webhooks.Body("org_1", tx, json.RawMessage(raw))
		if err != nil || !json.Valid(body) {
			t.Fatalf("%q, %v", body, err)
		}
		var compact bytes.Buffer
		if err := json.Compact(&compact, body); err != nil || len(body) != compact.Len()+1 {
			t.Errorf("an event has one blank: %q", body)
		}
		var said struct {
			Amount     string `json:"amount"`
			Commission string `json:"commission"`
			Net        string `json:"net_amount"`
			Total      string `json:"customer_total"`
			Reference  string `json:"reference"`
		}
		if err := json.Unmarshal(body, &said); err != nil {
			t.Fatalf("%q: %v", body, err)
		}
		number := func(text string) int64 {
			n, err := strconv.ParseInt(strings.TrimSuffix(text, ".00"), 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		if number(said.Amount) != amount || number(said.Commission) != commission || number(said.Net) != net ||
			number(said.Total) != net+commission {
			t.Errorf("%d with a commission of %d, of which %d is left, is told as %+v", amount, commission, net, said)
		}
		if utf8.ValidString(reference) && said.Reference != reference {
			t.Errorf("the reference %q is told as %q", reference, said.Reference)
		}
	})
}

// FuzzWebhookURL checks that a URL of a receiver is either usable or refused without being shown: it may hold a password.
func FuzzWebhookURL(f *testing.F) {
	for _, seed := range []string{"http://example.com/", "https://%zz", "http://[::1", "ftp://a", "//a", "", "http://a b/",
		"http://127.0.0.1:1/", "http://127.0.0.1:99999/", "unix:///x", "http://\x00"} {
		f.Add(seed)
	}
	sender := webhooks.NewSender(egress.Guard{Deny: []egress.DenyRule{{Network: netip.MustParsePrefix("0.0.0.0/0")},
		{Network: netip.MustParsePrefix("::/0")}}}, "test", time.Now)
	f.Fuzz(func(t *testing.T, text string) {
		const password = "correct-horse"
		scheme, rest, found := strings.Cut(text, "://")
		if !found || strings.Contains(text, "http") && !numeric(rest) {
			return // no name is looked up
		}
		sender.SetTimeout(5 * time.Second)
		d := delivery(scheme + "://user:" + password + "@" + rest)
		if r := sender.Send(t.Context(), d); r.Err == nil || strings.Contains(r.Err.Error(), password) ||
			strings.Contains(r.Err.Error(), d.Secret) {
			t.Errorf("%q: %v", text, r.Err)
		}
	})
}

// numeric reports whether the host of a URL's rest is an address, which needs no name server.
func numeric(rest string) bool {
	host, _, _ := strings.Cut(rest, "/")
	_, err := netip.ParseAddrPort(host)
	return err == nil
}
