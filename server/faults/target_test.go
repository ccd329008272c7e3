package faults_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/payments"
)

var noon = time.Date(2026, time.November, 22, 12, 0, 0, 0, time.UTC)

func target() *faults.Target {
	return &faults.Target{
		Type: payments.Collection, Status: payments.Success, Operator: payments.MTN, Country: payments.Rwanda, Store: "shop",
		MSISDN: "+250788000777", Reference: "order-91", Event: "payment.completed", Path: "/v1/payments", Attempt: 2, Now: noon,
		Draws: faults.DrawsOf(new(int64(7)), 1),
	}
}

// parse reads one fault whose `when` is given.
func parse(t *testing.T, when string) faults.Set {
	t.Helper()
	s, err := faults.Parse([]byte(`[{"name":"f","when":` + when + `,"webhook":{"drop":true}}]`))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestFaultFitsWhereAllThatIsGivenDoes(t *testing.T) {
	for when, fits := range map[string]bool{
		`{}`: true,
		`{"type":"collection","status":"SUCCESS","operator":"mtn","country":"RW","store":"shop","msisdn":"+250788000777"}`: true,
		`{"reference":"order-9*","event":"payment.completed","attempt":2,"path":"/v1/*"}`:                                  true,
		`{"type":"refund"}`:                    false,
		`{"status":"TIMEOUT"}`:                 false,
		`{"operator":"moov"}`:                  false,
		`{"country":"TG"}`:                     false,
		`{"store":"other"}`:                    false,
		`{"msisdn":"+250788000778"}`:           false,
		`{"reference":"order-8*"}`:             false,
		`{"event":"payment.refunded"}`:         false,
		`{"path":"/v1/refunds"}`:               false,
		`{"attempt":1}`:                        false,
		`{"type":"collection","attempt":1}`:    false,
		`{"percent":100}`:                      true,
		`{"percent":0}`:                        false,
		`{"from":"2026-11-22T12:00:00Z"}`:      true,
		`{"from":"2026-11-22T12:00:00.001Z"}`:  false,
		`{"until":"2026-11-22T12:00:00Z"}`:     false,
		`{"until":"2026-11-22T12:00:00.001Z"}`: true,
	} {
		if got := len(parse(t, when).Matching(target())) == 1; got != fits {
			t.Errorf("%s: fits: %t, want %t", when, got, fits)
		}
	}
}

func TestFaultDoesNotActWhereWhatItAsksForIsUnknown(t *testing.T) {
	for _, when := range []string{
		`{"type":"collection"}`, `{"status":"SUCCESS"}`, `{"operator":"mtn"}`, `{"country":"RW"}`, `{"store":"shop"}`, `{"msisdn":"+1"}`,
		`{"reference":"*"}`, `{"event":"payment.completed"}`, `{"path":"*"}`, `{"attempt":1}`,
	} {
		if got := parse(t, when).Matching(&faults.Target{}); len(got) != 0 {
			t.Errorf("%s acts on a target that has nothing of it", when)
		}
	}
}

func TestOnlyAFaultWithAPathAppliesToReading(t *testing.T) {
	to := target()
	to.Reads = true
	for when, fits := range map[string]bool{`{}`: false, `{"type":"collection"}`: false, `{"path":"/v1/pay*"}`: true} {
		if got := len(parse(t, when).Matching(to)) == 1; got != fits {
			t.Errorf("%s: fits: %t, want %t", when, got, fits)
		}
	}
}

func TestFaultsAreGivenUpToTheFirstThatNeedsNoCount(t *testing.T) {
	s, err := faults.Parse([]byte(`[
		{"name":"other","when":{"type":"refund"},"webhook":{"drop":true}},
		{"name":"api","api":{"status":500}},
		{"name":"first","when":{"first":1},"webhook":{"drop":true}},
		{"name":"once","when":{"percent":100},"webhook":{"drop":true}},
		{"name":"plain","webhook":{"drop":true}},
		{"name":"never","webhook":{"drop":true}}]`))
	if err != nil {
		t.Fatal(err)
	}
	names := func(where faults.TargetKind) (names []string) {
		to := target()
		to.Kind = where
		for _, f := range s.Matching(to) {
			names = append(names, f.Name)
		}
		return names
	}
	if diff := cmp.Diff([]string{"first", "once", "plain"}, names(faults.AtWebhook)); diff != "" {
		t.Errorf("of webhooks (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"api"}, names(faults.AtRequest)); diff != "" {
		t.Errorf("of the API (-want +got):\n%s", diff)
	}
	if s.Named("once") != &s[3] || s.Named("nobody") != nil {
		t.Error("faults are not found by their names")
	}
}

func TestFaultActsOnceForAReference(t *testing.T) {
	for entry, once := range map[string]bool{
		`{"name":"f","webhook":{"drop":true}}`:                                      false,
		`{"name":"f","when":{"percent":20},"webhook":{"drop":true}}`:                true,
		`{"name":"f","when":{"percent":20,"every":true},"webhook":{"drop":true}}`:   false,
		`{"name":"f","api":{"status":503}}`:                                         true,
		`{"name":"f","when":{"every":true},"api":{"dropConnection":"AfterCommit"}}`: false,
	} {
		s, err := faults.Parse([]byte("[" + entry + "]"))
		if err != nil {
			t.Fatal(err)
		}
		where := faults.AtRequest
		if s[0].Webhook != nil {
			where = faults.AtWebhook
		}
		with, without := &faults.Target{Kind: where, Reference: "r"}, &faults.Target{Kind: where}
		if s[0].Once(with) != once || s[0].Once(without) {
			t.Errorf("%s: once: %t, without a reference: %t", entry, s[0].Once(with), s[0].Once(without))
		}
	}
}

// Each key of a fault of an operator applies to its own kind of target, and to no other.
func TestFaultOfAnOperatorAppliesWhereItHasAnEffect(t *testing.T) {
	const answer, pending, callback = 1 << faults.AtOperator, 1 << faults.AtStatus, 1 << faults.AtCallback
	const told = pending | callback
	for operator, want := range map[string]struct{ paid, failed int }{
		`{"status":503}`:                   {answer, answer},
		`{"dropConnection":"AfterCommit"}`: {answer, answer},
		`{"delay":"1s"}`:                   {answer, answer},
		`{"callback":{"drop":true}}`:       {callback, callback},
		`{"reason":"NOT_ALLOWED"}`:         {0, told},
		`{"statusStaysPending":"1m"}`:      {pending, pending},
		`{"statusStaysPending":"59s"}`:     {0, 0}, // it is over
		`{"statusFlickers":true}`:          {0, 0}, // nothing wrong is drawn
		`{"status":503,"callback":{"duplicate":2},"reason":"NOT_ALLOWED"}`: {answer | callback, answer | told},
	} {
		s, err := faults.Parse([]byte(`[{"name":"f","operator":` + operator + `}]`))
		if err != nil {
			t.Fatal(err)
		}
		at := func(status payments.Status) (kinds int) {
			for where := faults.AtWebhook; where <= faults.AtCallback; where++ {
				to := target()
				to.Kind, to.Status, to.Ended = where, status, noon.Add(-59*time.Second)
				if len(s.Matching(to)) == 1 {
					kinds |= 1 << where
				}
			}
			return kinds
		}
		if paid, failed := at(payments.Success), at(payments.Timeout); paid != want.paid || failed != want.failed {
			t.Errorf("%s acts at %b, of a failure at %b; want %b and %b", operator, paid, failed, want.paid, want.failed)
		}
	}
	s, err := faults.Parse([]byte(`[{"name":"f","api":{"status":503}}]`))
	if err != nil {
		t.Fatal(err)
	}
	to := target()
	if to.Kind = faults.AtOperator; len(s.Matching(to)) != 1 {
		t.Error("a fault of the api does not act on a request of an operator's own API")
	}
}

func TestPercentIsDrawnBySeedNameAndReference(t *testing.T) {
	s := parse(t, `{"percent":20}`)
	drawn := func(seed int64) (references []string) {
		for i := range 1000 {
			to := target()
			to.Reference, to.Draws = fmt.Sprint("order-", i), faults.DrawsOf(&seed, 1)
			if len(s.Matching(to)) == 1 {
				references = append(references, to.Reference)
			}
		}
		return references
	}
	first := drawn(7)
	if len(first) < 140 || len(first) > 260 {
		t.Errorf("%d of 1000 were drawn, want about 200", len(first))
	}
	if diff := cmp.Diff(first, drawn(7)); diff != "" {
		t.Errorf("the same seed drew others (-first +second):\n%s", diff)
	}
	if cmp.Equal(first, drawn(8)) {
		t.Error("another seed drew the same")
	}
	s[0].Name = "g"
	if cmp.Equal(first, drawn(7)) {
		t.Error("another fault drew the same")
	}
}

func TestPercentWithoutAReferenceIsDrawnByACounter(t *testing.T) {
	s := parse(t, `{"percent":20}`)
	to := target()
	to.Reference = ""
	if len(s.Matching(to)) != 1 || !s[0].DrawsByCount("") || s[0].DrawsByCount("r") {
		t.Fatal("the fault was drawn without its counter")
	}
	acts := 0
	for n := range int64(1000) {
		if s[0].DrawnAs(n, to.Draws) {
			acts++
		}
	}
	if acts < 140 || acts > 260 {
		t.Errorf("%d of 1000 were drawn, want about 200", acts)
	}
}

func TestDigestTellsEntriesApart(t *testing.T) {
	one, same, other := parse(t, `{"first":1}`), parse(t, `{"first": 1}`), parse(t, `{"first":2}`)
	if !cmp.Equal(one[0].Digest(), same[0].Digest()) || cmp.Equal(one[0].Digest(), other[0].Digest()) {
		t.Errorf("digests %x, %x, %x", one[0].Digest(), same[0].Digest(), other[0].Digest())
	}
}

func TestDraws(t *testing.T) {
	seeded, unseeded := faults.DrawsOf(new(int64(7)), 1), faults.DrawsOf(nil, 7)
	if seeded.Digest("a", "b") == unseeded.Digest("a", "b") {
		t.Error("the draws of a seed are those of a tenant with its number")
	}
	if seeded != faults.DrawsOf(new(int64(7)), 2) {
		t.Error("a reset, which gives another tenant, changes what the seed draws")
	}
	if seeded.Digest("ab", "c") == seeded.Digest("a", "bc") {
		t.Error("the purpose goes on in the reference")
	}
	sum := 0.0
	for i := range 1000 {
		f := seeded.Float("jitter", fmt.Sprint(i))
		if f < 0 || f >= 1 {
			t.Fatalf("drew %f", f)
		}
		sum += f
	}
	if sum < 450 || sum > 550 {
		t.Errorf("1000 numbers in [0, 1) have the sum %f", sum)
	}
}

func TestGlob(t *testing.T) {
	for _, c := range []struct {
		glob, text string
		fits       bool
	}{
		{"order-9*", "order-9", true},
		{"order-9*", "order-91/2", true},
		{"*-9*", "order-91", true},
		{"*a*b*c*", "xxaxxbxxbxc", true},
		{"*a*b", "aXbX", false},
		{"o?der", "order", true},
		{"?", "é", true},
		{"?", "", false},
		{"**", "", true},
		{"[a]", "a", false},
		{"[a]", "[a]", true},
		{"order", "order-9", false},
		{"*", strings.Repeat("a", 500), true},
		{"*", strings.Repeat("a", 501), false},
	} {
		to := target()
		to.Path = c.text
		if c.text == "" {
			to.Path = "-"
			c.glob = "-" + c.glob
		}
		s := faults.Set{{Name: "f", When: faults.When{Path: c.glob}, Webhook: &faults.Webhook{Drop: true}}}
		if got := len(s.Matching(to)) == 1; got != c.fits {
			t.Errorf("%q fits %q: %t, want %t", c.text, c.glob, got, c.fits)
		}
	}
}

// FuzzGlob compares the matcher with what a glob means.
func FuzzGlob(f *testing.F) {
	f.Add("order-9*", "order-91")
	f.Add("*a*b?", "aabbab")
	f.Add("*", "\xff")
	f.Fuzz(func(t *testing.T, glob, text string) {
		if glob == "" || text == "" || len(glob) > 12 || len(text) > 12 {
			return // an empty glob asks for nothing; the definition below takes long for long ones
		}
		s := faults.Set{{Name: "f", When: faults.When{Reference: glob}, Webhook: &faults.Webhook{Drop: true}}}
		got := len(s.Matching(&faults.Target{Reference: text})) == 1
		if want := means([]rune(glob), []rune(text)); got != want {
			t.Errorf("%q fits %q: %t, want %t", text, glob, got, want)
		}
	})
}

func means(glob, text []rune) bool {
	switch {
	case len(glob) == 0:
		return len(text) == 0
	case glob[0] == '*':
		return means(glob[1:], text) || len(text) > 0 && means(glob, text[1:])
	}
	return len(text) > 0 && (glob[0] == '?' || glob[0] == text[0]) && means(glob[1:], text[1:])
}

// FuzzParse looks that whatever a resource may hold is read or refused, and that what was read is the same when it is read again.
func FuzzParse(f *testing.F) {
	f.Add(`[{"name":"silent","when":{"reference":"order-9*","percent":20},"webhook":{"drop":true}}]`)
	f.Add(`[{"name":"late","when":{"from":"2026-11-22T10:00:00Z"},"api":{"delay":"1h30m","dropConnection":"AfterCommit"}}]`)
	f.Add(`[{"name":"told","operator":{"callback":{"duplicate":2,"delay":"1m"},"statusStaysPending":"1h","reason":"NOT_ALLOWED"}}]`)
	f.Add(`null`)
	f.Fuzz(func(t *testing.T, stored string) {
		s, err := faults.Parse([]byte(stored))
		if err != nil {
			if !strings.Contains(err.Error(), "faults") {
				t.Errorf("the error does not say what could not be read: %v", err)
			}
			return
		}
		for i := range s {
			if len(s[i].Digest()) == 0 {
				t.Errorf("fault %d has no digest", i)
			}
		}
		for where := faults.AtWebhook; where <= faults.AtCallback; where++ {
			to := target()
			to.Kind = where
			for _, f := range s.Matching(to) {
				if f.Webhook == nil && f.API == nil && f.Operator == nil {
					t.Errorf("%+v applies, and has no effect", f)
				}
			}
		}
	})
}

// A status flickers where a wrong answer is drawn for what the operator tells at this time.
func TestStatusFlickersWhereAWrongAnswerIsDrawn(t *testing.T) {
	for entry, wrongs := range map[string]struct{ pending, ended, stays bool }{
		`"operator":{"statusFlickers":true}`:                                               {true, true, false},
		`"when":{"status":"SUCCESS"},"operator":{"statusFlickers":true}`:                   {false, true, false},
		`"operator":{"statusFlickers":true,"statusStaysPending":"1m"}`:                     {true, false, true},
		`"operator":{"reason":"NOT_ALLOWED"}`:                                              {false, false, false},
		`"when":{"operator":"orange"},"operator":{"statusFlickers":true}`:                  {false, false, false},
		`"when":{"reference":"order-9*"},"operator":{"statusFlickers":true,"reason":"NO"}`: {true, true, false},
	} {
		s, err := faults.Parse([]byte(`[{"name":"f",` + entry + `}]`))
		if err != nil {
			t.Fatal(err)
		}
		for _, status := range []payments.Status{payments.Pending, payments.Success} {
			for _, drawn := range []struct{ pending, ended bool }{{}, {pending: true}, {ended: true}, {true, true}} {
				to := target()
				to.Kind, to.Status, to.Ended = faults.AtStatus, status, noon.Add(-time.Second)
				to.WrongPending, to.WrongEnded = drawn.pending, drawn.ended
				want := drawn.pending && wrongs.pending && status == payments.Pending ||
					drawn.ended && wrongs.ended && status == payments.Success ||
					drawn.pending && wrongs.stays && status == payments.Success
				acts := len(s.Matching(to)) == 1
				if flickers := acts && s[0].Flickers(to); flickers != want || acts != (want || wrongs.stays && status == payments.Success) {
					t.Errorf("%s at %s with %+v: acts: %t, flickers: %t, want %t", entry, status, drawn, acts, flickers, want)
				}
			}
		}
	}
}
