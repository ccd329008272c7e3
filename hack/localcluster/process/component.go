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

// Names of the processes. Logs and records have the same names.
const (
	PostgresName          = "postgres"
	EtcdName              = "etcd"
	APIServerName         = "kube-apiserver"
	ControllerManagerName = "kube-controller-manager"
	SchedulerName         = "kube-scheduler"
	ProxyName             = "kube-proxy"
	KubeletName           = "kubelet"
	ContainerdName        = "containerd"
	MigrateName           = "migrate" // runs once
	ControllerName        = "controller"
	APIName               = "api"
	WorkerName            = "worker"
)

// startOrder is the order in which processes start. They stop in the reverse order.
var startOrder = []string{
	PostgresName, ContainerdName, EtcdName, APIServerName, ControllerManagerName, SchedulerName, ProxyName, KubeletName,
	ControllerName, APIName, WorkerName,
}

func sortByStart(processes []Process) {
	slices.SortStableFunc(processes, func(a, b Process) int {
		return slices.Index(startOrder, a.Name) - slices.Index(startOrder, b.Name)
	})
}

// Component describes a process that should run.
type Component struct {
	Name    string
	Program string
	Args    []string
	// Env is added to the environment. Secrets must be here, not in the arguments, which all users of the machine can
	// read.
	Env []string
	// Files are the files that the program reads only at its start. If one changes, the program restarts.
	Files   []string
	Dir     string
	Address string // shown to the user
	Metrics string // URL shown to the user, empty for none

	// Credential is the user of the process; nil means the current user.
	Credential *syscall.Credential
	StopSignal syscall.Signal
	StopWithin time.Duration

	Ready       func(context.Context) error
	ReadyWithin time.Duration
	Hint        string // advice for the user if the process does not start
}

// Variables that child processes do not inherit, because they may be settings for other clusters and databases, or for
// this program. For the settings of the roles, see roles.environment.
var (
	notInherited       = []string{"KUBECONFIG", "DATABASE_URL"}
	prefixNotInherited = []string{"CAURI_", "PG", "ETCD_"} // Postgres clients read PG*, and etcd reads ETCD_*
)

// ChildEnvironment returns the environment for a child process, with the added variables.
func ChildEnvironment(added []string) []string {
	kept := slices.DeleteFunc(os.Environ(), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.Contains(notInherited, name) ||
			slices.ContainsFunc(prefixNotInherited, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
	})
	return append(kept, added...)
}

// version returns a hash of the program, the arguments, the environment and the files. It changes when the program is
// rebuilt, even with the same name and size.
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

// start starts the component in its own session and records it. Neither the end of this program nor Ctrl-C stops it.
// The returned process may end at any time.
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
	// Wait reaps the child. Otherwise, after its end, it would be a zombie as long as this program runs.
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
		// The process has already ended. A record without a start time never counts as running.
		return started, nil
	}
	if err := d.save(started); err != nil {
		return Process{}, errors.Join(err, started.Stop(c.StopWithin))
	}
	return started, nil
}

// OpenLog opens a new log for a process. It keeps the previous log, which may show why the process ended.
func (d StateDir) OpenLog(name string) (*os.File, error) {
	path := d.LogFile(name)
	if err := os.Rename(path, strings.TrimSuffix(path, ".log")+".previous.log"); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("saving the old log of %s: %w", name, err)
	}
	log, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the log of %s: %w", name, err)
	}
	return log, nil
}

// Failure is the error of a process that ended or did not become ready. It includes the end of the log.
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

// PurgeHint is the advice for a process that does not start because of its data.
const PurgeHint = "repeat the command. If it fails again in the same way, delete the data with `make clean` (or `localcluster down --purge`)"
