package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/cauri-dev/cauri/test/system"
)

// fault is one failure. strike causes it and repairs what does not recover by itself: it restarts killed processes and
// resumes frozen ones. It returns its random choices.
type fault struct {
	target string
	kind   string
	strike func(ctx context.Context, w *fixture, draw *rand.Rand) (detail string, err error)
}

func (f fault) String() string { return f.target + " " + f.kind }

// Kinds of faults.
const (
	killed     = "killed"
	frozen     = "frozen"
	terminated = "connections terminated"
	cancelled  = "statements cancelled"
	restarted  = "restarted as after a crash"
)

// faults are all faults.
var faults = []fault{
	{"api", killed, killAPI},
	{"api", frozen, freeze(func(w *fixture, draw *rand.Rand) *system.Process { return w.apis[draw.IntN(len(w.apis))].Process })},
	{"api", terminated, signalConnections("pg_terminate_backend", "test_api")},
	{"api", cancelled, signalConnections("pg_cancel_backend", "test_api")},
	{"worker", killed, killWorker},
	{"worker", frozen, freeze(func(w *fixture, draw *rand.Rand) *system.Process { return w.workers[draw.IntN(len(w.workers))].Process })},
	{"worker", terminated, signalConnections("pg_terminate_backend", "test_worker")},
	{"worker", cancelled, signalConnections("pg_cancel_backend", "test_worker")},
	{"controller", killed, killController},
	{"controller", frozen, freeze(func(w *fixture, _ *rand.Rand) *system.Process { return w.controller.Process })},
	{"controller", terminated, signalConnections("pg_terminate_backend", "test_controller")},
	{"controller", cancelled, signalConnections("pg_cancel_backend", "test_controller")},
	{"Postgres", killed, killBackend},
	{"Postgres", restarted, restartPostgres},
	{"Postgres", frozen, freezePostgres},
	{"Postgres", terminated, signalConnections("pg_terminate_backend", "test_%")},
	{"Postgres", cancelled, signalConnections("pg_cancel_backend", "test_%")},
	{"etcd", killed, killEtcd},
	{"etcd", frozen, freeze(func(w *fixture, _ *rand.Rand) *system.Process { return w.cluster.Etcd })},
	{"API server", killed, killAPIServer},
	{"API server", frozen, freeze(func(w *fixture, _ *rand.Rand) *system.Process { return w.cluster.APIServer })},
}

// sequence draws n faults at random. It draws each fault once before it repeats one.
func sequence(from []fault, n int, draw *rand.Rand) (drawn []fault) {
	for len(drawn) < n {
		for _, i := range draw.Perm(len(from)) {
			drawn = append(drawn, from[i])
		}
	}
	return drawn[:n]
}

func killAPI(ctx context.Context, w *fixture, draw *rand.Rand) (detail string, err error) {
	i := draw.IntN(len(w.apis))
	name := w.apis[i].Name
	w.apis[i].Kill()
	w.apis[i], err = w.StartAPI(ctx, name)
	return name, err
}

func killWorker(ctx context.Context, w *fixture, draw *rand.Rand) (detail string, err error) {
	i := draw.IntN(len(w.workers))
	name := w.workers[i].Name
	w.workers[i].Kill()
	w.workers[i], err = w.StartWorker(ctx, name)
	return name, err
}

func killController(ctx context.Context, w *fixture, _ *rand.Rand) (string, error) {
	w.controller.Kill()
	return "", w.startController(ctx)
}

func killEtcd(ctx context.Context, w *fixture, _ *rand.Rand) (string, error) {
	w.cluster.Etcd.Kill()
	return "", w.cluster.StartEtcd(ctx)
}

func killAPIServer(ctx context.Context, w *fixture, _ *rand.Rand) (string, error) {
	w.cluster.APIServer.Kill()
	return "", w.cluster.StartAPIServer(ctx)
}

// freeze stops a process for 2 to 5 s.
func freeze(choose func(*fixture, *rand.Rand) *system.Process) func(context.Context, *fixture, *rand.Rand) (string, error) {
	return func(ctx context.Context, w *fixture, draw *rand.Rand) (string, error) {
		p, length := choose(w, draw), drawnPause(draw)
		if err := p.Pause(); err != nil {
			return "", err
		}
		system.Rest(ctx, length)
		return fmt.Sprintf("%s for %s", p.Name, length), p.Resume()
	}
}

func drawnPause(draw *rand.Rand) time.Duration {
	return 2*time.Second + time.Duration(draw.IntN(3001))*time.Millisecond
}

// freezePostgres stops all processes of the server for 2 to 5 s.
func freezePostgres(ctx context.Context, w *fixture, draw *rand.Rand) (string, error) {
	length := drawnPause(draw)
	resume, err := w.Postgres.Freeze(ctx)
	if err != nil {
		return "", err
	}
	w.struck = time.Now()
	system.Rest(ctx, length)
	return length.String(), resume()
}

// killBackend kills one process of the server. The server then ends all others and recovers.
func killBackend(ctx context.Context, w *fixture, draw *rand.Rand) (string, error) {
	backends, err := w.Postgres.Backends(ctx)
	if err != nil {
		return "", err
	}
	victim := backends[draw.IntN(len(backends))]
	w.struck = time.Now()
	return victim.Kind, victim.Kill()
}

func restartPostgres(ctx context.Context, w *fixture, _ *rand.Rand) (string, error) {
	if err := w.Postgres.Stop(system.Immediate); err != nil {
		return "", err
	}
	stopped := time.Now()
	err := w.Postgres.Start(ctx)
	return fmt.Sprintf("Postgres was back after %.1f s", time.Since(stopped).Seconds()), err
}

// signalConnections calls a Postgres function for all user connections, 1 to 10 times within a second.
func signalConnections(function, users string) func(context.Context, *fixture, *rand.Rand) (string, error) {
	return func(ctx context.Context, w *fixture, draw *rand.Rand) (string, error) {
		times := 1 + draw.IntN(10)
		for range times {
			if _, err := w.SQL.Exec(ctx, "select "+function+"(pid) from pg_stat_activity where usename like $1", users); err != nil {
				return "", fmt.Errorf("calling %s: %w", function, err)
			}
			system.Rest(ctx, 100*time.Millisecond)
		}
		return fmt.Sprintf("%d times", times), nil
	}
}
