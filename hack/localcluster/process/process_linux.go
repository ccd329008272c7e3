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

// bootID names this start of the machine. Times of birth count from there, so that they mean nothing without it.
var bootID = sync.OnceValues(func() (string, error) {
	content, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(content)), err
})

// birthOf returns when a process was started, in a form that only serves to be compared: no two processes that had the
// same pid share it. A process that has ended (a zombie too) is errNoProcess.
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

// parseStat takes state and start time, the third and the 22nd field of proc_pid_stat(5). The second one is the
// program's name in parentheses, which may itself hold spaces and parentheses.
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

// ProcessesIn returns the processes whose working directory is a folder, as far as the present user may know.
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

// DieWithParent has a child stopped when the thread that started it ends.
func DieWithParent(attributes *syscall.SysProcAttr) *syscall.SysProcAttr {
	attributes.Pdeathsig = syscall.SIGINT
	return attributes
}
