package faults

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/test/system"
)

// rush is a steady load on a sandbox that accepts refusals.
type rush struct {
	made    atomic.Int64
	refused [4]atomic.Int64 // by client, because the sandbox is suspended
}

// begin makes payments with several clients until the context ends. The returned function waits for the clients.
func (r *rush) begin(ctx context.Context, w *fixture, m *system.Merchant, msisdn string) (wait func()) {
	var group sync.WaitGroup
	for client := range r.refused {
		group.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				scenario := ""
				if n%2 == 0 {
					scenario = "success"
				}
				// Finish requests in progress, so that the test sees every answer.
				answer, err := m.Client.Post(w.t.Context(), "/payments", system.NewPayment(fmt.Sprintf("c%d-%d", client, n), msisdn, scenario))
				switch {
				case err != nil:
					w.t.Error(err)
					return
				case answer.Status == http.StatusCreated:
					r.made.Add(1)
				case answer.Status == http.StatusServiceUnavailable:
					if strings.Contains(string(answer.Body), `"suspended"`) {
						r.refused[client].Add(1)
					}
					system.Rest(ctx, 20*time.Millisecond)
				default:
					w.t.Errorf("answered %d %s", answer.Status, answer.Body)
				}
			}
		})
	}
	return group.Wait
}

func (w *fixture) rushed(n int64, count *atomic.Int64, what string) {
	w.t.Helper()
	from := count.Load()
	w.until(time.Minute, fmt.Sprintf("%d more requests are %s", n, what), func(context.Context) error {
		if now := count.Load() - from; now < n {
			return fmt.Errorf("%d are", now)
		}
		return nil
	})
}

// suspended waits until each client was refused n more times. After the first time, none has a request in progress of before.
func (w *fixture) suspended(n int64, r *rush) {
	w.t.Helper()
	for client := range r.refused {
		w.rushed(n, &r.refused[client], fmt.Sprintf("refused of client %d", client))
	}
}

func TestSuspendedUnderLoad(t *testing.T) {
	w := newFixture(t)
	api := w.api("api")
	w.worker("worker-0")
	w.worker("worker-1")
	m := w.merchant("resting", api, system.AcknowledgeAfter(20*time.Millisecond))
	payer, err := m.AddPayer(t.Context(), 1, payments.Approve, 1_000_000_000)
	w.must(err)
	var load rush
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	wait := load.begin(ctx, w, m, payer.MSISDN)
	for range 3 {
		w.rushed(50, &load.made, "booked")
		w.must(m.Apply(t.Context(), func(c *sandboxes.Config) { c.Suspended = true }))
		w.suspended(2, &load)
		made := load.made.Load()
		w.audited()
		w.suspended(5, &load)
		if now := load.made.Load(); now != made {
			t.Errorf("%d payments were booked while the sandbox was suspended", now-made)
		}
		w.must(m.Apply(t.Context(), func(c *sandboxes.Config) { c.Suspended = false }))
	}
	w.rushed(50, &load.made, "booked")
	stop()
	wait()
	w.drained(m)
	if booked, err := w.Count(
		t.Context(),
		"select count(*) from transactions where tenant = $1",
		m.Tenant,
	); err != nil ||
		booked != load.made.Load() {
		t.Errorf("%d transactions are booked (%v), clients know %d", booked, err, load.made.Load())
	}
}

func TestResetUnderLoad(t *testing.T) {
	const resets = 3
	w := newFixture(t)
	api := w.api("api")
	w.worker("worker-0")
	w.worker("worker-1")
	m := w.merchant("fresh", api, system.AcknowledgeAfter(20*time.Millisecond))
	neighbour := w.merchant("neighbour", api, system.Acknowledge)
	payer, err := m.AddPayer(t.Context(), 1, payments.Approve, 1_000_000_000)
	w.must(err)
	other, err := neighbour.AddPayer(t.Context(), 1, payments.Approve, 1_000_000_000)
	w.must(err)
	var load, beside rush
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	waits := []func(){load.begin(ctx, w, m, payer.MSISDN), beside.begin(ctx, w, neighbour, other.MSISDN)}
	former := []int64{m.Tenant}
	for n := range resets {
		w.rushed(100, &load.made, "booked")
		w.must(m.Apply(t.Context(), func(c *sandboxes.Config) { c.Reset = fmt.Sprintf("reset-%d", n) }))
		former = append(former, m.Tenant)
		w.audited()
	}
	w.rushed(100, &load.made, "booked")
	stop()
	for _, wait := range waits {
		wait()
	}
	w.must(w.Drained(t.Context(), stall, m.Sandbox, neighbour.Sandbox))
	w.audited()
	w.report(m.Receiver.Refused())
	for i, tenant := range former[:resets] {
		if tenant == former[i+1] {
			t.Errorf("the reset after tenant %d did not change it", tenant)
		}
	}
	// No old work is left, and the neighbor is unchanged.
	problems, err := neighbour.AuditDeliveries(t.Context(), neighbour.Receiver)
	w.must(err)
	w.report(problems)
	if booked, err := w.Count(
		t.Context(),
		"select count(*) from transactions where tenant = $1",
		neighbour.Tenant,
	); err != nil ||
		booked != beside.made.Load() {
		t.Errorf("%d transactions of the neighbor are booked (%v), its clients know %d", booked, err, beside.made.Load())
	}
	w.purged(former[:resets])
}

// purged checks that a worker removes all rows of retired tenants. It does so minutes after the retirement, when nobody
// can still write for them. The test moves the retirement into the past and starts a worker, which does not wait for
// its next pass.
func (w *fixture) purged(former []int64) {
	w.t.Helper()
	_, err := w.SQL.Exec(
		w.t.Context(),
		"update retired_tenants set retired_at = retired_at - interval '1 hour' where tenant = any($1)",
		former,
	)
	w.must(err)
	w.worker("purger")
	w.until(time.Minute, "the retired tenants are purged", func(ctx context.Context) error {
		left, err := w.Count(
			ctx,
			`select (select count(*) from transactions where tenant = any($1)) + (select count(*) from events where tenant = any($1)) +
			(select count(*) from sims where tenant = any($1)) + (select count(*) from floats where tenant = any($1))`,
			former,
		)
		if err == nil && left > 0 {
			err = fmt.Errorf("%d rows are left", left)
		}
		return err
	})
}
