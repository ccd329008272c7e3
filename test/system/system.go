package system

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/server/secrets"
	"github.com/cauri-dev/cauri/test/ports"
)

const readyWithin = 2 * time.Minute

// System is one installation: a database, its processes, and its sandboxes.
type System struct {
	Postgres  *Postgres
	SQL       *pgxpool.Pool       // for queries without row-level security
	Sandboxes *sandboxes.Registry // configures sandboxes, as the controller does
	pool      *postgres.DB

	binary    string
	database  string     // its name
	pooler    *PgBouncer // that the processes connect to; nil for none
	folder    string
	processes []*Process
	receivers []*Receiver
	ports     map[string]int // of a process, by name, so that it keeps its port after a restart
	apiURL    string         // of the first api
}

// Open creates a database on a Postgres, with the schema from the program's migrate command. [System.Close] stops its
// processes.
func Open(ctx context.Context, postgres *Postgres, binary string) (*System, error) {
	return openThrough(ctx, postgres, nil, binary)
}

// OpenThrough is Open with all connections through a pooler, including those for migrations and configuration.
func OpenThrough(ctx context.Context, pooler *PgBouncer, binary string) (*System, error) {
	return openThrough(ctx, pooler.postgres, pooler, binary)
}

func openThrough(ctx context.Context, postgres *Postgres, pooler *PgBouncer, binary string) (*System, error) {
	s := &System{Postgres: postgres, pooler: pooler, binary: binary, ports: map[string]int{}}
	if err := s.open(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *System) open(ctx context.Context) (err error) {
	if s.database, err = s.Postgres.NewDatabase(ctx); err != nil {
		return err
	}
	if s.folder, err = os.MkdirTemp("", "cauri-system-"); err != nil {
		return fmt.Errorf("creating a folder for the processes: %w", err)
	}
	ring, err := s.newKeyRing()
	if err != nil {
		return err
	}
	if err := s.migrate(ctx); err != nil {
		return err
	}
	controller := s.urlFor(userIn("controller"))
	if s.pool, err = postgres.Open(controller, postgres.Options{MaxConns: 2}); err != nil {
		return err
	}
	s.Sandboxes = sandboxes.New(s.pool, sandboxes.Options{KeyRing: ring})
	config, err := pgxpool.ParseConfig(s.Postgres.URL(s.database))
	if err != nil {
		return err
	}
	config.MaxConns = 4
	s.SQL, err = pgxpool.NewWithConfig(ctx, config)
	return err
}

// newKeyRing generates the key that encrypts stored secrets.
func (s *System) newKeyRing() (*secrets.KeyRing, error) {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails
	text := base64.StdEncoding.EncodeToString(key)
	if err := os.WriteFile(s.keyFile(), []byte(text+"\n"), 0o600); err != nil {
		return nil, fmt.Errorf("writing the encryption key: %w", err)
	}
	return secrets.ParseKeyRing(text)
}

// migrate creates the schema with the program itself, and the users of its processes.
func (s *System) migrate(ctx context.Context) error {
	migrate := exec.CommandContext(ctx, s.binary, "migrate", "--roles=cauri") // the databases share the users of [Postgres.makeUser]
	migrate.Env = s.environment(superuser)
	if output, err := migrate.CombinedOutput(); err != nil {
		return fmt.Errorf("migrating the database: %w\n%s", err, output)
	}
	for _, process := range []string{"api", "worker", "controller"} {
		if err := s.Postgres.makeUser(ctx, process); err != nil {
			return err
		}
	}
	return nil
}

// urlFor is the database address of one of Cauri's users.
func (s *System) urlFor(user string) string {
	if s.pooler != nil {
		return s.pooler.urlFor(user, s.database)
	}
	return s.Postgres.urlFor(user, s.database)
}

// ReplicaURL is the address of the database on a replica for the api.
func (s *System) ReplicaURL(replica *Postgres) string {
	return replica.urlFor(userIn("api"), s.database)
}

// PooledURL is the address of the database behind the pooler for the api.
func (s *System) PooledURL() string { return s.urlFor(userIn("api")) }

// URLThrough is the address of the database behind another pooler for the api.
func (s *System) URLThrough(pooler *PgBouncer) string {
	return pooler.urlFor(userIn("api"), s.database)
}

func (s *System) keyFile() string { return filepath.Join(s.folder, "encryption-keys") }

// environment is the configuration of every process. A process ignores variables of flags that it does not have.
func (s *System) environment(user string) []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + s.folder, "TMPDIR=" + os.TempDir(), "TZ=UTC",
		"DATABASE_URL=" + s.urlFor(user),
		"CAURI_ENCRYPTION_KEY_FILE=" + s.keyFile(),
		"CAURI_ALLOW_LOOPBACK_WEBHOOKS=true",
		"CAURI_HEALTH_ADDRESS=127.0.0.1:0", // of processes that are not checked
	}
}

