package cases

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"time"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/test/load/bench"
	"github.com/cauri-dev/cauri/test/load/report"
	"github.com/cauri-dev/cauri/test/system"
)

// clock measures how long an advance of a sandbox's clock takes: over three hours in which nobody acknowledges an
// event, over a day in which many payments time out, and beside many other advances.
func clock(ctx context.Context, b *bench.Bench) error {
	apis, err := b.Apis(ctx, 1)
	if err != nil {
		return err
	}
	if _, err := b.Workers(ctx, 1); err != nil {
		return err
	}
	if err := advanceRetries(ctx, b, apis[0]); err != nil {
		return err
	}
	if err := advanceDay(ctx, b, apis[0]); err != nil {
		return err
	}
	return advanceBeside(ctx, b, apis[0])
}

// advanced is what the API tells of an advance that has ended.
type advanced struct {
	Settled        int
	Expired        int
	Delivered      int
	FailedAttempts int
}

// advance moves the clock and waits for the end of the advance, however many calls that takes.
func advance(ctx context.Context, client *system.Client, by string) (took time.Duration, did advanced, err error) {
	begun := time.Now()
	body := map[string]string{"by": by}
	for {
		answer, err := client.Post(ctx, "/clock/advance", body)
		if err != nil {
			return 0, did, err
		}
		var told struct {
			advanced
			Target string
		}
		switch answer.Status {
		case http.StatusOK, http.StatusAccepted:
			err = json.Unmarshal(answer.Body, &told)
		default:
			err = fmt.Errorf("an advance was answered with %d %s", answer.Status, answer.Body)
		}
		if err != nil || answer.Status == http.StatusOK {
			return time.Since(begun), told.advanced, err
		}
		body = map[string]string{"to": told.Target}
	}
}

// ignored creates payments that their payer ignores.
func ignored(ctx context.Context, s *system.Sandbox, client *system.Client, count int) error {
	payer, err := s.AddPayer(ctx, 1, payments.Ignore, 1_000_000_000)
	if err != nil {
		return err
	}
	return bench.InParallel(ctx, count, 16, func(ctx context.Context, i int) error {
		_, err := client.Insist(ctx, "/payments", system.NewPayment(fmt.Sprintf("p%d", i), payer.MSISDN, ""))
		return err
	})
}

// advanceRetries measures an advance by three hours in which one payment times out and all attempts to deliver its
// event fail. The baseline posts the same body as often to the same receiver. Each round has its own sandbox, because
// an endpoint that has failed for hours is no longer tried by the schedule.
func advanceRetries(ctx context.Context, b *bench.Bench, api *system.API) error {
	receiver := &bench.Receiver{Status: http.StatusInternalServerError}
	if err := receiver.Open(); err != nil {
		return err
	}
	defer receiver.Close()
	attempts := 1 + sandboxes.DefaultRetryPolicy.MaxRetries
	var ours, baseline []float64 // milliseconds
	for range b.Settings.Rounds {
		s, err := b.AddSandbox(ctx, b.Series("refused-"), receiver.URL, func(c *sandboxes.Config) {
			c.Webhook.Retry = sandboxes.DefaultRetryPolicy
		})
		if err != nil {
			return err
		}
		client, err := s.Client(ctx, api)
		if err != nil {
			return err
		}
		if err := ignored(ctx, s, client, 1); err != nil {
			return err
		}
		took, did, err := advance(ctx, client, "3h")
		if err != nil {
			return err
		}
		if want := (advanced{Expired: 1, FailedAttempts: attempts}); did != want {
			b.Problem("three hours of a payment that times out did %+v, not %+v", did, want)
		}
		if posts, _ := receiver.Empty(); posts != attempts {
			b.Problem("the event was posted %d times, not %d", posts, attempts)
		}
		sent, err := retried(ctx, b, s)
		if err != nil {
			return err
		}
		if err := nothingLeft(ctx, b, client); err != nil {
			return err
		}
		directly, err := postDirectly(ctx, receiver.URL, sent, attempts)
		if err != nil {
			return err
		}
		receiver.Empty()
		ours, baseline = append(ours, report.Milliseconds(took)), append(baseline, report.Milliseconds(directly))
	}
	limit := 3000.0
	b.Add(report.Figure{Name: "3 h, a payment and six attempts, to the answer", Unit: "ms", Value: report.SampleOf(ours...), AtMost: &limit})
	b.Against("the same, beside its six posts made directly", "ms", report.SampleOf(ours...), report.SampleOf(baseline...)).Show()
	return nil
}

// retried checks that the payment of a sandbox timed out when its time was over, and that its event was sent by the
// schedule until it failed. It returns the event's body.
func retried(ctx context.Context, b *bench.Bench, s *system.Sandbox) (body []byte, err error) {
	var status, state string
	var created, completed time.Time
	var attempts []time.Time
	err = b.SQL.QueryRow(ctx, `select t.status::text, e.state::text, t.created_at, t.completed_at, e.body,
			array(select started_at from delivery_attempts a where a.tenant = e.tenant and a.event_id = e.id order by attempt)
		from transactions t join events e using (tenant, id) where t.tenant = $1`, s.Tenant).
		Scan(&status, &state, &created, &completed, &body, &attempts)
	if err != nil {
		return nil, fmt.Errorf("reading the payment that timed out: %w", err)
	}
	if status != string(payments.Timeout) || completed.Sub(created) != sandboxes.DefaultPendingTimeout || state != "failed" {
		b.Problem("the payment ended %s after %s, and its event is %s", status, completed.Sub(created), state)
	}
	due, gap := completed, sandboxes.DefaultRetryPolicy.InitialDelay
	for i, at := range attempts {
		late := at.Sub(due).Abs()
		if i == 0 && late > 0 || late > gap/10+time.Millisecond { // the jitter, and what was rounded
			b.Problem("attempt %d began %s from its time", i+1, late)
		}
		if i > 0 {
			gap = time.Duration(float64(gap) * sandboxes.DefaultRetryPolicy.Factor)
		}
		due = at.Add(gap)
	}
	return body, nil
}

