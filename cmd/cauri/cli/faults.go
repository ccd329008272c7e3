package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/cauri-dev/cauri/cmd/cauri/sandboxapi"
	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/payments"
)

func (p *program) faultsCommand() *cobra.Command {
	cmd := p.listFaults(&cobra.Command{
		Use:   "faults",
		Short: "Make something go wrong in a sandbox, and end it",
		Long: `Make something go wrong in a sandbox while it runs, and end it: an answer gets lost, a
webhook comes twice, an operator is silent. A fault changes no payment and no balance.
Without a subcommand, list the faults of the sandbox, as list does.`,
		Example: "  " + p.called("faults", ""),
	})
	cmd.AddCommand(p.listFaults(&cobra.Command{
		Use: "list", Short: "List the faults of a sandbox, and how often each acted",
		Example: "  " + p.called("faults list", ""),
	}), p.faultsOnCommand(), p.faultsOffCommand())
	return cmd
}

// listFaults makes a command list the faults of a sandbox.
func (p *program) listFaults(cmd *cobra.Command) *cobra.Command {
	var o output
	var page paging
	t := p.target(cmd)
	page.add(cmd, mostListed)
	o.add(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := cmp.Or(o.check(), page.check()); err != nil {
			return err
		}
		return t.withAPI(cmd, args, func(ctx context.Context, api *sandboxapi.Client, s *sandbox, _ []string) error {
			all, err := api.Faults(ctx)
			if err != nil {
				return err
			}
			found, err := cut(&page, all)
			if err != nil {
				return err
			}
			name := func(f *wire.Fault) string { return f.Name }
			return printList(cmd, &o, found, name, func(out io.Writer) { printFaults(out, s, found.Data) })
		})
	}
	return cmd
}

func printFaults(out io.Writer, s *sandbox, found []wire.Fault) {
	if len(found) == 0 {
		Fprintf(out, "Nothing goes wrong on purpose. To begin:\n  %s\n", s.command("faults on", "lost-answer"))
		return
	}
	t := Table{Titles: "FAULT SOURCE ACTED LAST ENDS EFFECT", Shorten: "EFFECT", Drop: "LAST SOURCE"}
	for i := range found {
		f := &found[i]
		acted := strconv.FormatInt(f.Times, 10)
		t.Rows = append(t.Rows, []string{f.Name, f.Source, acted, optional(f.LastTime, clockTime), endOfFault(f), effectOf(f)})
	}
	table(out, t)
}

// effectOf returns what a fault does, without its name.
func effectOf(f *wire.Fault) string { return strings.TrimPrefix(f.Effect, f.Name+": ") }

// endOfFault says when a fault ends; "" for one of the resource.
func endOfFault(f *wire.Fault) string {
	switch {
	case f.TimesLeft != nil && *f.TimesLeft == 0:
		return "used up"
	case f.SecondsLeft != nil:
		return "in " + payments.FormatDuration(time.Duration(*f.SecondsLeft)*time.Second)
	case f.Source == sourceAPI:
		return "when removed"
	}
	return ""
}

// sourceAPI is the source of a fault that was set while the sandbox ran.
const sourceAPI = "api"

// faultOptions are the flags of `cauri faults on`.
type faultOptions struct {
	file              string
	lasts             time.Duration
	reference, msisdn string
	percent           int
	first             int64
}

func (p *program) faultsOnCommand() *cobra.Command {
	var o faultOptions
	var format output
	cmd := &cobra.Command{
		Use: "on", Short: "Set a fault: a preset, or an entry of spec.faults from a file",
		Long: "Set a fault: a preset, or an entry of spec.faults from a file. The sandbox has to allow it\n" +
			"(spec.api.faults), as every sandbox of cauri dev does. The presets:\n\n" + presetList(),
		Example: "  " + p.called("faults on", "lost-answer") + "\n  " + p.called("faults on", "twice-at-once --for=1h --reference='order-9*'") + "\n  " +
			p.called("faults on", "-f fault.yaml"),
	}
	t := p.target(cmd, argument{name: "PRESET", complete: completePresets})
	flags := cmd.Flags()
	flags.StringVarP(&o.file, "file", "f", "", "file with one entry of spec.faults, in YAML; - is the standard input")
	flags.DurationVar(&o.lasts, "for", 15*time.Minute, "how long it acts, in real time, from 10s to 24h; 0: until it is removed")
	flags.StringVar(&o.reference, "reference", "", "act only on references like this; * is any text: order-9*")
	flags.StringVar(&o.msisdn, "msisdn", "", "act only on payments of this phone")
	flags.IntVar(&o.percent, "percent", 0, "act on this percentage of references, 1 to 100")
	flags.Int64Var(&o.first, "first", 0, "act at most this many times")
	_ = cmd.RegisterFlagCompletionFunc("msisdn", inOrder(t.flagCompleter(completeNumbers))) // fails only for an unknown flag
	format.add(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := format.check(); err != nil {
			return err
		}
		return t.withAPI(cmd, args, func(ctx context.Context, api *sandboxapi.Client, s *sandbox, rest []string) error {
			entry, err := o.entry(cmd, rest)
			if err != nil {
				return err
			}
			set, err := api.SetFault(ctx, fmt.Sprint(entry["name"]), entry)
			if err != nil {
				return err
			}
			return format.print(cmd.OutOrStdout(), set, []string{set.Name}, func(out io.Writer) { printSet(out, s, &set) })
		})
	}
	return cmd
}

