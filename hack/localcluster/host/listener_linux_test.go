package host

import (
	"net"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestListeningSockets(t *testing.T) {
	t.Parallel()
	table := strings.Join([]string{
		"  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode",
		"   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4711 1 0 100 0 0 10 0",
		"   1: 0100007F:1F90 0100007F:C001 01 00000000:00000000 00:00000000 00000000     0        0 4712 1 0 100 0 0 10 0",
		"   2: 0100007F:1F91 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4713 1 0 100 0 0 10 0",
	}, "\n")
	if diff := cmp.Diff([]string{"socket:[4711]"}, listeningSockets(table, 8080)); diff != "" {
		t.Error(diff)
	}
}

func TestFindListener(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	pid, _, found := FindListener(listener.Addr().(*net.TCPAddr).Port)
	if !found || pid != os.Getpid() {
		t.Errorf("the listener is pid %d (found: %t), want %d", pid, found, os.Getpid())
	}
}
