package cases

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/test/load/bench"
	"github.com/cauri-dev/cauri/test/load/report"
	"github.com/cauri-dev/cauri/test/system"
)

// switches measures the payments of a sandbox among 10,000, while another one sets and removes faults as fast as it may. It
// then measures what an api needs for a sandbox with a fault that was set.
func switches(ctx context.Context, b *bench.Bench) error {
	all, err := b.AddSandboxes(ctx, b.Settings.Size(10_000), bench.Nobody, func(c *sandboxes.Config) { c.API.Faults = true })
	if err != nil {
		return err
	}
	begun := time.Now()
	api, err := b.StartAPI(ctx, "api")
	if err != nil {
		return err
	}
	b.Figure("start of an api", report.Milliseconds(time.Since(begun)), "ms")
	owners, tester := all[0], all[len(all)-1]
	if err := bench.Known(ctx, []*system.Sandbox{owners}, api); err != nil {
		return err
	}
	client, err := tester.Client(ctx, api)
	if err != nil {
		return err
	}
	var took []float64
	var seconds float64
	owner := b.Open(b.Writes("/v1/payments", 201, []*system.Sandbox{owners}, []string{system.Unregistered}, "success", api), ownersRate)
	during := besides(owner, func(ctx context.Context) error {
		began := time.Now()
		defer func() { seconds += time.Since(began).Seconds() }()
		for n := 0; ; n++ {
			answered, wait, err := switchFault(ctx, client, n%2 == 0)
			if err != nil {
				return err
			}
			if wait == 0 {
				took = append(took, report.Milliseconds(answered))
			} else if n--; !system.Rest(ctx, wait) {
				return ctx.Err()
			}
		}
	})
	during.Name = "beside changes of faults"
	results, err := b.InTurns(ctx, owner, during, owner)
	if err != nil {
		return err
	}
	without := append(results[0], results[2]...)
	b.Against("beside changes of faults, p50; baseline: before and after", "ms", results[1].P50s(), without.P50s()).Show().WantAtMost(attackedAtMost)
	b.Against("beside changes of faults, p99", "ms", results[1].P99s(), without.P99s())
	changes := report.SampleOf(took...)
	b.Figure("changes of faults", float64(len(took))/seconds, "/s")
	b.Figure("a change, until this api has read it, median", changes.Median, "ms")
	b.Figure("a change, until this api has read it, longest", changes.High, "ms")
	b.Memory(api.Process)
	return oneFaultEach(ctx, b, all)
}

// oneFaultEach measures the start of an api when a tenth of the sandboxes have a fault that was set.
func oneFaultEach(ctx context.Context, b *bench.Bench, all []*system.Sandbox) error {
	var tenants []int64
	for _, s := range all[:max(1, len(all)/10)] {
		tenants = append(tenants, s.Tenant)
	}
	_, err := b.SQL.Exec(ctx, `insert into set_faults (tenant, name, entry, set_by)
		select tenant, 'lost', '{"name": "lost", "api": {"dropConnection": "AfterCommit"}}', 'api' from unnest($1::bigint[]) tenant`, tenants)
	if err != nil {
		return err
	}
	begun := time.Now()
	api, err := b.StartAPI(ctx, "api-with-faults")
	if err != nil {
		return err
	}
	b.Figure(fmt.Sprintf("start of an api, %d sandboxes with a fault", len(tenants)), report.Milliseconds(time.Since(begun)), "ms")
	b.Memory(api.Process)
	return nil
}

// switchFault sets a fault or removes it. It returns how long the answer took, or how long the sandbox has to wait.
func switchFault(ctx context.Context, client *system.Client, on bool) (took, wait time.Duration, err error) {
	method, body := http.MethodDelete, ""
	if on {
		method, body = http.MethodPut, `{"webhook": {"drop": true}}`
	}
	answer, err := client.Call(ctx, method, "/faults/no-webhook", body)
	switch {
	case err != nil:
		return 0, 0, err
	case answer.Status == http.StatusTooManyRequests:
		seconds, err := strconv.Atoi(answer.Header.Get("Retry-After"))
		return 0, time.Duration(seconds) * time.Second, err
	case answer.Status/100 != 2:
		return 0, 0, fmt.Errorf("changing a fault was answered %d %s", answer.Status, answer.Body)
	}
	return answer.Took, 0, nil
}
