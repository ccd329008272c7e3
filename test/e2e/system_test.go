// Package e2e uses the whole system as its users do: the real programs, a real Kubernetes API server, kubectl, HTTP.
package e2e

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// system is a running Cauri of the test's own: its folder, its ports, its processes.
type system struct {
	t       *testing.T
	root    string // of the checkout
	dir     string // of the running system
	kubectl string
}

// kubectlTimeout is how long kubectl waits: it guards against hanging only.
const kubectlTimeout = "--timeout=180s"

// bringUp starts a system that ends with the test. Tests run side by side, each with its own.
func bringUp(t *testing.T) *system {
	t.Helper()
	t.Parallel()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	assets := os.Getenv("KUBEBUILDER_ASSETS")
	if assets == "" {
		t.Fatal("KUBEBUILDER_ASSETS is not set: run the tests with `make test`")
	}
	dir, err := os.MkdirTemp("", "cauri-e2e-")
	if err != nil {
		t.Fatal(err)
	}
	s := &system{t: t, root: root, dir: filepath.Join(dir, "state"), kubectl: filepath.Join(assets, "kubectl")}
	t.Cleanup(func() {
		if t.Failed() {
			s.printLogs()
		}
		s.localcluster("down", "--purge")
		_ = os.RemoveAll(dir)
	})
	s.up()
	return s
}

// up starts what does not run.
func (s *system) up() {
	s.t.Helper()
	s.localcluster("up", "--api-port=0", "--samples=", "--cauri="+s.root+"/bin/cauri", "--crds="+s.root+"/config/crd",
		"--rbac="+s.root+"/config/rbac")
}

func (s *system) localcluster(args ...string) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute) // the cleanup outlives the test's context
	defer cancel()
	command := exec.CommandContext(ctx, s.root+"/bin/localcluster", append(args, "--dir="+s.dir)...)
	command.Env = outsideless()
	if out, err := command.CombinedOutput(); err != nil {
		s.t.Fatalf("localcluster %s: %v\n%s", args[0], err, out)
	}
}

// outsideless is the environment without what would make localcluster use a cluster or a database from outside.
func outsideless() []string {
	var kept []string
	for _, variable := range os.Environ() {
		if name, _, _ := strings.Cut(variable, "="); name != "CAURI_KUBECONFIG" && name != "CAURI_DATABASE_URL" && name != "CAURI_API_PORT" {
			kept = append(kept, variable)
		}
	}
	return kept
}

// step runs a part of the test that needs those before it.
func (s *system) step(name string, f func(t *testing.T)) {
	s.t.Helper()
	whole := s.t
	defer func() { s.t = whole }()
	whole.Run(name, func(t *testing.T) {
		s.t = t
		f(t)
	})
}

// printLogs prints the ends of the logs at once, so that what the test has to say is what comes last.
func (s *system) printLogs() {
	for _, name := range []string{"controller", "api", "worker"} {
		text, _ := os.ReadFile(filepath.Join(s.dir, "logs", name+".log"))
		fmt.Printf("the end of the %s's log:\n%s\n", name, text[max(0, len(text)-2000):])
	}
}

// kill ends a part of the system as a crash would.
func (s *system) kill(name string) {
	s.t.Helper()
	s.signal(name, syscall.SIGKILL)
}

// signal sends a signal to a part of the system.
func (s *system) signal(name string, signal syscall.Signal) {
	s.t.Helper()
	var process struct{ PID int }
	text, err := os.ReadFile(filepath.Join(s.dir, "run", name+".json"))
	if err == nil {
		err = json.Unmarshal(text, &process)
	}
	if err == nil && process.PID > 0 {
		err = syscall.Kill(process.PID, signal)
	}
	if err != nil {
		s.t.Fatalf("sending %s to the %s: %v", signal, name, err)
	}
}

