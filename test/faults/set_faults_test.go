package faults

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/test/system"
)

// TestSetFaultsReachEveryProcess sets faults through one of two apis. Both apis and both workers apply them, also an api
// and a worker that start later, and all of them stop when the faults are removed. The clock of the sandbox stands, and
// another sandbox notices nothing.
func TestSetFaultsReachEveryProcess(t *testing.T) {
	const dropped, delivered = 20, 5
	w := newFixture(t)
	first, second := w.api("first"), w.api("second")
	w.worker("one")
	two := w.worker("two")
	m := w.merchant("tested", first, system.Acknowledge, func(c *sandboxes.Config) {
		c.API.Faults, c.Clock = true, sandboxes.ClockConfig{Mode: sandboxes.ManualClock}
	})
	other := w.merchant("other", first, system.Acknowledge)
	throughFirst := w.client(m, first)
	w.set(throughFirst, "lost-events", `{"when": {"reference": "dropped-*"}, "webhook": {"drop": true}}`)
	w.set(throughFirst, "down", `{"when": {"reference": "down-*", "every": true}, "api": {"status": 503}, "for": "1h"}`)
	w.acts(true, throughFirst, w.client(m, second))

	both := w.client(m, first, second)
	for n := range dropped {
		answer, err := both.Insist(t.Context(), "/payments", system.NewPayment(fmt.Sprintf("dropped-%d", n), system.Unregistered, "success"))
		w.must(err)
		if answer.Status != http.StatusCreated {
			t.Fatalf("a payment was answered %d %s", answer.Status, answer.Body)
		}
	}
	w.acted(m, "lost-events", dropped)

	second.Kill()
	two.Kill()
	second = w.api("second again")
	w.worker("two again")
	throughSecond := w.client(m, second)
	w.acts(true, throughSecond)
	w.pay(m, system.NewPayment("dropped-later", system.Unregistered, "success"))
	w.acted(m, "lost-events", dropped+1)
	for n := range delivered {
		w.pay(m, system.NewPayment(fmt.Sprintf("kept-%d", n), system.Unregistered, "success"))
		w.pay(other, system.NewPayment(fmt.Sprintf("dropped-%d", n), system.Unregistered, "success"))
	}
	w.arrived(m, delivered)
	w.arrived(other, delivered)

	answer, err := throughSecond.Call(t.Context(), http.MethodDelete, "/faults", "")
	w.must(err)
	if answer.Status != http.StatusNoContent {
		t.Fatalf("removing was answered %d %s", answer.Status, answer.Body)
	}
	w.acts(false, throughFirst, throughSecond)
	w.pay(m, system.NewPayment("dropped-no-more", system.Unregistered, "success"))
	w.arrived(m, delivered+1)
	w.audited()
}

// client is a client of a merchant's sandbox at some apis.
func (w *fixture) client(m *system.Merchant, apis ...*system.API) *system.Client {
	w.t.Helper()
	c, err := m.Sandbox.Client(w.t.Context(), apis...)
	w.must(err)
	return c
}

func (w *fixture) set(c *system.Client, name, fault string) {
	w.t.Helper()
	answer, err := c.Call(w.t.Context(), http.MethodPut, "/faults/"+name, fault)
	w.must(err)
	if answer.Status != http.StatusOK {
		w.t.Fatalf("setting %s was answered %d %s", name, answer.Status, answer.Body)
	}
}

// acts waits until the fault `down` acts at the api of each client, or acts no more, and logs how long that took.
func (w *fixture) acts(wanted bool, clients ...*system.Client) {
	w.t.Helper()
	begun := time.Now()
	for n, c := range clients {
		w.until(time.Minute, fmt.Sprintf("the fault acts at an api: %t", wanted), func(ctx context.Context) error {
			answer, err := c.Post(ctx, "/payments", system.NewPayment(fmt.Sprintf("down-%d", n), system.Unregistered, "cancelled"))
			if err == nil && (answer.Header.Get("X-Cauri-Fault") == "down") != wanted {
				err = fmt.Errorf("answered %d %s", answer.Status, answer.Body)
			}
			return err
		})
		w.t.Logf("the fault acts at api %d: %t, after %s", n+1, wanted, time.Since(begun).Round(time.Millisecond))
	}
}

// acted waits until a fault of a merchant's sandbox has acted n times.
func (w *fixture) acted(m *system.Merchant, fault string, n int64) {
	w.t.Helper()
	w.until(time.Minute, fmt.Sprintf("%s acts %d times", fault, n), func(ctx context.Context) error {
		answer, err := m.Client.Get(ctx, "/faults")
		if err != nil {
			return err
		}
		var list struct {
			Data []struct {
				Name  string
				Times int64
			}
		}
		err = json.Unmarshal(answer.Body, &list)
		for _, f := range list.Data {
			if f.Name == fault && f.Times == n {
				return nil
			}
		}
		return errors.Join(fmt.Errorf("listed are %s", answer.Body), err)
	})
}
