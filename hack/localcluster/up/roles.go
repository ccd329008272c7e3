package up

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

	"github.com/cauri-dev/cauri/hack/localcluster/host"
	"github.com/cauri-dev/cauri/hack/localcluster/kube"
	"github.com/cauri-dev/cauri/hack/localcluster/postgres"
	"github.com/cauri-dev/cauri/hack/localcluster/process"
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
	state       process.StateDir
	program     string
	databaseURL string // of the owner

	databaseURLs map[string]string // of processes that have a user of their own
	apiPort      int
	ports        process.Ports
}

func apiAddress(port int) string { return "http://" + host.Loopback(port) }

func (r roles) baseURL() string { return apiAddress(r.apiPort) }

// notForRoles are settings of this program, of tests and of single commands. The roles would take some of them for their
// own: every flag of theirs can be given as CAURI_<FLAG>.
var notForRoles = []string{
	kube.KubeconfigVariable,
	postgres.DatabaseVariable,
	apiPortVariable,
	postgres.TestDatabaseVariable,
	baseURLVariable,
	"CAURI_URI",
	"CAURI_API_KEY",
	"CAURI_WEBHOOK_SECRET",
	"CAURI_WEBHOOK_SECRET_FILE",
	"CAURI_URL",
	"CAURI_SECRET",
	"CAURI_SECRET_FILE",
	processDatabaseVariables[process.ControllerName],
	processDatabaseVariables[process.APIName],
	processDatabaseVariables[process.WorkerName],
}

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

func (r roles) components() []process.Component {
	return []process.Component{r.controller(), r.api(), r.worker()}
}

// metricsAt is where a role serves its metrics.
func (r roles) metricsAt(port string) string {
	return "http://" + host.Loopback(r.ports[port]) + "/metrics"
}

func (r roles) controller() process.Component {
	health := host.Loopback(r.ports[controllerHealthPort])
	c := r.component(process.ControllerName, "http://"+health, "http://"+health+"/readyz", []string{
		"controller",
		"--kubeconfig=" + r.state.Kubeconfig(),
		"--base-url=" + r.baseURL(),
		"--encryption-key-file=" + r.state.EncryptionKey(),
		"--health-address=" + health,
		"--metrics-address=" + host.Loopback(r.ports[controllerMetricsPort]),
	})
	c.Files = []string{r.state.Kubeconfig(), r.state.EncryptionKey()}
	c.Metrics = r.metricsAt(controllerMetricsPort)
	return c
}

func (r roles) api() process.Component {
	c := r.component(process.APIName, r.baseURL(), "http://"+host.Loopback(r.ports[apiHealthPort])+"/readyz", []string{
		"api",
		"--listen-address=" + host.Loopback(r.apiPort),
		"--health-address=" + host.Loopback(r.ports[apiHealthPort]),
	})
	c.Metrics = r.metricsAt(apiHealthPort)
	return c
}

func (r roles) worker() process.Component {
	health := host.Loopback(r.ports[workerHealthPort])
	c := r.component(process.WorkerName, "http://"+health, "http://"+health+"/readyz", []string{
		"worker",
		"--encryption-key-file=" + r.state.EncryptionKey(),
		"--health-address=" + health,
		"--allow-loopback-webhooks", // the receiver under test runs on this machine too
	})
	c.Files = []string{r.state.EncryptionKey()}
	c.Metrics = r.metricsAt(workerHealthPort)
	return c
}

func (r roles) component(name, address, health string, args []string) process.Component {
	return process.Component{
		Name:        name,
		Program:     r.program,
		Args:        args,
		Env:         r.environment(r.url(name)),
		Dir:         r.state.Path,
		Address:     address,
		StopSignal:  syscall.SIGTERM,
		StopWithin:  30 * time.Second,
		Ready:       host.AnswersOK(http.DefaultClient, health),
		ReadyWithin: time.Minute,
		Hint:        "if the lines above do not tell, the whole log does; after a change run `make up` again",
	}
}

// migrate brings the database's schema to the version of the program.
func (r roles) migrate(ctx context.Context) error {
	const within = 5 * time.Minute
	limited, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	log, err := r.state.OpenLog(process.MigrateName)
	if err != nil {
		return err
	}
	defer log.Close()

	cmd := exec.CommandContext(limited, r.program, "migrate")
	cmd.Env = process.ChildEnvironment(r.environment(r.databaseURL))
	cmd.Dir = r.state.Path
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = process.DieWithParent(&syscall.SysProcAttr{Setsid: true})
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
	return process.Failure{
		Name: process.MigrateName,
		Log:  log.Name(),
		Err:  err,
		Hint: "a migration that fails changes nothing: fix it and run `make up` again",
	}
}

// ensureEncryptionKey makes the key that signing secrets are stored under. It is never replaced: what is in the database
// could not be read any more.
func ensureEncryptionKey(d process.StateDir) error {
	_, err := os.Stat(d.EncryptionKey())
	if err == nil {
		return nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("looking for the encryption key: %w", err)
	}
	key := make([]byte, 32)
	rand.Read(key) // never fails
	return host.WriteFile(d.EncryptionKey(), []byte(base64.StdEncoding.EncodeToString(key)+"\n"))
}
