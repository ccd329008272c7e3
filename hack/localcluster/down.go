package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

func newDownCommand() *cobra.Command {
	var dir string
	var purge bool
	cmd := &cobra.Command{
		Use:   "down",
		Short: "Stop what up has started",
		Long: `down stops what up has started, in the reverse order, and nothing else. Data stay: the next up continues with them, and
sandboxes keep their keys. With --purge the data, the keys and the state folder go too.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return down(cmd.OutOrStdout(), dir, purge)
		},
	}
	addStateFlag(cmd, &dir)
	cmd.Flags().BoolVar(&purge, "purge", false, "remove all data as well")
	return cmd
}

func down(out io.Writer, dir string, purge bool) error {
	state, err := newStateDir(dir)
	if err != nil {
		return err
	}
	if !state.isOurs() {
		fmt.Fprintf(out, "nothing to stop: there is no state of localcluster in %s\n", dir)
		return nil
	}
	unlock, err := state.lock()
	if err != nil {
		return err
	}
	defer unlock()
	if err := stopAll(out, state); err != nil {
		return err
	}
	if !purge {
		return nil
	}
	return removeAll(out, state)
}

// stopAll stops what runs, last started first. Something that cannot be stopped does not keep the others running.
func stopAll(out io.Writer, state stateDir) error {
	all, err := state.processes()
	if err != nil {
		return err
	}
	slices.Reverse(all)
	progress := &progress{out: out}
	var failed error
	stopped := 0
	for _, p := range all {
		if !p.running() {
			failed = errors.Join(failed, state.forget(p.Name))
			continue
		}
		step := progress.begin(p.Name)
		if err := state.stopAndForget(p); err != nil {
			step.failed()
			failed = errors.Join(failed, err)
			continue
		}
		step.done("stopped")
		stopped++
	}
	if stopped == 0 && failed == nil {
		fmt.Fprintln(out, "nothing runs")
	}
	return failed
}

// removeAll removes the data, wherever they are, and the state folder.
func removeAll(out io.Writer, state stateDir) error {
	known, err := state.postgresState()
	if err != nil {
		return err
	}
	folders := []string{state.path}
	// Only a folder that up would choose itself: the record might have been edited, or copied from elsewhere.
	if home := known.Home; home != "" && home == state.postgresHome() && !strings.HasPrefix(home, state.path+string(filepath.Separator)) {
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
