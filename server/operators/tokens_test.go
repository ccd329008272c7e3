package operators_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/operators/adapter"
	"github.com/cauri-dev/cauri/server/payments"
)

func TestTokensThatAreNotGiven(t *testing.T) {
	for name, c := range map[string]struct {
		code    int
		body    string
		reason  string
		refused bool
	}{
		"refused":     {401, "{}", "refused the credentials", true},
		"forbidden":   {403, "", "refused the credentials", true},
		"bad request": {400, `{"error":"invalid_client"}`, "refused the credentials", true},
		"down":        {500, "", "answered 500", false},
		"garbage":     {200, "ok", "cannot be read", false},
		"no token":    {200, "{}", "without a token", false},
		"a bad time":  {200, `{"access_token":"T","token":"T","expires_in":"soon","expiresIn":{}}`, "cannot be read", false},
	} {
		for _, operator := range payments.Operators {
			if operator == payments.Moov { // its clients make tokens themselves
				continue
			}
			t.Run(name+" "+string(operator), func(t *testing.T) {
				server := httptest.NewServer(answers(c.code, c.body))
				defer server.Close()
				access := adapter.Access{
					BaseURL: server.URL, HTTP: server.Client(), ClientSecret: "hush", MerchantKey: "mk", ShortCode: "600123", Passkey: "pk",
					Tokens: adapter.NewTokens(time.Now),
				}
				_, err := operators.NewClient(operator, access).Collect(t.Context(), forwarded(operator))
				var refused adapter.ErrRefused
				if err == nil || !strings.Contains(err.Error(), c.reason) || errors.As(err, &refused) != c.refused {
					t.Errorf("got %T %v, want %q", err, err, c.reason)
				}
			})
		}
	}
}

func TestTokenIsKeptAsLongAsItIsValid(t *testing.T) {
	f := newFake(t, answers(202, ""))
	access := f.access()
	tokens := func() (n int) {
		for _, line := range f.came {
			n += strings.Count(line, "/token")
		}
		return n
	}
	ask := func(a adapter.Access, want int, when string) {
		t.Helper()
		if _, err := operators.NewClient(payments.MTN, a).Collect(t.Context(), forwarded(payments.MTN)); err != nil {
			t.Fatal(err)
		}
		if got := tokens(); got != want {
			t.Errorf("%s: %d tokens were asked for, want %d", when, got, want)
		}
	}
	ask(access, 1, "first")
	ask(access, 1, "again")
	f.clock = f.clock.Add(161 * time.Second)
	ask(access, 1, "before nine tenths of its time are over")
	f.clock = f.clock.Add(2 * time.Second)
	ask(access, 2, "after that")
	other := access
	other.ClientSecret = "other"
	ask(other, 3, "with other credentials")
	ask(access, 3, "with the first ones")
}

func TestTokenThatTheOperatorForgot(t *testing.T) {
	refuse := 1
	f := newFake(t, func(w http.ResponseWriter, _ *http.Request) {
		if refuse--; refuse >= 0 {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.WriteHeader(http.StatusAccepted)
	})
	if got, err := f.api(payments.MTN).Collect(t.Context(), forwarded(payments.MTN)); err != nil || got.Status != payments.Pending {
		t.Errorf("got %+v, %v", got, err)
	}
	if len(f.came) != 4 {
		t.Errorf("came: %v", f.came)
	}
}
