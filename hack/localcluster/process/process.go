package process

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/cauri-dev/cauri/hack/localcluster/host"
)

// errNoProcess means that no process has the pid, or that the process is a zombie.
var errNoProcess = errors.New("no such process")

// Process is the record of a started process. With it, a later run can find the process, compare it with the wanted
// component, and stop it.
type Process struct {
	Name    string `json:"name"`
	PID     int    `json:"pid"`
	Birth   string `json:"birth"`   // see birthOf
	Version string `json:"version"` // see component.version
	Address string `json:"address,omitempty"`
	Metrics string `json:"metrics,omitempty"` // URL
	Log     string `json:"log"`
	// StopSignal requests a graceful shutdown.
	StopSignal syscall.Signal `json:"stopSignal"`
}

// Running reports whether exactly this process runs. It also compares the start time, because the system may have given
// the pid to another program, which must never get signals of localcluster.
func (p Process) Running() bool {
	if p.PID <= 0 {
		return false
	}
	birth, err := birthOf(p.PID)
	return err == nil && birth == p.Birth
}

// Stop stops the process with its stop signal. After the grace period it kills the process.
func (p Process) Stop(grace time.Duration) error {
	// The handle is opened before the check. On Linux, it then refers to the checked process, even if the pid is
	// reused.
	handle, err := os.FindProcess(p.PID)
	if err != nil || !p.Running() {
		return nil
	}
	defer handle.Release()
	if err := handle.Signal(p.StopSignal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stopping %s (pid %d): %w", p.Name, p.PID, err)
	}
	if p.gone(grace) {
		return nil
	}
	if err := handle.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("killing %s (pid %d): %w", p.Name, p.PID, err)
	}
	if !p.gone(10 * time.Second) {
		return fmt.Errorf("%s (pid %d) still runs after SIGKILL: inspect it with `ps -p %d`", p.Name, p.PID, p.PID)
	}
	return nil
}

// gone waits for the end of the process, and reports whether it has ended.
func (p Process) gone(within time.Duration) bool {
	err := host.Poll(context.Background(), 20*time.Millisecond, within, func(context.Context) error {
		if p.Running() {
			return errors.New("still running")
		}
		return nil
	})
	return err == nil
}

// save stores the record of the process.
func (d StateDir) save(p Process) error {
	content, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return fmt.Errorf("saving the record of %s: %w", p.Name, err)
	}
	return host.WriteFile(d.File("run", p.Name+".json"), append(content, '\n'))
}

// forget removes the record of a process that has ended.
func (d StateDir) forget(name string) error {
	if err := os.Remove(d.File("run", name+".json")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing the record of %s: %w", name, err)
	}
	return nil
}

// Process returns the record with this name, or the zero value, which never runs.
func (d StateDir) Process(name string) (Process, error) {
	content, err := os.ReadFile(d.File("run", name+".json"))
	if errors.Is(err, fs.ErrNotExist) {
		return Process{}, nil
	}
	if err != nil {
		return Process{}, fmt.Errorf("reading the record of %s: %w", name, err)
	}
	var p Process
	if err := json.Unmarshal(content, &p); err != nil {
		return Process{}, fmt.Errorf("reading %s: %w", d.File("run", name+".json"), err)
	}
	return p, nil
}

// Processes returns all records in start order.
func (d StateDir) Processes() ([]Process, error) {
	files, err := filepath.Glob(d.File("run", "*.json"))
	if err != nil {
		return nil, fmt.Errorf("listing the records of processes: %w", err)
	}
	var all []Process
	for _, file := range files {
		p, err := d.Process(strings.TrimSuffix(filepath.Base(file), ".json"))
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	sortByStart(all)
	return all, nil
}
