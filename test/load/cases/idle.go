package cases

import (
	"context"
	"strings"
	"time"

	"github.com/cauri-dev/cauri/test/load/bench"
	"github.com/cauri-dev/cauri/test/system"
)

// idleSandboxes is the number of sandboxes without traffic. Each has two test clients.
const idleSandboxes = 1000

// idle measures the processor time that Cauri uses without traffic: that of its processes, and that of their statements
// in Postgres.
func idle(ctx context.Context, b *bench.Bench) error {
	s := &installation{Bench: b}
	defer func() {
		if s.cluster != nil {
			s.cluster.stop()
		}
	}()
	if err := s.install(ctx, b.Settings.Size(idleSandboxes)); err != nil {
		return err
	}
	b.Figure("sandboxes", float64(len(s.sandboxes)), "")
	times, err := s.atRest(ctx, len(s.sandboxes)*(1+simsPerSandbox))
	if err != nil {
		return err
	}
	all := 0.0
	for _, name := range oursAtRest() {
		b.Figure(name+": processor time", times[name], "% of a core")
		all += times[name]
	}
	b.Figure(ownOfPostgres+": processor time", times[ownOfPostgres], "% of a core")
	b.Target("api, worker, controller and their statements: processor time", all, "% of a core", 1)
	return nil
}

// atRest waits until the controller has reconciled so many resources and everything is at rest, and measures the processor
// times of a minute, in percent of a core.
func (s *installation) atRest(ctx context.Context, resources int) (percent map[string]float64, err error) {
	length := quietFor
	if s.Settings.Small {
		length = 3 * time.Second
	}
	// The controller's query returns a change again for 45 seconds.
	if err := calm(ctx, s.controller.MetricsURL, resources, length); err != nil {
		return nil, err
	}
	if err := s.Rested(ctx); err != nil {
		return nil, err
	}
	before, err := s.idleTimes(ctx)
	if err != nil {
		return nil, err
	}
	begun := time.Now()
	if !system.Rest(ctx, length) {
		return nil, ctx.Err()
	}
	after, err := s.idleTimes(ctx)
	if err != nil {
		return nil, err
	}
	took := time.Since(begun).Seconds()
	percent = map[string]float64{}
	for name := range after {
		percent[name] = 100 * (after[name] - before[name]).Seconds() / took
	}
	return percent, nil
}

// oursAtRest are the names of the processes that [installation.atRest] measures, each with its statements.
func oursAtRest() (names []string) {
	for _, process := range []string{"api", "worker", "controller"} {
		names = append(names, process, statementsOf(process))
	}
	return names
}

// ownOfPostgres names the processes of Postgres that serve no connection, such as autovacuum.
const ownOfPostgres = "Postgres' own processes"

func statementsOf(process string) string { return "statements of the " + process }

// idleTimes returns the processor time that each process has used so far, and the connections of its database user.
func (s *installation) idleTimes(ctx context.Context) (map[string]time.Duration, error) {
	times := map[string]time.Duration{}
	for name, p := range map[string]*system.Process{
		"api": s.api.Process, "worker": s.worker.Process, "controller": s.controller.Process,
	} {
		cpu, err := p.CPU()
		if err != nil {
			return nil, err
		}
		times[name] = cpu
	}
	backends, err := s.Postgres.Backends(ctx)
	if err != nil {
		return nil, err
	}
	all, err := s.Postgres.CPU()
	if err != nil {
		return nil, err
	}
	for _, backend := range backends {
		process, ours := strings.CutPrefix(backend.User, "test_")
		if !ours {
			continue
		}
		cpu, err := backend.CPU()
		if err != nil {
			return nil, err
		}
		times[statementsOf(process)] += cpu
		all -= cpu
	}
	times[ownOfPostgres] = all
	return times, nil
}
