package webhooks_test

import (
	"encoding/base64"
	"errors"
	"net/http"
	"strconv"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/cauri-dev/cauri/server/webhooks"
)

const (
	// standardSecret is of the form that this service makes; ownSecret and oddSecret are a user's own.
	standardSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	ownSecret      = "correct horse battery staple"
	oddSecret      = "whsec_not base64 at all"

	event = `{"event":"payment.completed","tx_id":"TX_1"}`
)

var at = time.Unix(1780228800, 0)

// The vectors were made with `openssl dgst -sha256`, but for the one that the Standard Webhooks specification prints.
func TestSignatureVectors(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ secret, want string }{
		"whsec_":                {standardSecret, "sha256=437ea2290039429679cd6ed7a8650c3ae2e7585be259cef980691fe6cfa8c5bb"},
		"own secret":            {ownSecret, "sha256=669dee27c72c0b916988552e22354fdf76b424c08211872b9d0bba0680481573"},
		"whsec_ without base64": {oddSecret, "sha256=26ef3af340165c7659b6f7ffd80eaa079a371f6ccedc13a5d56534ddd7c2027e"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := webhooks.Signature(c.secret, []byte(event)); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestStandardSignatureVectors(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		secret, id string
		at         time.Time
		body, want string
	}{
		"of the specification": {
			standardSecret, "msg_p5jXN8AQM9LWM0D4loKWxJek", time.Unix(1614265330, 0), `{"test": 2432232314}`,
			"v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
		},
		"whsec_":                {standardSecret, "evt_1", at, event, "v1,EAgDYlmPNKPSsLiJajP+dNOyA/FdBj/2h/ywZ/jLse4="},
		"own secret":            {ownSecret, "evt_1", at, event, "v1,4NHz8Ka9v9WZGchr+cT0p2dtb1lj/btJd7vLqV5Fmuc="},
		"whsec_ without base64": {oddSecret, "evt_1", at, event, "v1,0t7JRW7VDaEJ2Ds0Iam+kBBOjtR1i7Dtt63dZiUbckg="},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := webhooks.StandardSignature(c.secret, c.id, c.at, []byte(c.body)); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// A secret whose base64 part is empty must not make the key that everybody knows.
func TestSignatureNeverHasAnEmptyKey(t *testing.T) {
	t.Parallel()
	empty, err := standardwebhooks.NewWebhookRaw(nil)
	if err != nil {
		t.Fatal(err)
	}
	known, err := empty.Sign("evt_1", at, []byte(event))
	if err != nil {
		t.Fatal(err)
	}
	if got := webhooks.StandardSignature(webhooks.SecretPrefix, "evt_1", at, []byte(event)); got == known {
		t.Error("the secret whsec_ signs with an empty key")
	}
}

// library is the receiver that the users of Standard Webhooks have. It wants what is signed with in base64, so a secret of
// another form is given to it as its bytes.
func library(t *testing.T, secret string) *standardwebhooks.Webhook {
	t.Helper()
	receiver, err := standardwebhooks.NewWebhook(secret)
	if secret == ownSecret || secret == oddSecret {
		receiver, err = standardwebhooks.NewWebhook(base64.StdEncoding.EncodeToString([]byte(secret)))
	}
	if err != nil {
		t.Fatal(err)
	}
	return receiver
}

// signed are the headers of a delivery of event.
func signed(secret string, at time.Time) http.Header {
	h := http.Header{}
	h.Set(webhooks.HeaderSignature, webhooks.Signature(secret, []byte(event)))
	h.Set(webhooks.HeaderStandardID, "evt_1")
	h.Set(webhooks.HeaderStandardTimestamp, strconv.FormatInt(at.Unix(), 10))
	h.Set(webhooks.HeaderStandardSignature, webhooks.StandardSignature(secret, "evt_1", at, []byte(event)))
	return h
}

func TestStandardWebhooksLibraryAcceptsOurSignatures(t *testing.T) {
	t.Parallel()
	for _, secret := range []string{standardSecret, ownSecret, oddSecret} {
		t.Run(secret, func(t *testing.T) {
			receiver, headers := library(t, secret), signed(secret, time.Now())
			if err := receiver.Verify([]byte(event), headers); err != nil {
				t.Error(err)
			}
			if err := receiver.Verify([]byte(event+" "), headers); err == nil {
				t.Error("a changed body was accepted")
			}
		})
	}
}

func TestVerify(t *testing.T) {
	t.Parallel()
	old := webhooks.StandardSignature("whsec_dGhlIG9sZCBzZWNyZXQ=", "evt_1", at, []byte(event))
	cases := map[string]struct {
		tamper func(h http.Header)
		body   string
		secret string
		later  time.Duration
		want   error
	}{
		"untouched":                  {},
		"almost five minutes late":   {later: 5 * time.Minute},
		"almost five minutes early":  {later: -5 * time.Minute},
		"too late":                   {later: 5*time.Minute + time.Second, want: webhooks.ErrBadTimestamp},
		"too early":                  {later: -5*time.Minute - time.Second, want: webhooks.ErrBadTimestamp},
		"a byte of the body changed": {body: `{"event":"payment.completed","tx_id":"TX_2"}`, want: webhooks.ErrBadSignature},
		"a byte was added":           {body: event + "\n", want: webhooks.ErrBadSignature},
		"no body":                    {body: " ", want: webhooks.ErrBadSignature},
		"another secret":             {secret: ownSecret, want: webhooks.ErrBadSignature},
		"no signature":               {tamper: func(h http.Header) { h.Del(webhooks.HeaderSignature) }, want: webhooks.ErrBadSignature},
		"signature without sha256=": {tamper: func(h http.Header) {
			h.Set(webhooks.HeaderSignature, h.Get(webhooks.HeaderSignature)[len("sha256="):])
		}, want: webhooks.ErrBadSignature},
		"half a signature": {tamper: func(h http.Header) {
			h.Set(webhooks.HeaderSignature, h.Get(webhooks.HeaderSignature)[:20])
		}, want: webhooks.ErrBadSignature},
		"no timestamp": {tamper: func(h http.Header) { h.Del(webhooks.HeaderStandardTimestamp) }, want: webhooks.ErrBadTimestamp},
		"timestamp is no number": {tamper: func(h http.Header) { h.Set(webhooks.HeaderStandardTimestamp, "now") },
			want: webhooks.ErrBadTimestamp},
		"timestamp beyond all": {tamper: func(h http.Header) { h.Set(webhooks.HeaderStandardTimestamp, "-9223372036854775808") },
			want: webhooks.ErrBadTimestamp},
		"another timestamp": {tamper: func(h http.Header) { h.Set(webhooks.HeaderStandardTimestamp, "1780228801") },
			want: webhooks.ErrBadStandardSignature},
		"no id": {tamper: func(h http.Header) { h.Del(webhooks.HeaderStandardID) }, want: webhooks.ErrBadStandardSignature},
		"another id": {tamper: func(h http.Header) { h.Set(webhooks.HeaderStandardID, "evt_2") },
			want: webhooks.ErrBadStandardSignature},
		"no standard signature": {tamper: func(h http.Header) { h.Del(webhooks.HeaderStandardSignature) },
			want: webhooks.ErrBadStandardSignature},
		"standard signature of a secret that was rotated out": {
			tamper: func(h http.Header) { h.Set(webhooks.HeaderStandardSignature, old) }, want: webhooks.ErrBadStandardSignature,
		},
		"two standard signatures, the first right": {tamper: func(h http.Header) {
			h.Set(webhooks.HeaderStandardSignature, h.Get(webhooks.HeaderStandardSignature)+" "+old)
		}},
		"two standard signatures, the second right": {tamper: func(h http.Header) {
			h.Set(webhooks.HeaderStandardSignature, old+" "+h.Get(webhooks.HeaderStandardSignature))
		}},
		"two standard signatures run together": {tamper: func(h http.Header) {
			h.Set(webhooks.HeaderStandardSignature, old+h.Get(webhooks.HeaderStandardSignature))
		}, want: webhooks.ErrBadStandardSignature},
		"another version of the standard signature": {tamper: func(h http.Header) {
			h.Set(webhooks.HeaderStandardSignature, "v2"+h.Get(webhooks.HeaderStandardSignature)[2:])
		}, want: webhooks.ErrBadStandardSignature},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			headers := signed(standardSecret, at)
			if c.tamper != nil {
				c.tamper(headers)
			}
			if c.body == "" {
				c.body = event
			}
			if c.secret == "" {
				c.secret = standardSecret
			}
			if err := webhooks.Verify(headers, []byte(c.body), c.secret, at.Add(c.later)); !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
}

// Whoever runs without a secret must refuse everything: a signature by the empty key can be made by anybody.
func TestVerifyWithoutASecretFailsClosed(t *testing.T) {
	t.Parallel()
	if err := webhooks.Verify(signed("", at), []byte(event), "", at); !errors.Is(err, webhooks.ErrBadSignature) {
		t.Errorf("got %v, want ErrBadSignature", err)
	}
}

// FuzzVerify shows that nothing but the two signatures of the very body opens the door.
func FuzzVerify(f *testing.F) {
	h := signed(standardSecret, at)
	f.Add([]byte(event), h.Get(webhooks.HeaderSignature), "evt_1", "1780228800", h.Get(webhooks.HeaderStandardSignature))
	f.Add([]byte("{}"), "sha256=", "", "", "v1, v1,")
	f.Fuzz(func(t *testing.T, body []byte, signature, id, timestamp, standard string) {
		h := http.Header{}
		h.Set(webhooks.HeaderSignature, signature)
		h.Set(webhooks.HeaderStandardID, id)
		h.Set(webhooks.HeaderStandardTimestamp, timestamp)
		h.Set(webhooks.HeaderStandardSignature, standard)
		if webhooks.Verify(h, body, standardSecret, at) == nil && string(body) != event {
			t.Errorf("%q was accepted", body)
		}
	})
}
