package bench

import (
	"slices"
	"time"

	"github.com/cauri-dev/cauri/test/load/report"
	"github.com/cauri-dev/cauri/test/system"
)

// Costs is the processor time that processes take for operations. A nil Costs measures nothing.
type Costs struct {
	processes  map[string]interface{ CPU() (time.Duration, error) } // by name
	operations float64
	micros     map[string]float64 // of all operations, by process
}

// CostsOf returns the costs of Postgres and of other processes.
func (b *Bench) CostsOf(others map[string]*system.Process) *Costs {
	c := &Costs{map[string]interface{ CPU() (time.Duration, error) }{"Postgres": b.Postgres}, 0, map[string]float64{}}
	for name, process := range others {
		c.processes[name] = process
	}
	return c
}

// During adds the processor time during f, which returns the number of its operations.
func (c *Costs) During(f func() (operations float64, err error)) error {
	if c == nil {
		_, err := f()
		return err
	}
	if err := c.add(-1); err != nil {
		return err
	}
	operations, err := f()
	if err != nil {
		return err
	}
	c.operations += operations
	return c.add(1)
}

// add adds the times that the processes have used so far, multiplied by a sign.
func (c *Costs) add(sign float64) error {
	for name, process := range c.processes {
		used, err := process.CPU()
		if err != nil {
			return err
		}
		c.micros[name] += sign * float64(used.Microseconds())
	}
	return nil
}

// Tell adds a figure for each process.
func (c *Costs) Tell(r *report.Report, label string) {
	var names []string
	all := 0.0
	for name, micros := range c.micros {
		names = append(names, name)
		all += micros
	}
	slices.Sort(names)
	each := max(1, c.operations)
	for _, name := range names {
		r.Figure(label+": "+name, c.micros[name]/each, "µs")
	}
	r.Figure(label+": all", all/each, "µs")
}
