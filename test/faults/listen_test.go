package faults

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/test/system"
)

// said is what a program printed so far.
type said struct {
	mutex sync.Mutex
	text  strings.Builder
}

// Write implements [io.Writer].
func (s *said) Write(p []byte) (int, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.text.Write(p)
}

func (s *said) String() string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.text.String()
}

// listening is a sandbox without a webhook URL, whose events `cauri listen --forward-to` brings to a receiver until stop is called.
func (w *fixture) listening(name string, api *system.API) (m *system.Merchant, stop func()) {
	w.t.Helper()
	receiver, err := system.NewReceiver(system.Acknowledge)
	w.must(err)
	w.t.Cleanup(receiver.Close)
	m = &system.Merchant{Receiver: receiver}
	m.Sandbox, err = w.AddSandbox(w.t.Context(), name, "")
	w.must(err)
	receiver.Trust(m.Secret)
	m.Client, err = m.Sandbox.Client(w.t.Context(), api)
	w.must(err)
	var printed said
	listen := exec.CommandContext(w.t.Context(), binary, "listen", "--forward-to="+receiver.URL,
		fmt.Sprintf("--url=%s/sandboxes/%s/%s", api.URL, system.Namespace, name))
	listen.Env = append(listen.Environ(), "CAURI_API_KEY="+m.Key, "CAURI_WEBHOOK_SECRET="+m.Secret)
	listen.Stdout, listen.Stderr = io.Discard, &printed
	listen.Cancel = func() error { return listen.Process.Signal(syscall.SIGINT) }
	w.must(listen.Start())
	stop = sync.OnceFunc(func() {
		w.must(listen.Process.Signal(syscall.SIGINT))
		if err := listen.Wait(); err != nil {
			w.t.Errorf("listen ended with %v\n%s", err, &printed)
		}
	})
	w.t.Cleanup(stop)
	w.until(time.Minute, "listen has begun", func(context.Context) error {
		if !strings.Contains(printed.String(), "Events of the sandbox") {
			return errors.New(printed.String())
		}
		return nil
	})
	return m, stop
}

// `cauri listen --forward-to` brings each event to its program, whatever ends on the way.
func TestListenSurvivesKilledProcesses(t *testing.T) {
	const rounds = 2
	w := newFixture(t)
	api, worker := w.api("api"), w.worker("worker")
	m, stopListening := w.listening("listening", api)
	progress, stop := w.shopping(m, 4)
	defer stop()
	for range rounds {
		w.progresses(progress, 5+rand.Int64N(20))
		worker.Kill()
		api.Kill()
		api, worker = w.api("api"), w.worker("worker")
	}
	w.progresses(progress, 4)
	_, err := api.Terminate(time.Minute) // it drains
	w.must(err)
	w.api("api")
	w.progresses(progress, 4)
	told := stop()
	w.must(w.Drained(t.Context(), stall, m.Sandbox))
	events, err := w.Count(t.Context(), "select count(*) from events where tenant = $1", m.Tenant)
	w.must(err)
	w.until(2*time.Minute, "each event is forwarded", func(context.Context) error {
		if arrived := m.Receiver.Events(); int64(arrived) < events {
			return fmt.Errorf("%d of %d events arrived", arrived, events)
		}
		return nil
	})
	stopListening()
	t.Logf("%d transactions, %d events", len(told), events)
	w.booked(m, told)
	w.audited()
}