// postDirectly posts a body several times, one after the other, and measures the time.
func postDirectly(ctx context.Context, url string, body []byte, times int) (time.Duration, error) {
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	begun := time.Now()
	for range times {
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
		if err != nil {
			return 0, err
		}
		response, err := transport.RoundTrip(request)
		if err != nil {
			return 0, err
		}
		_, err = io.Copy(io.Discard, response.Body)
		_ = response.Body.Close()
		if err != nil {
			return 0, err
		}
	}
	return time.Since(begun), nil
}

// advanceDay measures an advance by a day in which many payments time out, each at its own time, and their events are
// acknowledged.
func advanceDay(ctx context.Context, b *bench.Bench, api *system.API) error {
	count := 1000
	if b.Settings.Small { // each is a stop of the clock
		count = 10
	}
	m, err := b.AddMerchant(ctx, "day", api, system.Acknowledge)
	if err != nil {
		return err
	}
	if err := ignored(ctx, m.Sandbox, m.Client, count); err != nil {
		return err
	}
	took, did, err := advance(ctx, m.Client, "24h")
	if err != nil {
		return err
	}
	b.Target(fmt.Sprintf("24 h, %s payments that time out, to the answer", report.Number(float64(count))), took.Seconds(), "s", 60)
	if want := (advanced{Expired: count, Delivered: count}); did != want {
		b.Problem("a day of %d payments that time out did %+v, not %+v", count, did, want)
	}
	inTime, err := b.Count(ctx, `select count(*) from transactions t join events e using (tenant, id)
			join delivery_attempts a on a.tenant = e.tenant and a.event_id = e.id
		where t.tenant = $1 and t.status = 'TIMEOUT' and t.completed_at = t.created_at + $2::interval
			and e.state = 'delivered' and a.attempt = 1 and a.started_at = t.completed_at`, m.Tenant, sandboxes.DefaultPendingTimeout)
	if err != nil {
		return err
	}
	if posts := m.Receiver.Total(); inTime != int64(count) || posts != count {
		b.Problem("%d payments timed out and were told of at their time, with %d posts, not %d of each", inTime, posts, count)
	}
	if err := nothingLeft(ctx, b, m.Client); err != nil {
		return err
	}
	return b.Delivered(ctx, m)
}

// advanceBeside measures advances by an hour in which nothing is due: alone, and beside sandboxes whose clocks are advanced by a day in
// which their payments time out and whose receiver hangs.
func advanceBeside(ctx context.Context, b *bench.Bench, api *system.API) error {
	victim, err := b.AddMerchant(ctx, "beside", api, system.Acknowledge)
	if err != nil {
		return err
	}
	hanging, err := net.Listen("tcp", "127.0.0.1:0") // nobody accepts
	if err != nil {
		return fmt.Errorf("opening a receiver that hangs: %w", err)
	}
	defer func() { _ = hanging.Close() }()
	counts := []int{0, 16, 200}
	if b.Settings.Small {
		counts = []int{0, 20}
	}
	slow := 0
	for _, count := range counts {
		for ; slow < count; slow++ {
			if err := advanceSlowly(ctx, b, api, fmt.Sprintf("slow-%d", slow), "http://"+hanging.Addr().String()+"/hook"); err != nil {
				return err
			}
		}
		var took []time.Duration
		for range 20 {
			one, did, err := advance(ctx, victim.Client, "1h")
			if err != nil {
				return err
			}
			if did != (advanced{}) {
				b.Problem("an hour in which nothing is due did %+v", did)
			}
			took = append(took, one)
		}
		slices.Sort(took)
		b.Figure(fmt.Sprintf("1 h beside %d slow sandboxes, to the answer, p50", count), report.Milliseconds(report.Percentile(took, 50)), "ms")
		b.Figure(fmt.Sprintf("1 h beside %d slow sandboxes, to the answer, longest", count), report.Milliseconds(took[len(took)-1]), "ms")
	}
	return nil
}

// advanceSlowly makes a sandbox with five payments, and begins an advance by a day in which they time out.
func advanceSlowly(ctx context.Context, b *bench.Bench, api *system.API, name, url string) error {
	s, err := b.AddSandbox(ctx, name, url)
	if err != nil {
		return err
	}
	client, err := s.Client(ctx, api)
	if err != nil {
		return err
	}
	if err := ignored(ctx, s, client, 5); err != nil {
		return err
	}
	answer, err := client.Post(ctx, "/clock/advance", map[string]string{"by": "24h", "wait": "0s"})
	if err == nil && answer.Status != http.StatusAccepted {
		err = fmt.Errorf("an advance was answered with %d %s", answer.Status, answer.Body)
	}
	return err
}

// nothingLeft checks that a sandbox has nothing to do any more.
func nothingLeft(ctx context.Context, b *bench.Bench, client *system.Client) error {
	answer, err := client.InsistOnGet(ctx, "/clock")
	if err != nil {
		return err
	}
	var now struct{ Target, NextDueAt *string }
	if err := json.Unmarshal(answer.Body, &now); err != nil {
		return err
	}
	if now.Target != nil || now.NextDueAt != nil {
		b.Problem("something is left to do after an advance: %s", answer.Body)
	}
	return nil
}
