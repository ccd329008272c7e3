package ledger_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/ledger/nativestore"
	"github.com/cauri-dev/cauri/server/payments"
)

func (w *fixture) keep(operator payments.Operator, name string, value int) {
	err := w.KeepNativeSetting(w.T.Context(), w.Sandbox.Tenant, &nativestore.Setting{
		Operator: operator, Name: name, MadeWith: w.Key, Value: json.RawMessage(fmt.Sprint(value)),
	})
	if err != nil {
		w.T.Error(err)
	}
}

// kept returns the value of a setting, "" for none.
func (w *fixture) kept(operator payments.Operator, name string) string {
	w.T.Helper()
	found, err := w.FindNativeSetting(w.T.Context(), w.Sandbox.Tenant, operator, name)
	if errors.Is(err, ledger.ErrNotFound) {
		return ""
	}
	if err != nil {
		w.T.Fatal(err)
	}
	if found.MadeWith != w.Key {
		w.T.Errorf("%s was made with another key", name)
	}
	return string(found.Value)
}

// Callers at one time do not pass the bound together. A setting that is kept again is new.
func TestASandboxKeepsItsNewestSettings(t *testing.T) {
	w := newFixture(t)
	other := w.beside("other")
	other.keep(payments.MTN, "url", 7)
	w.keep(payments.Airtel, "url", 8)
	w.keep(payments.MTN, "url", 1)
	w.keep(payments.MTN, "oldest", 1)
	w.keep(payments.MTN, "url", 2)
	w.Exec("update native_settings set kept_at = now() - interval '1 hour' where name = 'oldest'")
	for _, round := range []string{"a", "b"} {
		var callers sync.WaitGroup
		for i := range nativestore.MaxSettings - 1 {
			callers.Go(func() { w.keep(payments.MTN, fmt.Sprint(round, i), i) })
		}
		callers.Wait()
		if round == "a" {
			if got := w.kept(payments.MTN, "url"); got != "2" {
				t.Errorf("url is %q", got)
			}
			if got := w.kept(payments.MTN, "oldest"); got != "" {
				t.Errorf("the oldest is still %s", got)
			}
		}
	}
	if got := w.Count("select count(*) from native_settings where tenant = $1 and operator = 'mtn'", w.Sandbox.Tenant); got != nativestore.MaxSettings {
		t.Errorf("it has %d settings, want %d", got, nativestore.MaxSettings)
	}
	if got := w.kept(payments.Airtel, "url") + other.kept(payments.MTN, "url") + other.kept(payments.Airtel, "url"); got != "87" {
		t.Errorf("those of another operator and of another sandbox are %q", got)
	}
}
