//go:build unix && !linux

package localpostgres

import (
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// endWithParent can do nothing here: the next start ends a server whose program was killed.
func endWithParent(attributes *syscall.SysProcAttr) *syscall.SysProcAttr { return attributes }

// runsIn reports whether a process is the Postgres of a folder, which its command line names.
func runsIn(pid int, folder string) bool {
	line, err := exec.Command("ps", "-o", "command=", "-p", strconv.Itoa(pid)).Output()
	return err == nil && strings.Contains(string(line), folder)
}
