package httpapi_test

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/payments"
)

func kioskKeep(ctx context.Context, s operatorapi.Sandbox, r *operatorapi.Request) (operatorapi.Answer, error) {
	return operatorapi.Answer{Status: http.StatusAccepted}, s.Keep(ctx, r.Query.Get("name"), r.Query.Get("value"))
}

func kioskKept(ctx context.Context, s operatorapi.Sandbox, r *operatorapi.Request) (operatorapi.Answer, error) {
	var value string
	err := s.Kept(ctx, r.Query.Get("name"), &value)
	return operatorapi.Answer{Status: http.StatusAccepted, Body: value}, err
}

// kioskPaid lists what was paid in the last hour.
func kioskPaid(ctx context.Context, s operatorapi.Sandbox, r *operatorapi.Request) (operatorapi.Answer, error) {
	now, err := s.Now(ctx)
	if err != nil {
		return operatorapi.Answer{}, err
	}
	skip, err := strconv.Atoi(r.Query.Get("skip"))
	if err != nil {
		return operatorapi.Answer{}, err
	}
	all := payments.SentValue{Value: "none", Others: true}
	paid, err := s.ListPaid(ctx, payments.Country(r.Query.Get("in")), now.Add(-time.Hour), now, all, skip)
	listed := []string{}
	for _, t := range paid {
		listed = append(listed, fmt.Sprint(t.Reference, " ", t.Amount, " ", string(t.NativeSent)))
	}
	return operatorapi.Answer{Status: http.StatusAccepted, Body: strings.Join(listed, ", ")}, err
}

// A setting is of one sandbox, and ends with the API key that made it and with a reset.
func TestSettingsOfAnAPI(t *testing.T) {
	k := newKiosk(t)
	kept := func(apiKey, name, want string) {
		t.Helper()
		if _, got, _ := k.toldWith(apiKey, "/kept?name="+name, nil); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	const none = `"not_found"`
	kept(key, "url", none)
	k.ask("/keep?name=url&value=first", nil)
	k.ask("/keep?name=url&value=second", nil)
	kept(key, "url", `"second"`)
	kept(key, "URL", none)
	kept(otherKey, "url", none)
	for what, path := range map[string]string{
		"no name": "/keep?value=x", "a long name": "/keep?value=x&name=" + strings.Repeat("n", 81),
		"a large value": "/keep?name=large&value=" + strings.Repeat("x", operatorapi.MaxKept-1),
	} {
		if status := k.answer(path, nil); status == http.StatusAccepted {
			t.Errorf("%s is kept", what)
		}
	}
	kept(key, "large", none)
	k.exec("update native_settings set made_with = sha256('a key of before')")
	kept(key, "url", none)
	k.ask("/keep?name=url&value=third", nil)
	kept(key, "url", `"third"`)
	k.reset("again")
	kept(key, "url", none)
}

// What was paid is listed whichever API recorded it, and nothing else.
func TestListOfPaidCollections(t *testing.T) {
	k := newKiosk(t)
	k.paymentsWait()
	paid := func(apiKey, query, want string) {
		t.Helper()
		if _, got, _ := k.toldWith(apiKey, "/paid?"+query, nil); got != fmt.Sprintf("%q", want) {
			t.Errorf("%s lists %s, want %q", query, got, want)
		}
	}
	k.pay("native", alice)
	for reference, amount := range map[string]int{"by-v1": 200, "too-much": 60_000} {
		if got := k.call("POST", "/v1/payments", payment(reference, object{"amount": amount})); got.status != http.StatusCreated {
			t.Fatalf("%s is answered %d %s", reference, got.status, got.raw)
		}
	}
	paid(key, "in=RW&skip=0", "")
	k.advance("1m")
	const first, second = `native 100 {"reference":"native"}`, "by-v1 200 "
	paid(key, "in=RW&skip=0", first+", "+second)
	paid(key, "in=RW&skip=1", second)
	paid(key, "in=RW&skip=2", "")
	paid(key, "in=RW&skip=100001", "")
	paid(key, "in=SN&skip=0", "")
	paid(otherKey, "in=RW&skip=0", "")
	k.advance("50m")
	k.pay("later", alice)
	k.advance("15m")
	paid(key, "in=RW&skip=0", `later 100 {"reference":"later"}`)
}
