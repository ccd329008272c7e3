package process

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/cauri-dev/cauri/hack/localcluster/host"
)

// Names of the processes, which are also those of their logs and records.
const (
	PostgresName          = "postgres"
	EtcdName              = "etcd"
	APIServerName         = "kube-apiserver"
	ControllerManagerName = "kube-controller-manager"
	SchedulerName         = "kube-scheduler"
	ProxyName             = "kube-proxy"
	KubeletName           = "kubelet"
	ContainerdName        = "containerd"
	MigrateName           = "migrate" // ends by itself
	ControllerName        = "controller"
	APIName               = "api"
	WorkerName            = "worker"
)

// startOrder is the order in which processes need each other. They are stopped the other way round.
var startOrder = []string{
	PostgresName, ContainerdName, EtcdName, APIServerName, ControllerManagerName, SchedulerName, ProxyName, KubeletName,
	ControllerName, APIName, WorkerName,
}

func sortByStart(processes []Process) {
	slices.SortStableFunc(processes, func(a, b Process) int {
		return slices.Index(startOrder, a.Name) - slices.Index(startOrder, b.Name)
	})
}

// Component is a process that is wanted.
type Component struct {
	Name    string
	Program string
	Args    []string
	// Env holds what is added to the environment: secrets go here, since arguments are visible to everyone on the machine.
	Env []string
	// Files are those that the program reads once, at its start: it is started again when one of them changed.
	Files   []string
	Dir     string
	Address string // for people
	Metrics string // URL, for people; empty for none

	// Credential is the user it runs as; nil is the present one.
	Credential *syscall.Credential
	StopSignal syscall.Signal
	StopWithin time.Duration

	Ready       func(context.Context) error
	ReadyWithin time.Duration
	Hint        string // what to do when it does not start
}

// Settings of other clusters and databases, and of this program itself, may be in the user's environment and must not reach
// what is started. The roles get those that are meant for them, see roles.environment.
var (
	notInherited       = []string{"KUBECONFIG", "DATABASE_URL"}
	prefixNotInherited = []string{"CAURI_", "PG", "ETCD_"} // the latter are read by every Postgres client and by etcd
)

// ChildEnvironment is the environment of everything that is started.
func ChildEnvironment(added []string) []string {
	kept := slices.DeleteFunc(os.Environ(), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.Contains(notInherited, name) ||
			slices.ContainsFunc(prefixNotInherited, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
	})
	return append(kept, added...)
}

// version is a hash over everything that makes a running process the wanted one. It differs when the program was built
// again, even with the same name and size.
func (c Component) version() (string, error) {
	hash := sha256.New()
	described := []any{c.Args, c.Env, c.Dir, c.Credential, c.StopSignal}
	if err := json.NewEncoder(hash).Encode(described); err != nil {
		return "", fmt.Errorf("describing %s: %w", c.Name, err)
	}
	for _, path := range append([]string{c.Program}, c.Files...) {
		if err := hashFile(hash, path); err != nil {
			return "", fmt.Errorf("describing %s: %w", c.Name, err)
		}
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

func hashFile(hash io.Writer, path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	fmt.Fprintf(hash, "%s\n", path)
	_, err = io.Copy(hash, file)
	return err
}

// start starts the component in a session of its own, so that neither the end of this program nor Ctrl-C in its terminal
// reaches it, and remembers it. The returned process may end at any moment.
func (d StateDir) start(c Component) (Process, error) {
	version, err := c.version()
	if err != nil {
		return Process{}, err
	}
	log, err := d.OpenLog(c.Name)
	if err != nil {
		return Process{}, err
	}
	defer log.Close()

	cmd := exec.Command(c.Program, c.Args...)
	cmd.Env = ChildEnvironment(c.Env)
	cmd.Dir = c.Dir
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Credential: c.Credential}
	if err := cmd.Start(); err != nil {
		return Process{}, fmt.Errorf("starting %s: %w", c.Name, err)
	}
	// As long as this program lives it must collect its child: a child that ended would otherwise look alive.
	go cmd.Wait()

	started := Process{
		Name:       c.Name,
		PID:        cmd.Process.Pid,
		Version:    version,
		Address:    c.Address,
		Metrics:    c.Metrics,
		Log:        log.Name(),
		StopSignal: c.StopSignal,
	}
	if started.Birth, err = birthOf(started.PID); err != nil {
		// Ended already. The record stays truthful: a process without birth is never running.
		return started, nil
	}
	if err := d.save(started); err != nil {
		return Process{}, errors.Join(err, started.Stop(c.StopWithin))
	}
	return started, nil
}

// OpenLog opens a new log for a process and keeps the one of the run before, which may tell why that run ended.
func (d StateDir) OpenLog(name string) (*os.File, error) {
	path := d.LogFile(name)
	if err := os.Rename(path, strings.TrimSuffix(path, ".log")+".previous.log"); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("keeping the old log of %s: %w", name, err)
	}
	log, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the log of %s: %w", name, err)
	}
	return log, nil
}

// Failure is the end of a process that should run, or of waiting for it. It says where its own words are.
type Failure struct {
	Name string
	Log  string
	Err  error
	Hint string
}

func (f Failure) Unwrap() error { return f.Err }

func (f Failure) Error() string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s: %v\n  log: %s", f.Name, f.Err, f.Log)
	if lines := host.LastLines(f.Log, 15); len(lines) > 0 {
		fmt.Fprintf(&text, ", its last lines:\n    | %s", strings.Join(lines, "\n    | "))
	} else {
		text.WriteString(" (empty)")
	}
	if f.Hint != "" {
		fmt.Fprintf(&text, "\n  what to do: %s", f.Hint)
	}
	return text.String()
}

// PurgeHint is what to do when something does not start on its data.
const PurgeHint = "repeat the command; if it fails the same way again, `make clean` (or `localcluster down --purge`) starts over without the data"
