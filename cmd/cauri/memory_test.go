package main

import (
	"math"
	"runtime/debug"
	"testing"
)

func TestMemoryLimit(t *testing.T) {
	const container = 256 << 20
	for name, c := range map[string]struct {
		container int64
		variable  string
		want      int64
	}{
		"of the container":       {container, "", container / 100 * 90},
		"unknown":                {0, "", memoryLimit},
		"chosen by the user":     {container, "64MiB", 1 << 40}, // Go has set it before main
		"chosen, not limited":    {0, "64MiB", 1 << 40},
		"a large one":            {math.MaxInt64, "", math.MaxInt64 / 100 * 90},
		"no sense in the number": {-1, "", memoryLimit},
	} {
		t.Run(name, func(t *testing.T) {
			before, percent := debug.SetMemoryLimit(1<<40), debug.SetGCPercent(100)
			t.Cleanup(func() { debug.SetMemoryLimit(before); debug.SetGCPercent(percent) })
			t.Setenv("GOMEMLIMIT", c.variable)
			t.Setenv("GOGC", "")
			tuneMemory(c.container)
			if got := debug.SetMemoryLimit(-1); got != c.want {
				t.Errorf("the limit is %d, want %d", got, c.want)
			}
			if got := debug.SetGCPercent(100); got != garbagePercent {
				t.Errorf("GOGC is %d", got)
			}
		})
	}
}

// The variable that the chart sets reaches the processes that have the flag.
func TestContainerMemoryIsAVariable(t *testing.T) {
	t.Setenv("CAURI_CONTAINER_MEMORY", "268435456")
	for _, cmd := range newServeCommand().Commands() {
		switch cmd.Name() {
		case "api", "worker", "controller":
			if err := flagsFromEnvironment(cmd); err != nil {
				t.Fatal(err)
			}
			if got, err := cmd.Flags().GetInt64("container-memory"); err != nil || got != 268435456 {
				t.Errorf("%s: got %d, %v", cmd.Name(), got, err)
			}
		}
	}
}
