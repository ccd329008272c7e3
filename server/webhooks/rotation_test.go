package webhooks_test

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/server/webhooks"
)

// previousSecret is what standardSecret came in place of.
const previousSecret = "whsec_dGhlIG9sZCBzZWNyZXQ="

// The vectors were made with `openssl dgst -sha256 -mac HMAC`.
func TestSignaturesDuringARotation(t *testing.T) {
	t.Parallel()
	const (
		byNew      = "v1,EAgDYlmPNKPSsLiJajP+dNOyA/FdBj/2h/ywZ/jLse4="
		byPrevious = "v1,ZrlGVex1zwi91Cwtg4B+Ehp+zQqLXSlieRwBqJD+mek="
	)
	cases := map[string]struct {
		previous []string
		want     string
	}{
		"the new one comes first": {[]string{previousSecret}, byNew + " " + byPrevious},
		"no previous one":         {nil, byNew},
		"two previous ones":       {[]string{standardSecret, previousSecret}, byNew + " " + byNew + " " + byPrevious},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := webhooks.StandardSignatures(standardSecret, c.previous, "evt_1", at, []byte(event)); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// Receivers change to a new secret when they come to it: until the overlap ends, each accepts with the secret that it has.
func TestReceiversAcceptEitherSecretDuringARotation(t *testing.T) {
	t.Parallel()
	const strangers = "whsec_c29tZWJvZHkgZWxzZSdz"
	cases := map[string]struct {
		previous []string // that the sender signs with too
		receives string   // secret of the receiver
		accepted bool
	}{
		"new secret":                          {[]string{previousSecret}, standardSecret, true},
		"previous secret":                     {[]string{previousSecret}, previousSecret, true},
		"another secret":                      {[]string{previousSecret}, strangers, false},
		"new secret after the overlap":        {nil, standardSecret, true},
		"previous secret after the overlap":   {nil, previousSecret, false},
		"a user's own secret before":          {[]string{ownSecret}, ownSecret, true},
		"new secret, a user's own one before": {[]string{ownSecret}, standardSecret, true},
		"new secret, the second rotation":     {[]string{previousSecret, ownSecret}, standardSecret, true},
		"the one before, the second rotation": {[]string{previousSecret, ownSecret}, previousSecret, true},
		"the oldest, the second rotation":     {[]string{previousSecret, ownSecret}, ownSecret, true},
		"another one, the second rotation":    {[]string{previousSecret, ownSecret}, strangers, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			url := serve(t, func(w http.ResponseWriter, r *http.Request) {
				body, err := io.ReadAll(r.Body)
				if err != nil {
					t.Error(err)
				}
				if err := library(t, c.receives).Verify(body, r.Header); (err == nil) != c.accepted {
					t.Errorf("the library says %v", err)
				}
				if err := webhooks.Verify(r.Header, body, c.receives, time.Now()); (err == nil) != c.accepted {
					t.Errorf("Verify says %v", err)
				}
				if err := webhooks.Verify(r.Header, append(body, ' '), c.receives, time.Now()); err == nil {
					t.Error("a changed body was accepted")
				}
				if got := r.Header.Get(webhooks.HeaderSignature); got != webhooks.Signature(standardSecret, body) {
					t.Errorf("X-Service-Signature is %s, want the new secret's alone", got)
				}
				var previous []string
				if len(c.previous) > 0 {
					previous = []string{webhooks.Signature(c.previous[0], body)}
				}
				if got := r.Header.Values("X-Service-Signature-Previous"); !slices.Equal(got, previous) {
					t.Errorf("X-Service-Signature-Previous is %s, want %s", got, previous)
				}
				// A receiver that knows no other header than these two accepts as well.
				mine := webhooks.Signature(c.receives, body)
				if matches := slices.Contains([]string{r.Header.Get("X-Service-Signature"), r.Header.Get("X-Service-Signature-Previous")},
					mine); matches !=
					(c.accepted && !slices.Contains(c.previous[min(1, len(c.previous)):], c.receives)) {
					t.Errorf("one of the two headers matches: %t", matches)
				}
			})
			d := delivery(url)
			d.Previous = c.previous
			if r := newSender().Send(t.Context(), d); r.Err != nil {
				t.Error(r.Err)
			}
		})
	}
}

// A second signature that is nobody's does not open what the first one keeps shut.
func TestVerifyWithMoreThanOneSignature(t *testing.T) {
	t.Parallel()
	foreign := "v1," + strings.Repeat("A", 43) + "="
	h := signed(ownSecret, at)
	h.Set(webhooks.HeaderStandardSignature, h.Get(webhooks.HeaderStandardSignature)+" "+foreign)
	for _, previous := range []string{"", "sha256=", webhooks.Signature(previousSecret, []byte(event))} {
		h.Set(webhooks.HeaderPreviousSignature, previous)
		if err := webhooks.Verify(h, []byte(event), standardSecret, at); !errors.Is(err, webhooks.ErrBadSignature) {
			t.Errorf("with %q: %v", previous, err)
		}
	}
	h.Set(webhooks.HeaderStandardSignature, h.Get(webhooks.HeaderStandardSignature)+" "+foreign)
	if err := webhooks.Verify(h, []byte(event), standardSecret, at); !errors.Is(err, webhooks.ErrBadStandardSignature) {
		t.Errorf("with three of them: %v", err)
	}
	h.Set(webhooks.HeaderPreviousSignature, webhooks.Signature(standardSecret, []byte(event)))
	if err := webhooks.Verify(h, []byte(event), standardSecret, at); !errors.Is(err, webhooks.ErrBadStandardSignature) {
		t.Errorf("without a standard signature of its own: %v", err)
	}
}
