//go:build !linux

package process

import (
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// birthOf returns the start time of a process, only for comparison.
func birthOf(pid int) (string, error) {
	output, err := exec.Command("ps", "-o", "stat=,lstart=", "-p", strconv.Itoa(pid)).Output()
	state, birth, found := strings.Cut(strings.TrimSpace(string(output)), " ")
	if err != nil || !found || strings.HasPrefix(state, "Z") {
		return "", errNoProcess
	}
	return strings.TrimSpace(birth), nil
}

// ProcessesIn returns nil on this system.
func ProcessesIn(string) []int { return nil }

// DieWithParent does nothing on this system.
func DieWithParent(attributes *syscall.SysProcAttr) *syscall.SysProcAttr { return attributes }
