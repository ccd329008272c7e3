//go:build unix && !linux

package localpostgres

import (
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// endWithParent does nothing on this system: the next start ends a server whose program was killed.
func endWithParent(attributes *syscall.SysProcAttr) *syscall.SysProcAttr { return attributes }

// runsIn reports whether a process of a user is the Postgres of a folder, which its command line names.
func runsIn(pid int, folder string, uid int) bool {
	line, err := exec.Command("ps", "-o", "uid=,command=", "-p", strconv.Itoa(pid)).Output()
	owner, command, _ := strings.Cut(strings.TrimSpace(string(line)), " ")
	return err == nil && owner == strconv.Itoa(uid) && strings.Contains(command, "-D "+folder+" ")
}
