package main

import (
	"context"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestParseStat(t *testing.T) {
	t.Parallel()
	rest := " 1 10 10 0 -1 4194560 100 0 0 0 1 2 0 0 20 0 1 0 987654 1000 100"
	cases := map[string]struct{ stat, state, ticks string }{
		"plain":                  {"10 (etcd) S" + rest, "S", "987654"},
		"spaces and parentheses": {"10 (a) R (b c) Z" + rest, "Z", "987654"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			state, ticks, err := parseStat(c.stat)
			if err != nil || state != c.state || ticks != c.ticks {
				t.Errorf("parseStat = %q, %q, %v", state, ticks, err)
			}
		})
	}
	for _, broken := range []string{"", "10 etcd S 1", "10 (etcd) S 1 2"} {
		if _, _, err := parseStat(broken); err == nil {
			t.Errorf("parseStat(%q) finds no fault", broken)
		}
	}
}

func TestAZombieIsNoProcess(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("/bin/true")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait() // only now is it collected
	err := poll(t.Context(), time.Millisecond, 5*time.Second, func(context.Context) error {
		if _, err := birthOf(cmd.Process.Pid); err == nil {
			return os.ErrExist
		}
		return nil
	})
	if err != nil {
		t.Error("a process that has ended and was not collected counts as running")
	}
}

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
	pid, _, found := findListener(listener.Addr().(*net.TCPAddr).Port)
	if !found || pid != os.Getpid() {
		t.Errorf("the listener is pid %d (found: %t), want %d", pid, found, os.Getpid())
	}
}
