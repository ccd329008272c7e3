package process

import (
	"context"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/hack/localcluster/host"
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
	defer cmd.Wait() // only this collects the zombie
	err := host.Poll(t.Context(), time.Millisecond, 5*time.Second, func(context.Context) error {
		if _, err := birthOf(cmd.Process.Pid); err == nil {
			return os.ErrExist
		}
		return nil
	})
	if err != nil {
		t.Error("a process that has ended and was not collected counts as running")
	}
}
