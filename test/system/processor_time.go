package system

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// CPU is the processor time that the process has used so far. Linux only.
func (p *Process) CPU() (time.Duration, error) {
	s, err := statOf(p.PID())
	if err != nil {
		return 0, fmt.Errorf("reading the processor time of %s: %w", p.Name, err)
	}
	return s.own, nil
}

// CPU is the processor time that the process has used so far. Linux only.
func (b Backend) CPU() (time.Duration, error) {
	s, err := statOf(b.PID)
	if err != nil {
		return 0, fmt.Errorf("reading the processor time of the %s of Postgres: %w", b.Kind, err)
	}
	return s.own, nil
}

// CPU is the processor time of the server and all its backends so far, with those that have ended. Linux only.
func (p *Postgres) CPU() (total time.Duration, err error) {
	server, err := statOf(p.process.PID())
	if err != nil {
		return 0, fmt.Errorf("reading the processor time of Postgres: %w", err)
	}
	total = server.own + server.ended
	processes, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return 0, err
	}
	for _, process := range processes {
		pid, err := strconv.Atoi(filepath.Base(process))
		if err != nil {
			continue
		}
		if s, err := statOf(pid); err == nil && s.parent == p.process.PID() { // another process may have ended meanwhile
			total += s.own
		}
	}
	return total, nil
}

// stat is a part of /proc/PID/stat.
type stat struct {
	parent int
	own    time.Duration // user and system time
	ended  time.Duration // of the children that have ended
}

func statOf(pid int) (s stat, err error) {
	content, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return s, err
	}
	_, rest, _ := strings.Cut(string(content), ") ") // the name before it may contain spaces
	fields := strings.Fields(rest)
	if len(fields) < 15 {
		return s, fmt.Errorf("the system does not report it")
	}
	var numbers [5]int
	for i, field := range []string{fields[1], fields[11], fields[12], fields[13], fields[14]} {
		if numbers[i], err = strconv.Atoi(field); err != nil {
			return s, err
		}
	}
	const tick = time.Second / 100 // the value on every Linux that Go supports
	return stat{
		parent: numbers[0],
		own:    time.Duration(numbers[1]+numbers[2]) * tick,
		ended:  time.Duration(numbers[3]+numbers[4]) * tick,
	}, nil
}
