package cli

import (
	"errors"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/cauri-dev/cauri/cmd/cauri/kube"
)

func (p *program) useCommand() *cobra.Command {
	var none bool
	var o output
	t := &target{plugin: p.Plugin, folder: p.Folder, choices: p.choices()}
	called := t.program("use")
	cmd := &cobra.Command{
		Use:   "use [NAME]",
		Short: "Choose the sandbox of a cluster that commands use where nothing else names one",
		Long: `Choose the sandbox of a cluster that commands use where nothing else names one, like
kubectl config set-context --current. Without NAME, show it.

NAME is the name of a sandbox, or namespace/name. Each context of the kubeconfig has
its own choice. The choice is kept in use.json in the folder cauri of your
configuration (~/.config), for your user alone.

What names a sandbox, the first that there is: the NAME of a command or its flags, the
variables CAURI_SANDBOX and CAURI_URI, CAURI_ENV_FILE, the file .env.cauri of the
folder or above it, this choice, and the only sandbox of the namespace. The file comes
before the choice because it belongs to the project in whose folder you work, and the
choice is for all folders. kubectl cauri does not look at files and CAURI_URI: it is
always about a cluster. With -n, a choice in another namespace does not count.`,
		Example: "  " + called + " checkout\n  " + called + " team-payments/checkout\n  " + called + " --none",
		Args:    checkArguments([]argument{{name: "NAME"}}),
	}
	t.cmd = cmd
	t.kube.AddSelection(cmd.Flags())
	cmd.Flags().BoolVar(&none, "none", false, "choose none any more")
	o.add(cmd)
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return t.completeSandbox(cmd, args, typed)
	}
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		if err := o.check(); err != nil {
			return err
		}
		if none && len(args) > 0 {
			return usage(errors.New("NAME chooses a sandbox and --none chooses none: write one of them"))
		}
		cluster, err := t.kube.Open()
		if err != nil {
			return usage(err)
		}
		switch {
		case none:
			if err := t.choices.set(cluster, ""); err != nil {
				return err
			}
			return t.printChoice(o, cluster, "", Sprintf("No sandbox is chosen %s.\n", inContext(cluster)))
		case len(args) == 0:
			return t.showChoice(o, cluster)
		}
		return t.chooseSandbox(o, cluster, args[0])
	}
	return cmd
}

// inContext returns the part of a message that names the context of a choice.
func inContext(cluster *kube.Cluster) string {
	if cluster.Context == "" {
		return "in the cluster " + Printable(cluster.Host())
	}
	return "in the context " + Printable(cluster.Context)
}

func (t *target) chooseSandbox(o output, cluster *kube.Cluster, name string) error {
	key, err := t.key(cluster, name)
	if err != nil {
		return err
	}
	if _, err := cluster.Sandbox(t.cmd.Context(), key); err != nil {
		return err
	}
	if err := t.choices.set(cluster, key.String()); err != nil {
		return err
	}
	said := Sprintf("Commands use the sandbox %s %s. `%s` ends that.\n", key, inContext(cluster), t.program("use --none"))
	err = t.printChoice(o, cluster, key.String(), said)
	t.sayWhatComesBefore()
	return err
}

// showChoice prints the choice on standard output, and messages about it on standard error.
func (t *target) showChoice(o output, cluster *kube.Cluster) error {
	if _, err := t.choices.read(); err != nil {
		return err
	}
	name := t.choices.of(cluster)
	said := Lines("")
	if name != "" {
		said = Sprintf("%s\n", name)
	} else {
		Fprintf(t.cmd.ErrOrStderr(), "No sandbox is chosen %s: `%s NAME` chooses one.\n", inContext(cluster), t.program("use"))
	}
	err := t.printChoice(o, cluster, name, said)
	t.sayWhatComesBefore()
	return err
}

// choiceOf is the choice for a cluster in output for programs.
type choiceOf struct {
	Sandbox *string `json:"sandbox"` // null: none
	Context string  `json:"context,omitempty"`
	Cluster string  `json:"cluster"`
	Before  string  `json:"before,omitempty"` // variable or file that takes precedence
}

// printChoice prints the choice for a cluster, and for people what a command says about it.
func (t *target) printChoice(o output, cluster *kube.Cluster, sandbox string, said Lines) error {
	var names []string
	if sandbox != "" {
		names = append(names, sandbox)
	}
	choice := choiceOf{Sandbox: text(sandbox), Context: cluster.Context, Cluster: cluster.Host(), Before: t.before()}
	return o.print(t.cmd.OutOrStdout(), choice, names, func(out io.Writer) { Fprintf(out, "%s", said) })
}

// sayWhatComesBefore prints a message if a variable or a file takes precedence over the choice.
func (t *target) sayWhatComesBefore() {
	if before := t.before(); before != "" {
		Fprintf(t.cmd.ErrOrStderr(), "Here commands use another one: %s comes before it.\n", before)
	}
}

// before returns the variable or the file that takes precedence over a choice; "" for none. It ignores flags, because
// later commands have other flags.
func (t *target) before() string {
	if os.Getenv(variableSandbox) != "" {
		return variableSandbox
	}
	if t.plugin {
		return ""
	}
	for _, variable := range []string{variableURI, variableEnvFile} {
		if os.Getenv(variable) != "" {
			return variable
		}
	}
	return Printable(nearestEnvFile(t.folder))
}
