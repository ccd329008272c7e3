package up

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cauri-dev/cauri/hack/localcluster/postgres"
	"github.com/cauri-dev/cauri/hack/localcluster/process"
)

func NewDownCommand() *cobra.Command {
	var dir string
	var purge bool
	cmd := &cobra.Command{
		Use:   "down",
		Short: "Stop the processes that up started",
		Long: `down stops only the processes that up started, in the reverse order. It keeps the data: the next up uses it, and
sandboxes keep their keys. With --purge it also removes the data, the keys and the state folder.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return down(cmd.OutOrStdout(), dir, purge)
		},
	}
	addStateFlag(cmd, &dir)
	cmd.Flags().BoolVar(&purge, "purge", false, "also remove all data")
	return cmd
}

func down(out io.Writer, dir string, purge bool) error {
	state, err := process.NewStateDir(dir)
	if err != nil {
		return err
	}
	if !state.IsOurs() {
		fmt.Fprintf(out, "nothing to stop: %s has no state of localcluster\n", dir)
		return nil
	}
	unlock, err := state.Lock()
	if err != nil {
		return err
	}
	defer unlock()
	if err := process.StopAll(out, state); err != nil {
		return err
	}
	if !purge {
		return nil
	}
	return removeAll(out, state)
}

// removeAll removes the data, which may be outside the state folder, and the state folder.
func removeAll(out io.Writer, state process.StateDir) error {
	known, err := postgres.ReadState(state)
	if err != nil {
		return err
	}
	folders := []string{state.Path}
	// Only a folder that up would choose is removed, because the record may be edited or copied from another machine.
	if home := known.Home; home != "" && home == postgres.Home(state) && !strings.HasPrefix(home, state.Path+string(filepath.Separator)) {
		folders = append([]string{home}, folders...)
	}
	for _, folder := range folders {
		if err := os.RemoveAll(folder); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("removing the data: %w", err)
		}
		fmt.Fprintf(out, "removed %s\n", folder)
	}
	return nil
}
