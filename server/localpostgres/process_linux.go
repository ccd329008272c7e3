package localpostgres

import (
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// endWithParent makes the kernel end the server when this program ends, even if this program is killed. Postgres then
// recovers at the next start.
func endWithParent(attributes *syscall.SysProcAttr) *syscall.SysProcAttr {
	attributes.Pdeathsig = syscall.SIGQUIT
	return attributes
}

// runsIn reports whether a process of a user is alive and has a folder as its working directory. It returns false for a
// zombie.
func runsIn(pid int, folder string, uid int) bool {
	process := filepath.Join("/proc", strconv.Itoa(pid))
	info, err := os.Stat(process)
	if err != nil || ownerOf(info) != uid {
		return false
	}
	at, err := os.Readlink(filepath.Join(process, "cwd"))
	if err != nil {
		return false
	}
	target, err := filepath.EvalSymlinks(folder)
	return err == nil && at == target
}