// try runs kubectl and returns what it printed, on whichever stream.
func (s *system) try(input string, args ...string) (string, error) {
	command := exec.CommandContext(s.t.Context(), s.kubectl, append([]string{"--kubeconfig", s.dir + "/kubeconfig"}, args...)...)
	command.Stdin = strings.NewReader(input)
	out, err := command.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

func (s *system) kube(args ...string) string {
	s.t.Helper()
	return s.kubeWith("", args...)
}

func (s *system) kubeWith(input string, args ...string) string {
	s.t.Helper()
	out, err := s.try(input, args...)
	if err != nil {
		s.t.Fatalf("kubectl %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

func (s *system) secret(namespace, name, key string) string {
	s.t.Helper()
	encoded := s.kube("get", "secret", "-n", namespace, name, "-o", "jsonpath={.data."+key+"}")
	text, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil || len(text) == 0 {
		s.t.Fatalf("the Secret %s has no %s: %q, %v", name, key, encoded, err)
	}
	return string(text)
}

// count asks the database.
func (s *system) count(sql string, args ...any) int {
	s.t.Helper()
	env, err := os.ReadFile(s.dir + "/env")
	if err != nil {
		s.t.Fatal(err)
	}
	url := ""
	for line := range strings.Lines(string(env)) {
		if value, found := strings.CutPrefix(line, "DATABASE_URL="); found {
			url = strings.TrimSpace(value)
		}
	}
	conn, err := pgx.Connect(s.t.Context(), url)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	var n int
	if err := conn.QueryRow(s.t.Context(), sql, args...).Scan(&n); err != nil {
		s.t.Fatal(err)
	}
	return n
}

// eventually fails the test unless the condition, which says what is missing, holds in time.
func eventually(t *testing.T, missing func() string) {
	t.Helper()
	const within = 2 * time.Minute // guards against hanging only
	deadline := time.Now().Add(within)
	for {
		what := missing()
		if what == "" {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("after %s: %s", within, what)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

type object = map[string]any

// merchant is a merchant's backend: a base URL and a key are all it knows.
type merchant struct {
	t       *testing.T
	baseURL string
	key     string
}

func (m merchant) call(method, path string, body any) (int, object) {
	m.t.Helper()
	status, answer, err := m.try(method, path, body)
	if err != nil {
		m.t.Fatal(err)
	}
	return status, answer
}

// try calls the API, and again while it is overloaded: other tests share the machine.
func (m merchant) try(method, path string, body any) (int, object, error) {
	for begun := time.Now(); ; time.Sleep(time.Second) {
		status, answer, err := m.tryOnce(method, path, body)
		if answer["error"] != "overloaded" || time.Since(begun) > time.Minute {
			return status, answer, err
		}
	}
}

func (m merchant) tryOnce(method, path string, body any) (int, object, error) {
	var reader io.Reader = http.NoBody
	switch b := body.(type) {
	case nil:
	case string:
		reader = strings.NewReader(b)
	default:
		text, err := json.Marshal(b)
		if err != nil {
			return 0, nil, err
		}
		reader = bytes.NewReader(text)
	}
	request, err := http.NewRequestWithContext(m.t.Context(), method, m.baseURL+"/api/v1"+path, reader)
	if err != nil {
		return 0, nil, err
	}
	request.Header.Set("Authorization", "Bearer "+m.key)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = response.Body.Close() }()
	var answer object
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return response.StatusCode, nil, errors.Join(fmt.Errorf("%s %s answered %d", method, path, response.StatusCode), err)
	}
	return response.StatusCode, answer, nil
}

// pay makes a payment of 1000 RWF and returns its representation.
func (m merchant) pay(reference, msisdn string, more object) object {
	m.t.Helper()
	body := object{"amount": 1000, "currency": "RWF", "msisdn": msisdn, "reference": reference, "application": "shop"}
	for name, value := range more {
		body[name] = value
	}
	status, answer := m.call(http.MethodPost, "/payments", body)
	if status != http.StatusCreated {
		m.t.Fatalf("paying answered %d: %v", status, answer)
	}
	return answer
}

// settled waits until a payment has a final status, and returns it.
func (m merchant) settled(id string) object {
	m.t.Helper()
	var payment object
	eventually(m.t, func() string {
		status, answer, err := m.try(http.MethodGet, "/payments/"+id, nil)
		if err != nil || status != http.StatusOK || answer["status"] == "PENDING" {
			return fmt.Sprintf("the payment %s is not final: %d %v %v", id, status, answer["status"], err)
		}
		payment = answer
		return ""
	})
	return payment
}