// Close kills running processes, closes the receivers and removes their files. It keeps the Postgres and the database.
func (s *System) Close() error {
	for _, p := range s.processes {
		p.Kill()
	}
	for _, r := range s.receivers {
		r.Close()
	}
	if s.SQL != nil {
		s.SQL.Close()
	}
	if s.pool != nil {
		s.pool.Close()
	}
	return os.RemoveAll(s.folder)
}

// Logs are the last lines of every process, to investigate a failure.
func (s *System) Logs(lines int) string {
	var all []string
	seen := map[string]bool{}
	for _, p := range s.processes {
		if !seen[p.log] {
			all = append(all, p.LogTail(lines))
		}
		seen[p.log] = true
	}
	return strings.Join(all, "\n")
}

// SaveLogs creates a folder and copies the logs of every process, including Postgres, into it.
func (s *System) SaveLogs(folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	errs := []error{s.Postgres.SaveLog(filepath.Join(folder, "postgres.log"))}
	for _, p := range s.processes {
		errs = append(errs, copyFile(p.log, filepath.Join(folder, filepath.Base(p.log))))
	}
	return errors.Join(errs...)
}

// API is a running api.
type API struct {
	*Process
	URL       string
	healthURL string
}

// Metrics are the metrics of the api, in the text format of Prometheus.
func (a *API) Metrics(ctx context.Context) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, a.healthURL+"/metrics", nil)
	if err != nil {
		return "", err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	return string(body), err
}

// Worker is a running worker.
type Worker struct {
	*Process
	HealthURL string
}

// StartAPI starts an api and waits until it serves. A name keeps its address after a restart.
func (s *System) StartAPI(ctx context.Context, name string, flags ...string) (*API, error) {
	port, err := s.port(name)
	if err != nil {
		return nil, err
	}
	health, err := s.port(name + "'s probes")
	if err != nil {
		return nil, err
	}
	api := &API{URL: "http://" + ports.Loopback(port), healthURL: "http://" + ports.Loopback(health)}
	if s.apiURL == "" {
		s.apiURL = api.URL
	}
	api.Process, err = s.run(
		name, "api",
		append([]string{"--listen-address=" + ports.Loopback(port), "--health-address=" + ports.Loopback(health)}, flags...),
	)
	if err != nil {
		return nil, err
	}
	return api, api.ready(ctx, readyWithin, api.Ready)
}

// Ready returns nil if the api is ready.
func (a *API) Ready(ctx context.Context) error {
	return Answers(ctx, a.URL+"/v1/health", http.StatusOK)
}

// StartWorker starts a worker and waits until it is ready.
func (s *System) StartWorker(ctx context.Context, name string, flags ...string) (*Worker, error) {
	port, err := s.port(name)
	if err != nil {
		return nil, err
	}
	worker := &Worker{HealthURL: "http://" + ports.Loopback(port)}
	worker.Process, err = s.run(name, "worker", append([]string{"--health-address=" + ports.Loopback(port)}, flags...))
	if err != nil {
		return nil, err
	}
	return worker, worker.ready(ctx, readyWithin, worker.Ready)
}

// Ready returns nil if the worker is ready.
func (w *Worker) Ready(ctx context.Context) error {
	return Answers(ctx, w.HealthURL+"/readyz", http.StatusOK)
}

// run starts a process of the service, as the user of the database that the chart gives it.
func (s *System) run(name, process string, flags []string) (*Process, error) {
	p, err := start(command{
		name: name, program: s.binary, args: append([]string{"serve", process}, flags...), env: s.environment(userIn(process)), dir: s.folder,
		log: filepath.Join(s.folder, name+".log"), onOrphaned: Immediate,
	})
	if err == nil {
		s.processes = append(s.processes, p)
	}
	return p, err
}

func (s *System) port(name string) (int, error) {
	if port, known := s.ports[name]; known {
		return port, nil
	}
	port, err := ports.Free()
	s.ports[name] = port
	return port, err
}

// Answers returns nil if a GET is answered with the status.
func Answers(ctx context.Context, url string, status int) error {
	return answers(ctx, http.DefaultClient, url, status)
}

func answers(ctx context.Context, client *http.Client, url string, status int) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	_ = response.Body.Close()
	if response.StatusCode != status {
		return fmt.Errorf("%s answered %d", url, response.StatusCode)
	}
	return nil
}
