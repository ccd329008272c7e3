package main

import (
	"os"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// memoryLimit is Go's memory limit if the limit of the container is unknown. With it a process with thousands of
// connections stays below 150 MiB, including the program itself.
const memoryLimit = 96 << 20

// memoryPercent is the part of the container's limit that Go may use. The rest is for what Go does not count, above all
// the pages of the program, and for allocations while the garbage collector works: a process that uses all of the limit
// is killed before it has collected.
const memoryPercent = 90

// garbagePercent lets garbage grow to several times the live heap, which is a few MiB, as long as memory is far from
// its limit. GOGC in the environment takes precedence.
const garbagePercent = 400

// containerMemory declares the flag for the memory limit of the container. Kubernetes can pass the limit as a variable,
// but no percentage of it.
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

// limitMemory sets Go's memory limit to its part of the container's limit. It returns false, and sets nothing, if the
// limit is unknown or GOMEMLIMIT is set.
func limitMemory(container int64) bool {
	if container <= 0 || os.Getenv("GOMEMLIMIT") != "" {
		return false
	}
	debug.SetMemoryLimit(container / 100 * memoryPercent)
	return true
}
