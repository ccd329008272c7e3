package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Names of ports.
const (
	apiPort               = "api" // only where any port will do
	apiHealthPort         = "api-health"
	controllerHealthPort  = "controller-health"
	controllerMetricsPort = "controller-metrics"
	workerHealthPort      = "worker-health"
)

// logFormatVariable is the flag --log-format of the roles.
const logFormatVariable = "CAURI_LOG_FORMAT"

// roles describes the processes of the cauri program.
type roles struct {
	state       stateDir
	program     string
	databaseURL string // of the owner

	databaseURLs map[string]string // of processes that have a user of their own
	apiPort      int
	ports        ports
}

func apiAddress(port int) string { return "http://" + loopback(port) }

func (r roles) baseURL() string { return apiAddress(r.apiPort) }

// notForRoles are settings of this program, of tests and of single commands. The roles would take some of them for their
// own: every flag of theirs can be given as CAURI_<FLAG>.
var notForRoles = []string{kubeconfigVariable, databaseVariable, apiPortVariable, testDatabaseVariable, baseURLVariable,
	"CAURI_URI", "CAURI_API_KEY", "CAURI_WEBHOOK_SECRET", "CAURI_WEBHOOK_SECRET_FILE", "CAURI_URL", "CAURI_SECRET", "CAURI_SECRET_FILE",
	processDatabaseVariables[controllerName], processDatabaseVariables[apiName], processDatabaseVariables[workerName]}

// url is the address of the database for a process.
func (r roles) url(process string) string { return cmp.Or(r.databaseURLs[process], r.databaseURL) }

// environment holds the address of the database, which has a password in it: other users of the machine may read the
// arguments of every process, but not the environment. What the user has set for the roles (CAURI_LOG_LEVEL=debug) is part
// of it, so that a change restarts them.
func (r roles) environment(databaseURL string) []string {
	environment := []string{"DATABASE_URL=" + databaseURL}
	if os.Getenv(logFormatVariable) == "" {
		environment = append(environment, logFormatVariable+"=text") // these logs are read by people
	}
	for _, entry := range os.Environ() {
		if name, _, _ := strings.Cut(entry, "="); strings.HasPrefix(name, "CAURI_") && !slices.Contains(notForRoles, name) {
			environment = append(environment, entry)
		}
	}
	slices.Sort(environment)
	return environment
}

func (r roles) components() []component {
	return []component{r.controller(), r.api(), r.worker()}
}

// metricsAt is where a role serves its metrics.
func (r roles) metricsAt(port string) string { return "http://" + loopback(r.ports[port]) + "/metrics" }

func (r roles) controller() component {
	health := loopback(r.ports[controllerHealthPort])
	c := r.component(controllerName, "http://"+health, "http://"+health+"/readyz", []string{
		"controller",
		"--kubeconfig=" + r.state.kubeconfig(),
		"--base-url=" + r.baseURL(),
		"--encryption-key-file=" + r.state.encryptionKey(),
		"--health-address=" + health,
		"--metrics-address=" + loopback(r.ports[controllerMetricsPort]),
	})
	c.files = []string{r.state.kubeconfig(), r.state.encryptionKey()}
	c.metrics = r.metricsAt(controllerMetricsPort)
	return c
}

func (r roles) api() component {
	c := r.component(apiName, r.baseURL(), "http://"+loopback(r.ports[apiHealthPort])+"/readyz", []string{
		"api",
		"--listen-address=" + loopback(r.apiPort),
		"--health-address=" + loopback(r.ports[apiHealthPort]),
	})
	c.metrics = r.metricsAt(apiHealthPort)
	return c
}

func (r roles) worker() component {
	health := loopback(r.ports[workerHealthPort])
	c := r.component(workerName, "http://"+health, "http://"+health+"/readyz", []string{
		"worker",
		"--encryption-key-file=" + r.state.encryptionKey(),
		"--health-address=" + health,
		"--allow-loopback-webhooks", // the receiver under test runs on this machine too
	})
	c.files = []string{r.state.encryptionKey()}
	c.metrics = r.metricsAt(workerHealthPort)
	return c
}

func (r roles) component(name, address, health string, args []string) component {
	return component{
		name:        name,
		program:     r.program,
		args:        args,
		env:         r.environment(r.url(name)),
		dir:         r.state.path,
		address:     address,
		stopSignal:  syscall.SIGTERM,
		stopWithin:  30 * time.Second,
		ready:       answersOK(http.DefaultClient, health),
		readyWithin: time.Minute,
		hint:        "if the lines above do not tell, the whole log does; after a change run `make up` again",
	}
}

// migrate brings the database's schema to the version of the program.
func (r roles) migrate(ctx context.Context) error {
	const within = 5 * time.Minute
	limited, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	log, err := r.state.openLog(migrateName)
	if err != nil {
		return err
	}
	defer log.Close()

	cmd := exec.CommandContext(limited, r.program, "migrate")
	cmd.Env = childEnvironment(r.environment(r.databaseURL))
	cmd.Dir = r.state.path
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = dieWithParent(&syscall.SysProcAttr{Setsid: true})
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 20 * time.Second
	if err = cmd.Run(); err == nil {
		return nil
	}
	switch {
	case ctx.Err() != nil:
		return errors.New("interrupted during the migration of the database; run the command again")
	case limited.Err() != nil:
		err = fmt.Errorf("not done after %s", within)
	}
	return failure{name: migrateName, log: log.Name(), err: err, hint: "a migration that fails changes nothing: mend it and run `make up` again"}
}

// ensureEncryptionKey makes the key that signing secrets are stored under. It is never replaced: what is in the database
// could not be read any more.
func (d stateDir) ensureEncryptionKey() error {
	_, err := os.Stat(d.encryptionKey())
	if err == nil {
		return nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("looking for the encryption key: %w", err)
	}
	key := make([]byte, 32)
	rand.Read(key) // never fails
	return writeFile(d.encryptionKey(), []byte(base64.StdEncoding.EncodeToString(key)+"\n"))
}
