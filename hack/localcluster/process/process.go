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

// errNoProcess says that a pid belongs to no process, or to one that has ended and is only waiting to be collected.
var errNoProcess = errors.New("no such process")

// Process is what is remembered of one that was started: enough to find it again, to know whether it is still the one
// that is wanted, and to stop it.
type Process struct {
	Name    string `json:"name"`
	PID     int    `json:"pid"`
	Birth   string `json:"birth"`   // see birthOf
	Version string `json:"version"` // see component.version
	Address string `json:"address,omitempty"`
	Metrics string `json:"metrics,omitempty"` // URL
	Log     string `json:"log"`
	// StopSignal asks for an orderly end.
	StopSignal syscall.Signal `json:"stopSignal"`
}

// Running tells whether this very process lives. A pid alone says nothing: the system gives it to another program once
// ours has ended, and that one must never be signalled.
func (p Process) Running() bool {
	if p.PID <= 0 {
		return false
	}
	birth, err := birthOf(p.PID)
	return err == nil && birth == p.Birth
}

// Stop ends the process: politely first, by force after the grace period.
func (p Process) Stop(grace time.Duration) error {
	// The handle is taken before the check: from then on (on Linux) it means the process that was checked, even if the pid
	// is reused in between.
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
		return fmt.Errorf("%s (pid %d) is still there after SIGKILL: look at it with `ps -p %d`", p.Name, p.PID, p.PID)
	}
	return nil
}

// gone waits for the end of the process.
func (p Process) gone(within time.Duration) bool {
	err := host.Poll(context.Background(), 20*time.Millisecond, within, func(context.Context) error {
		if p.Running() {
			return errors.New("still running")
		}
		return nil
	})
	return err == nil
}

// save remembers the process.
func (d StateDir) save(p Process) error {
	content, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return fmt.Errorf("remembering %s: %w", p.Name, err)
	}
	return host.WriteFile(d.File("run", p.Name+".json"), append(content, '\n'))
}

// forget is called once the process is gone.
func (d StateDir) forget(name string) error {
	if err := os.Remove(d.File("run", name+".json")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("forgetting %s: %w", name, err)
	}
	return nil
}

// Process returns what is remembered under a name; its zero value, which is not running, if there is nothing.
func (d StateDir) Process(name string) (Process, error) {
	content, err := os.ReadFile(d.File("run", name+".json"))
	if errors.Is(err, fs.ErrNotExist) {
		return Process{}, nil
	}
	if err != nil {
		return Process{}, fmt.Errorf("reading what is known of %s: %w", name, err)
	}
	var p Process
	if err := json.Unmarshal(content, &p); err != nil {
		return Process{}, fmt.Errorf("reading %s: %w", d.File("run", name+".json"), err)
	}
	return p, nil
}

// Processes returns everything remembered, in the order in which it is started.
func (d StateDir) Processes() ([]Process, error) {
	files, err := filepath.Glob(d.File("run", "*.json"))
	if err != nil {
		return nil, fmt.Errorf("listing what was started: %w", err)
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