// printSet says what a fault does that was just set, and how to end it.
func printSet(out io.Writer, s *sandbox, f *wire.Fault) {
	Fprintf(out, "%s is on, and ends %s: %s\n", f.Name, endOfFault(f), effectOf(f))
	if preset := faults.PresetNamed(f.Name); preset != nil {
		Fprintf(out, "%s\n%s\n", preset.What, preset.Correct)
	}
	Fprintf(out, "To end it: %s\n", s.command("faults off", f.Name))
}

// presetList returns a line about each preset.
func presetList() string {
	t := ""
	for _, preset := range faults.Presets() {
		t += fmt.Sprintf("  %-18s %s\n", preset.Name, preset.What)
	}
	return strings.TrimSuffix(t, "\n")
}

func completePresets(context.Context, *sandbox, string) (names []string) {
	for _, preset := range faults.Presets() {
		names = append(names, described(preset.Name, string(preset.What)))
	}
	return names
}

// entry returns the body of the request: an entry of spec.faults with its time. A flag that is given goes before the file.
func (o *faultOptions) entry(cmd *cobra.Command, rest []string) (entry map[string]any, err error) {
	switch {
	case (o.file == "") == (len(rest) == 0):
		return nil, usage(errors.New("write the name of a preset, such as lost-answer, or -f with a file"))
	case o.file != "":
		entry, err = readFault(cmd.InOrStdin(), o.file)
	default:
		preset := faults.PresetNamed(rest[0])
		if preset == nil {
			return nil, usage(fmt.Errorf("there is no preset %q: write one of %s, or -f with a file", rest[0], strings.Join(presetNames(), ", ")))
		}
		var text []byte
		if text, err = json.Marshal(preset.Fault); err == nil {
			err = json.Unmarshal(text, &entry)
		}
	}
	if err != nil {
		return nil, err
	}
	if entry["when"] == nil {
		entry["when"] = map[string]any{}
	}
	if when, is := entry["when"].(map[string]any); is { // the API refuses anything else
		for flag, value := range map[string]any{"reference": o.reference, "msisdn": o.msisdn, "percent": o.percent, "first": o.first} {
			if cmd.Flags().Changed(flag) {
				when[flag] = value
			}
		}
	}
	if entry["for"] == nil || cmd.Flags().Changed("for") {
		entry["for"] = o.lasts.String()
	}
	return entry, nil
}

func presetNames() (names []string) {
	for _, preset := range faults.Presets() {
		names = append(names, preset.Name)
	}
	return names
}

// readFault reads an entry of spec.faults from a file, or from in.
func readFault(in io.Reader, file string) (entry map[string]any, err error) {
	text, err := readFileOrInput(file, in)
	if err != nil {
		return nil, usage(err)
	}
	if err := yaml.Unmarshal(text, &entry); err != nil {
		return nil, usage(fmt.Errorf("%s is not one entry of spec.faults: %w", file, err))
	}
	if name, is := entry["name"].(string); !is || name == "" {
		return nil, usage(fmt.Errorf("%s has no name: write one entry of spec.faults, with its name", file))
	}
	return entry, nil
}

func (p *program) faultsOffCommand() *cobra.Command {
	all := false
	var o output
	cmd := &cobra.Command{
		Use: "off", Short: "Remove a fault that was set, or all of them",
		Example: "  " + p.called("faults off", "lost-answer") + "\n  " + p.called("faults off", "--all"),
	}
	t := p.target(cmd, argument{name: "FAULT", complete: completeSetFaults})
	cmd.Flags().BoolVar(&all, "all", false, "remove all that were set")
	o.add(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := o.check(); err != nil {
			return err
		}
		return t.withAPI(cmd, args, func(ctx context.Context, api *sandboxapi.Client, _ *sandbox, rest []string) error {
			if all == (len(rest) > 0) {
				return usage(errors.New("write the name of a fault, or --all"))
			}
			name := ""
			if !all {
				name = rest[0]
			}
			if err := api.RemoveFaults(ctx, name); err != nil {
				return err
			}
			return o.print(cmd.OutOrStdout(), object{"off": text(name), "all": all}, rest, func(out io.Writer) {
				Fprintf(out, "%s is off.\n", cmp.Or(name, "Every fault that was set"))
			})
		})
	}
	return cmd
}

func completeSetFaults(ctx context.Context, s *sandbox, _ string) (names []string) {
	api, err := s.connect(ctx)
	if err != nil {
		return nil
	}
	found, _ := api.Faults(ctx)
	for i := range found {
		if found[i].Source == sourceAPI {
			names = append(names, described(found[i].Name, found[i].Effect))
		}
	}
	return names
}
