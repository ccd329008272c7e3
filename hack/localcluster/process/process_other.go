//go:build !linux

package process

import (
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// birthOf returns when a process was started, in a form that only serves to be compared.
func birthOf(pid int) (string, error) {
	output, err := exec.Command("ps", "-o", "stat=,lstart=", "-p", strconv.Itoa(pid)).Output()
	state, birth, found := strings.Cut(strings.TrimSpace(string(output)), " ")
	if err != nil || !found || strings.HasPrefix(state, "Z") {
		return "", errNoProcess
	}
	return strings.TrimSpace(birth), nil
}

// ProcessesIn is only needed where Postgres is run.
func ProcessesIn(string) []int { return nil }

// DieWithParent can not be asked for on this system.
func DieWithParent(attributes *syscall.SysProcAttr) *syscall.SysProcAttr { return attributes }
