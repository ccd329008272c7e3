package main

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
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Names of the processes, which are also those of their logs and records.
const (
	postgresName          = "postgres"
	etcdName              = "etcd"
	apiServerName         = "kube-apiserver"
	controllerManagerName = "kube-controller-manager"
	schedulerName         = "kube-scheduler"
	proxyName             = "kube-proxy"
	kubeletName           = "kubelet"
	containerdName        = "containerd"
	migrateName           = "migrate" // ends by itself
	controllerName        = "controller"
	apiName               = "api"
	workerName            = "worker"
)

// startOrder is the order in which processes need each other. They are stopped the other way round.
var startOrder = []string{
	postgresName, containerdName, etcdName, apiServerName, controllerManagerName, schedulerName, proxyName, kubeletName,
	controllerName, apiName, workerName,
}

func sortByStart(processes []process) {
	slices.SortStableFunc(processes, func(a, b process) int {
		return slices.Index(startOrder, a.Name) - slices.Index(startOrder, b.Name)
	})
}

// component is a process that is wanted.
type component struct {
	name    string
	program string
	args    []string
	// env holds what is added to the environment: secrets go here, since arguments are visible to everyone on the machine.
	env []string
	// files are those that the program reads once, at its start: it is started anew when one of them changed.
	files   []string
	dir     string
	address string // for people
	metrics string // URL, for people; empty for none

	// credential is the user it runs as; nil is the present one.
	credential *syscall.Credential
	stopSignal syscall.Signal
	stopWithin time.Duration

	ready       func(context.Context) error
	readyWithin time.Duration
	hint        string // what to do when it does not start
}

// Settings of other clusters and databases, and of this program itself, may be in the user's environment and must not reach
// what is started. The roles get those that are meant for them, see roles.environment.
var (
	notInherited       = []string{"KUBECONFIG", "DATABASE_URL"}
	prefixNotInherited = []string{"CAURI_", "PG", "ETCD_"} // the latter are read by every Postgres client and by etcd
)

// childEnvironment is the environment of everything that is started.
func childEnvironment(added []string) []string {
	kept := slices.DeleteFunc(os.Environ(), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.Contains(notInherited, name) ||
			slices.ContainsFunc(prefixNotInherited, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
	})
	return append(kept, added...)
}

// version is a hash over everything that makes a running process the wanted one. It differs when the program was built
// anew, even with the same name and size.
func (c component) version() (string, error) {
	hash := sha256.New()
	described := []any{c.args, c.env, c.dir, c.credential, c.stopSignal}
	if err := json.NewEncoder(hash).Encode(described); err != nil {
		return "", fmt.Errorf("describing %s: %w", c.name, err)
	}
	for _, path := range append([]string{c.program}, c.files...) {
		if err := hashFile(hash, path); err != nil {
			return "", fmt.Errorf("describing %s: %w", c.name, err)
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
func (d stateDir) start(c component) (process, error) {
	version, err := c.version()
	if err != nil {
		return process{}, err
	}
	log, err := d.openLog(c.name)
	if err != nil {
		return process{}, err
	}
	defer log.Close()

	cmd := exec.Command(c.program, c.args...)
	cmd.Env = childEnvironment(c.env)
	cmd.Dir = c.dir
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Credential: c.credential}
	if err := cmd.Start(); err != nil {
		return process{}, fmt.Errorf("starting %s: %w", c.name, err)
	}
	// As long as this program lives it must collect its child: a child that ended would otherwise look alive.
	go cmd.Wait()

	started := process{Name: c.name, PID: cmd.Process.Pid, Version: version, Address: c.address, Metrics: c.metrics, Log: log.Name(), StopSignal: c.stopSignal}
	if started.Birth, err = birthOf(started.PID); err != nil {
		// Ended already. The record stays truthful: a process without birth is never running.
		return started, nil
	}
	if err := d.save(started); err != nil {
		return process{}, errors.Join(err, started.stop(c.stopWithin))
	}
	return started, nil
}

// openLog opens a new log for a process and keeps the one of the run before, which may tell why that run ended.
func (d stateDir) openLog(name string) (*os.File, error) {
	path := d.logFile(name)
	if err := os.Rename(path, strings.TrimSuffix(path, ".log")+".previous.log"); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("keeping the old log of %s: %w", name, err)
	}
	log, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the log of %s: %w", name, err)
	}
	return log, nil
}

// failure is the end of a process that should run, or of waiting for it. It says where its own words are.
type failure struct {
	name string
	log  string
	err  error
	hint string
}

func (f failure) Unwrap() error { return f.err }

func (f failure) Error() string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s: %v\n  log: %s", f.name, f.err, f.log)
	if lines := lastLines(f.log, 15); len(lines) > 0 {
		fmt.Fprintf(&text, ", its last lines:\n    | %s", strings.Join(lines, "\n    | "))
	} else {
		text.WriteString(" (empty)")
	}
	if f.hint != "" {
		fmt.Fprintf(&text, "\n  what to do: %s", f.hint)
	}
	return text.String()
}

// lastLines returns the end of a file; nothing if it cannot be read.
func lastLines(path string, count int) []string {
	const longest = 300 // a line of a log may be a whole object
	file, err := os.Open(filepath.Clean(path))
	if err != nil {
		return nil
	}
	defer file.Close()
	if info, err := file.Stat(); err == nil && info.Size() > 64<<10 {
		file.Seek(-64<<10, io.SeekEnd)
	}
	content, _ := io.ReadAll(file)
	text := strings.TrimRight(string(content), "\n")
	if text == "" {
		return nil
	}
	lines := strings.Split(text, "\n")
	lines = lines[max(0, len(lines)-count):]
	for i, line := range lines {
		if len(line) > longest {
			lines[i] = line[:longest] + "..."
		}
	}
	return lines
}
