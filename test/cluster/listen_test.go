package cluster

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/test/cluster/merchantapi"
)

// forwarded is a developer's program on this machine, which counts the events that it gets, and what `cauri listen` says.
type forwarded struct {
	mutex        sync.Mutex
	transactions map[string]bool
	said         strings.Builder
}

// ServeHTTP takes an event.
func (f *forwarded) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var event struct {
		TxID string `json:"tx_id"`
	}
	if err := json.NewDecoder(r.Body).Decode(&event); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.transactions[event.TxID] = true
}

// Write implements [io.Writer].
func (f *forwarded) Write(p []byte) (int, error) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	return f.said.Write(p)
}

// says returns nil if the command has said something.
func (f *forwarded) says(text string) error {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if !strings.Contains(f.said.String(), text) {
		return fmt.Errorf("`cauri listen` does not say %q:\n%s", text, f.said.String())
	}
	return nil
}

// has returns nil if the program got an event of each transaction.
func (f *forwarded) has(transactions map[string]string) error {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	missing := 0
	for id := range transactions {
		if !f.transactions[id] {
			missing++
		}
	}
	if missing > 0 {
		return fmt.Errorf("the events of %d of %d transactions were not forwarded:\n%s", missing, len(transactions), f.said.String())
	}
	return nil
}

// listened: a developer outside of the cluster gets the events of a sandbox through a port-forward, and misses none when the pods at its
// end die.
func listened(t *testing.T, c *cluster) {
	const load, rate = "listen", 10
	program := &forwarded{transactions: map[string]bool{}}
	server := httptest.NewServer(program)
	defer server.Close()
	listen := exec.CommandContext(t.Context(), "cauri", "listen", "--sandbox="+team+"/"+shared, "--port-forward", "--forward-to="+server.URL)
	listen.Dir, listen.Stderr = c.root, program
	if err := listen.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = listen.Process.Signal(syscall.SIGINT)
		if err := listen.Wait(); err != nil {
			t.Errorf("`cauri listen` ended with %v:\n%s", err, program.said.String())
		}
	}()
	eventually(t, time.Minute, func() error { return program.says("Events of the sandbox") })

	m := c.merchant(team)
	m.begin(t, load, merchantapi.Plan{Rate: rate, Steps: []merchantapi.Step{
		{Binding: shared, Action: merchantapi.Pay, MSISDN: unregistered, Scenario: "success"},
		{Binding: shared, Action: merchantapi.Pay, MSISDN: carol},
	}})
	m.answered(t, load, 2*rate)
	for _, pod := range append(c.pods(t, "api"), c.pods(t, "worker")...) {
		c.crash(t, pod)
	}
	killed := time.Now()
	m.answered(t, load, m.report(t, load).Answered+3*rate)
	report := m.end(t, load)
	c.database(t).drained(t, team)
	// Otherwise no connection went through the pods that died, and the test tested nothing.
	eventually(t, time.Minute, func() error { return program.says("The connection is lost") })
	eventually(t, 2*time.Minute, func() error { return program.has(report.Acknowledged[shared]) })
	c.measured("api and worker killed: all forwarded by `cauri listen`", "%.0f s after it", time.Since(killed).Seconds())
	c.rolledOut(t)
}
