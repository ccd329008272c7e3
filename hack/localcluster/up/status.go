package up

import (
	"cmp"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/cauri-dev/cauri/hack/localcluster/process"
)

func NewStatusCommand() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show which processes run",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			state, err := process.NewStateDir(dir)
			if err != nil {
				return err
			}
			all, err := state.Processes()
			if err != nil {
				return err
			}
			if len(all) == 0 {
				fmt.Fprintf(cmd.OutOrStdout(), "no process of %s is running\n", dir)
				return nil
			}
			return printProcesses(cmd.OutOrStdout(), all)
		},
	}
	addStateFlag(cmd, &dir)
	return cmd
}

// printProcesses prints a table of the started processes, with whether they still run.
func printProcesses(out io.Writer, processes []process.Process) error {
	table := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "NAME\tPID\tADDRESS\tMETRICS\tLOG")
	for _, p := range processes {
		pid := "ended"
		if p.Running() {
			pid = fmt.Sprint(p.PID)
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", p.Name, pid, p.Address, cmp.Or(p.Metrics, "-"), p.Log)
	}
	return table.Flush()
}
