package host

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// FindListener finds the process that listens on a TCP port. It searches the open files of all processes for the
// socket. Only root can see the processes of other users.
func FindListener(port int) (pid int, program string, found bool) {
	var sockets []string
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		content, err := os.ReadFile(table)
		if err != nil {
			continue
		}
		sockets = append(sockets, listeningSockets(string(content), port)...)
	}
	if len(sockets) == 0 {
		return 0, "", false
	}
	files, err := filepath.Glob("/proc/[0-9]*/fd/*")
	if err != nil {
		return 0, "", false
	}
	for _, file := range files {
		target, err := os.Readlink(file)
		if err != nil || !slices.Contains(sockets, target) {
			continue
		}
		process := filepath.Dir(filepath.Dir(file))
		if pid, err = strconv.Atoi(filepath.Base(process)); err != nil {
			continue
		}
		name, err := os.ReadFile(filepath.Join(process, "comm"))
		if err != nil {
			continue
		}
		return pid, strings.TrimSpace(string(name)), true
	}
	return 0, "", false
}

// listeningSockets returns the sockets that listen on a port. The input is a table as in proc_net_tcp(5). The result
// has the names that /proc/PID/fd uses.
func listeningSockets(table string, port int) []string {
	const listening = "0A"
	suffix := fmt.Sprintf(":%04X", port)
	var sockets []string
	for line := range strings.Lines(table) {
		fields := strings.Fields(line)
		if len(fields) > 9 && strings.HasSuffix(fields[1], suffix) && fields[3] == listening {
			sockets = append(sockets, "socket:["+fields[9]+"]")
		}
	}
	return sockets
}
