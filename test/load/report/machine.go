package report

import (
	"fmt"
	"os"
	"runtime"
	"strings"
)

// machine is the state of the machine, which a figure depends on.
type machine struct {
	Cores int    `json:"cores"`
	Load  string `json:"load"` // averages of 1, 5 and 15 minutes
}

func (m machine) String() string { return fmt.Sprintf("%d cores, load %s", m.Cores, m.Load) }

func MachineNow() machine {
	m := machine{Cores: runtime.NumCPU(), Load: "unknown"}
	if content, err := os.ReadFile("/proc/loadavg"); err == nil {
		if fields := strings.Fields(string(content)); len(fields) >= 3 {
			m.Load = strings.Join(fields[:3], " ")
		}
	}
	return m
}
