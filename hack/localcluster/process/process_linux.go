package process

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// bootID identifies the current boot. Start times of processes count from the boot and are only valid together with it.
var bootID = sync.OnceValues(func() (string, error) {
	content, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(content)), err
})

// birthOf returns the start time of a process, only for comparison. Two processes with the same pid have different
// start times. For an ended process or a zombie, birthOf returns errNoProcess.
func birthOf(pid int) (string, error) {
	boot, err := bootID()
	if err != nil {
		return "", fmt.Errorf("reading the boot id: %w", err)
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return "", errNoProcess
	}
	state, ticks, err := parseStat(string(stat))
	if err != nil {
		return "", fmt.Errorf("reading the state of pid %d: %w", pid, err)
	}
	if state == "Z" || state == "X" {
		return "", errNoProcess
	}
	return boot + "/" + ticks, nil
}

// parseStat returns the state and the start time, which are the fields 3 and 22 of proc_pid_stat(5). Field 2 is the
// program's name in parentheses, which may contain spaces and parentheses.
func parseStat(stat string) (state, startTicks string, err error) {
	end := strings.LastIndexByte(stat, ')')
	if end < 0 {
		return "", "", fmt.Errorf("no program name in %q", stat)
	}
	fields := strings.Fields(stat[end+1:])
	if len(fields) < 20 {
		return "", "", fmt.Errorf("only %d fields in %q", len(fields)+2, stat)
	}
	return fields[0], fields[19], nil
}

// ProcessesIn returns the processes with the given working directory that the current user can see.
func ProcessesIn(folder string) []int {
	links, err := filepath.Glob("/proc/[0-9]*/cwd")
	if err != nil {
		return nil
	}
	var found []int
	for _, link := range links {
		if target, err := os.Readlink(link); err != nil || target != folder {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(link))); err == nil {
			found = append(found, pid)
		}
	}
	return found
}

// DieWithParent sets the signal that stops a child when the thread that started it ends.
func DieWithParent(attributes *syscall.SysProcAttr) *syscall.SysProcAttr {
	attributes.Pdeathsig = syscall.SIGINT
	return attributes
}
