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

	"github.com/cauri-dev/cauri/hack/localcluster/download"
	"github.com/cauri-dev/cauri/hack/localcluster/host"
	"github.com/cauri-dev/cauri/hack/localcluster/kube"
	"github.com/cauri-dev/cauri/hack/localcluster/postgres"
	"github.com/cauri-dev/cauri/hack/localcluster/process"
	"github.com/cauri-dev/cauri/server/localpostgres"
	"github.com/cauri-dev/cauri/server/secrets"
)

// Names of ports.
const (
	apiPort               = "api" // used only if the user did not choose the port
	apiHealthPort         = "api-health"
	controllerHealthPort  = "controller-health"
	controllerMetricsPort = "controller-metrics"
	workerHealthPort      = "worker-health"
)

// logFormatVariable is the variable of the roles' flag --log-format.
const logFormatVariable = "CAURI_LOG_FORMAT"

// roles describes the processes of the cauri program.
type roles struct {
	state       process.StateDir
	program     string
	databaseURL string // database URL of the owner

	databaseURLs map[string]string // database URLs of processes with their own user
	apiPort      int
	ports        process.Ports
}

func apiAddress(port int) string { return "http://" + host.Loopback(port) }

func (r roles) baseURL() string { return apiAddress(r.apiPort) }

// notForRoles are variables of this program, of tests and of single commands, which the roles must not get. The roles
// accept every flag as CAURI_<FLAG>, so they would misinterpret some of these.
var notForRoles = []string{
	kube.KubeconfigVariable,
	postgres.DatabaseVariable,
	apiPortVariable,
	postgres.TestDatabaseVariable,
	baseURLVariable,
	host.InstallVariable,
	"CAURI_URI",
	"CAURI_API_KEY",
	"CAURI_WEBHOOK_SECRET",
	"CAURI_WEBHOOK_SECRET_FILE",
	download.SwitchVariable,
	download.MirrorVariable,
	download.SumsVariable,
	localpostgres.Variable,
	localpostgres.URLVariable,
	processDatabaseVariables[process.ControllerName],
	processDatabaseVariables[process.APIName],
	processDatabaseVariables[process.WorkerName],
}

// url returns the database URL of a process.
func (r roles) url(process string) string { return cmp.Or(r.databaseURLs[process], r.databaseURL) }

// environment returns the environment of a process. It has the database URL, because the URL contains a password, and
// other users of the machine can read arguments but not the environment. It also has the user's settings for the roles,
// such as CAURI_LOG_LEVEL=debug. A change of these restarts the roles.
func (r roles) environment(databaseURL string) []string {
	environment := []string{"DATABASE_URL=" + databaseURL}
	if os.Getenv(logFormatVariable) == "" {
		environment = append(environment, logFormatVariable+"=text") // for people
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

// metricsAt returns the metrics URL of a role.
func (r roles) metricsAt(port string) string {
	return "http://" + host.Loopback(r.ports[port]) + "/metrics"
}

func (r roles) controller() process.Component {
	health := host.Loopback(r.ports[controllerHealthPort])
	c := r.component(process.ControllerName, "http://"+health, "http://"+health+"/readyz", []string{
		"serve", "controller",
		"--kubeconfig=" + r.state.Kubeconfig(),
		"--base-url=" + r.baseURL(),
		"--encryption-key-file=" + r.state.EncryptionKey(),
		"--health-address=" + health,
		"--metrics-address=" + host.Loopback(r.ports[controllerMetricsPort]),
		"--allow-loopback-webhooks", // as the worker does
	})
	c.Files = []string{r.state.Kubeconfig(), r.state.EncryptionKey()}
	c.Metrics = r.metricsAt(controllerMetricsPort)
	return c
}

func (r roles) api() process.Component {
	c := r.component(process.APIName, r.baseURL(), "http://"+host.Loopback(r.ports[apiHealthPort])+"/readyz", []string{
		"serve", "api",
		"--listen-address=" + host.Loopback(r.apiPort),
		"--health-address=" + host.Loopback(r.ports[apiHealthPort]),
		"--pin-key-file=" + r.state.PINKey(),
		"--credential-key-file=" + r.state.CredentialKey(),
	})
	c.Files = []string{r.state.PINKey(), r.state.CredentialKey()}
	c.Metrics = r.metricsAt(apiHealthPort)
	return c
}

func (r roles) worker() process.Component {
	health := host.Loopback(r.ports[workerHealthPort])
	c := r.component(process.WorkerName, "http://"+health, "http://"+health+"/readyz", []string{
		"serve", "worker",
		"--encryption-key-file=" + r.state.EncryptionKey(),
		"--health-address=" + health,
		"--allow-loopback-webhooks", // the user's receiver also runs on this machine
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
		Hint:        "if these lines do not explain the failure, read the whole log; after a change, run `make up` again",
	}
}

// migrate migrates the database to the schema of the program.
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
		return errors.New("interrupted during the database migration; run the command again")
	case limited.Err() != nil:
		err = fmt.Errorf("not finished after %s", within)
	}
	return process.Failure{
		Name: process.MigrateName,
		Log:  log.Name(),
		Err:  err,
		Hint: "a failed migration changes nothing: fix it and run `make up` again",
	}
}

// ensureKeys creates the key that encrypts signing secrets in the database, and the keys for PINs and for credentials. It
// never replaces a key, because stored secrets would become unreadable.
func ensureKeys(d process.StateDir) error {
	key := make([]byte, 32)
	rand.Read(key) // never fails
	err := ensureFile(d.EncryptionKey(), func() (string, error) { return base64.StdEncoding.EncodeToString(key) + "\n", nil })
	newKey := func() (string, error) { return secrets.NewRSAKey(rand.Reader) }
	if err == nil {
		err = ensureFile(d.PINKey(), newKey)
	}
	if err == nil {
		err = ensureFile(d.CredentialKey(), newKey)
	}
	return err
}

// ensureFile creates a file with generated content, if it is missing.
func ensureFile(path string, generate func() (string, error)) error {
	_, err := os.Stat(path)
	if err == nil {
		return nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("looking for %s: %w", path, err)
	}
	content, err := generate()
	if err != nil {
		return err
	}
	return host.WriteFile(path, []byte(content))
}
