package operators_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/operators/adapter"
	"github.com/cauri-dev/cauri/server/payments"
)

// Safaricom makes the id of a push, so a push that may have reached it is not sent again: the payer could pay twice. One that
// did not reach it may be sent again.
func TestMPesaSendsNoPushThatMayRing(t *testing.T) {
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		lost   bool
	}{
		"breaks off": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, true},
		"is broken":  {answers(500, `{"errorCode":"500.003.1001"}`), true},
		"a gateway":  {answers(502, "<html>"), true},
		"no JSON":    {answers(200, "<html>"), true},
		"no id":      {answers(200, `{"ResponseCode":"0"}`), true},
		"busy":       {answers(500, `{"errorCode":"500.003.02"}`), false},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t, c.answer)
			_, err := f.api(payments.MPesa).Collect(t.Context(), forwarded(payments.MPesa))
			if err == nil || errors.As(err, new(adapter.ErrRefused)) != c.lost || strings.Contains(err.Error(), "the push may ring") != c.lost {
				t.Errorf("got %T %v", err, err)
			}
		})
	}
	f := newFake(t, answers(200, ""))
	api := f.api(payments.MPesa)
	_, _ = api.Ask(t.Context(), forwarded(payments.MPesa)) // which gets a token
	f.Close()
	if _, err := api.Collect(t.Context(), forwarded(payments.MPesa)); err == nil || errors.As(err, new(adapter.ErrRefused)) {
		t.Errorf("without a connection: %T %v", err, err)
	}
}

// M-Pesa answers a token that is not valid with 404, as it does for an unknown path. Only the former is worth another token.
func TestMPesaTokenThatIsForgotten(t *testing.T) {
	for body, want := range map[string]int{`{"errorCode":"404.001.03"}`: 4, `{"errorCode":"404.001.01"}`: 2} {
		f := newFake(t, answers(http.StatusNotFound, body))
		_, err := f.api(payments.MPesa).Collect(t.Context(), forwarded(payments.MPesa))
		if !errors.As(err, new(adapter.ErrRefused)) || !strings.Contains(err.Error(), "404") || len(f.came) != want {
			t.Errorf("%s: %v after %d requests", body, err, len(f.came))
		}
	}
}

// Without a short code, a passkey or the id of the push, the client sends nothing.
func TestMPesaNeedsAMerchantAndAPush(t *testing.T) {
	f := newFake(t, answers(http.StatusOK, `{}`))
	for key, change := range map[string]func(*adapter.Access){
		"short_code": func(a *adapter.Access) { a.ShortCode = "" }, "passkey": func(a *adapter.Access) { a.Passkey = "" },
	} {
		access := f.access()
		change(&access)
		_, err := operators.NewClient(payments.MPesa, access).Collect(t.Context(), forwarded(payments.MPesa))
		if !errors.As(err, new(adapter.ErrRefused)) || !strings.Contains(err.Error(), "no key "+key) {
			t.Errorf("without %s: %v", key, err)
		}
	}
	transaction := forwarded(payments.MPesa)
	transaction.NativeRaw = nil
	if _, err := f.api(payments.MPesa).Ask(t.Context(), transaction); err == nil || len(f.came) != 0 {
		t.Errorf("without a push: %v, and %v was sent", err, f.came)
	}
}
