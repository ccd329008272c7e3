package main

import (
	"os"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// memoryLimit is Go's memory limit, in bytes, if the limit of the container is unknown. With it, a process with
// thousands of connections stays below 150 MiB, including the code of the program.
const memoryLimit = 96 << 20

// memoryPercent is the percentage of the container's limit that becomes Go's memory limit. The rest is for memory that
// Go does not count, mainly the pages of the program, and for allocations during garbage collections. Without this
// rest, the process could be killed before a collection ends.
const memoryPercent = 90

// garbagePercent is the value of GOGC, unless the environment sets it. Near the memory limit, Go collects more often
// anyway. With 400, the api and the worker need 15 to 20 MiB more. The CPU time of a payment in the api stays the same,
// and that of a delivery in the worker falls by 7 %.
const garbagePercent = 150

// containerMemory declares the flag for the memory limit of the container. The flag is not a value for GOMEMLIMIT,
// because Kubernetes can pass only the whole limit in a variable, not a percentage.
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

// limitMemory sets Go's memory limit to memoryPercent of the container's limit. If the limit is unknown or GOMEMLIMIT
// is set, it sets nothing and returns false.
func limitMemory(container int64) bool {
	if container <= 0 || os.Getenv("GOMEMLIMIT") != "" {
		return false
	}
	debug.SetMemoryLimit(container / 100 * memoryPercent)
	return true
}
