package chart

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

// The chart's Postgres is ready while it takes connections, and alive as long as it answers at all: one that recovers from a crash is
// not restarted, which would make it begin again. The probes' commands run with a pg_isready that ends as Postgres documents it.
func TestPostgresIsNotRestartedWhileItRecovers(t *testing.T) {
	t.Parallel()
	sets := all[appsv1.StatefulSet](t, objects(t), "StatefulSet")
	if len(sets) != 1 {
		t.Fatalf("there are %d StatefulSets", len(sets))
	}
	container := sets[0].Spec.Template.Spec.Containers[0]
	for code, c := range map[int]struct {
		what         string
		ready, alive bool
	}{
		0: {"accepts connections", true, true}, // or refuses one because there are too many, see pg_isready
		1: {"rejects connections for now", false, true},
		2: {"does not answer", false, false},
		3: {"no attempt was made", false, false},
	} {
		for name, probe := range map[string]*corev1.Probe{"startup": container.StartupProbe, "readiness": container.ReadinessProbe, "liveness": container.LivenessProbe} {
			want := map[bool]bool{true: c.ready, false: c.alive}[name == "readiness"]
			if got := succeeds(t, probe.Exec.Command, code); got != want {
				t.Errorf("Postgres %s: the %s probe succeeds: %t, want %t", c.what, name, got, want)
			}
		}
	}
}

// succeeds runs a probe's command with a pg_isready that ends with a code.
func succeeds(t *testing.T, command []string, code int) bool {
	t.Helper()
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "pg_isready"), fmt.Appendf(nil, "#!/bin/sh\nexit %d\n", code), 0o755); err != nil {
		t.Fatal(err)
	}
	run := exec.CommandContext(t.Context(), "/usr/bin/env", append([]string{"PATH=" + folder + ":/bin:/usr/bin"}, command...)...)
	out, err := run.CombinedOutput()
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
		t.Fatalf("%v: %v\n%s", command, err, out)
	}
	return err == nil
}
