//go:build unix && !linux

package localpostgres

import (
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// endWithParent does nothing on this system. If `cauri dev` is killed, its Postgres goes on, and the next start ends
// it.
func endWithParent(attributes *syscall.SysProcAttr) *syscall.SysProcAttr { return attributes }

// runsIn reports whether a process belongs to a user and has a folder as the data directory in its command line.
func runsIn(pid int, folder string, uid int) bool {
	line, err := exec.Command("ps", "-o", "uid=,command=", "-p", strconv.Itoa(pid)).Output()
	owner, command, _ := strings.Cut(strings.TrimSpace(string(line)), " ")
	return err == nil && owner == strconv.Itoa(uid) && strings.Contains(command, "-D "+folder+" ")
}
