package main

import (
	"os"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// memoryLimit is where the garbage collector begins to work harder, for a process that takes no more than 150 MiB with the program
// itself and thousands of connections of clients, where the container's limit is not known.
const memoryLimit = 96 << 20

// memoryPercent of the container's limit is for Go. The rest is for what Go does not count, the program's own pages first, and for
// what is allocated while the garbage collector works: a process that may use all of the limit is killed before it has collected.
const memoryPercent = 90

// garbagePercent lets garbage grow to several times what is in use, which is a few MiB, as long as memory is far from its limit. The
// environment's GOGC is believed instead.
const garbagePercent = 400

// containerMemory declares the flag that tells a process what its container may use. Kubernetes can hand that over as a variable, but no
// percentage of it.
func containerMemory(cmd *cobra.Command, memory *int64) {
	cmd.Flags().Int64Var(memory, "container-memory", 0,
		"memory limit of the container in bytes; Go uses at most 90 % of it; 0 means unknown; GOMEMLIMIT takes precedence")
}

// tuneMemory sets the limits of the garbage collector for the api and the worker.
func tuneMemory(container int64) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbagePercent)
	}
	if !limitMemory(container) && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryLimit)
	}
}

// limitMemory keeps Go within its share of what the container may use, and reports whether it did: not where that is unknown, or the
// environment has a GOMEMLIMIT.
func limitMemory(container int64) bool {
	if container <= 0 || os.Getenv("GOMEMLIMIT") != "" {
		return false
	}
	debug.SetMemoryLimit(container / 100 * memoryPercent)
	return true
}
