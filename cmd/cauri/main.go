// Command cauri is the program of Cauri. Its commands run the controller, the api and the worker, and use sandboxes.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/cauri-dev/cauri/cmd/cauri/cli"
	"github.com/cauri-dev/cauri/server/egress"
)

// commandVariable is the environment variable with the command. It is for containers without arguments, such as the
// service containers of a pipeline.
const commandVariable = "CAURI_COMMAND"

// The file names of the program as a plugin of kubectl. kubectl calls pluginName for a command, and completionName for
// completions.
const (
	pluginName     = "kubectl-cauri"
	completionName = "kubectl_complete-cauri"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	name := strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe")
	root := newRootCommand(name == pluginName || name == completionName)
	switch command := os.Getenv(commandVariable); {
	case name == completionName:
		root.SetArgs(append([]string{cobra.ShellCompRequestCmd}, os.Args[1:]...))
	case command != "" && len(os.Args) == 1 && name != pluginName:
		root.SetArgs(strings.Fields(command))
	}
	if err := root.ExecuteContext(ctx); err != nil {
		err = explained(root, os.Args[1:], err)
		cli.Complain(os.Stderr, os.Args[1:], err)
		os.Exit(cli.ExitCode(err))
	}
}

var unknownCommand = regexp.MustCompile(`^unknown command ("(?:[^"\\]|\\.)*") for "`)

// explained adds a suggestion to the error of a command line with an unknown command. It parses the text, because cobra
// has no type for that error.
func explained(root *cobra.Command, args []string, err error) error {
	parts := unknownCommand.FindStringSubmatch(err.Error())
	if parts == nil {
		return err
	}
	root.SuggestionsMinimumDistance = 2
	name, _ := strconv.Unquote(parts[1]) // cobra quotes the name with strconv
	if serve, _, err := root.Find([]string{serveName, name}); err == nil && serve.Name() == name {
		return cli.Usage(fmt.Errorf("there is no command %s: write `%s`", name, serve.CommandPath()))
	}
	isVerb := slices.Contains(verbs, name)
	if command := withoutVerb(root, name, args); isVerb && command != "" {
		return cli.Usage(fmt.Errorf("there is no command %s: write `%s`", name, command))
	}
	if similar := root.SuggestionsFor(name); len(similar) > 0 && !isVerb {
		return cli.Usage(fmt.Errorf("there is no command %s: is it %s?", name, strings.Join(similar, " or ")))
	}
	return cli.Usage(fmt.Errorf("there is no command %s: `%s --help` lists them", name, root.CommandPath()))
}

// verbs are verbs of kubectl. Commands of this program are nouns.
var verbs = []string{"get", "show", "describe", "ls"}

// withoutVerb returns the command that a user of kubectl means by a verb and a noun, such as get payments; "" for none.
func withoutVerb(root *cobra.Command, verb string, args []string) string {
	for _, noun := range args[slices.Index(args, verb)+1:] {
		if strings.HasPrefix(noun, "-") {
			continue
		}
		if found, _, err := root.Find([]string{noun}); err == nil && found != root {
			return found.CommandPath()
		}
		if similar := root.SuggestionsFor(noun); len(similar) > 0 {
			return root.CommandPath() + " " + similar[0]
		}
	}
	return ""
}

// The groups of the commands that are not in package cli.
const (
	groupMachine = "machine"
	groupService = "service"
)

// newRootCommand returns the root with all commands. For a plugin of kubectl, it has only the commands that use a
// sandbox in a cluster.
func newRootCommand(plugin bool) *cobra.Command {
	var logFormat, logLevel string
	root := &cobra.Command{
		Use:           "cauri",
		Short:         "Mobile-money sandboxes for Kubernetes",
		Long:          rootHelp(plugin),
		Example:       rootExample(plugin),
		Version:       programVersion(),
		SilenceUsage:  true,
		SilenceErrors: true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if err := errors.Join(flagsFromEnvironment(cmd), egress.CheckProxies(os.Getenv)); err != nil {
				return cli.Usage(err)
			}
			return setUpLogging(logFormat, logLevel)
		},
	}
	root.PersistentFlags().StringVar(&logFormat, "log-format", "auto", "text, json, or auto: text on a terminal, json elsewhere")
	root.PersistentFlags().StringVar(&logLevel, "log-level", "info", "debug, info, warn or error")
	root.SetFlagErrorFunc(cli.FlagError)
	root.AddGroup(cli.Groups()...)
	if plugin {
		root.Annotations = map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl cauri"}
	}
	options := cli.Options{Plugin: plugin, Version: programVersion(), Serve: serveAt, Browse: cli.Browse}
	root.AddCommand(cli.Commands(options)...)
	agent := cli.DecimalFlags(newMCPCommand(options))
	agent.GroupID = cli.GroupSandbox
	root.AddCommand(agent)
	root.AddCommand(newVersionCommand())
	if !plugin {
		addGroup(root, groupMachine, "This machine:", newDevCommand(), newTryCommand())
		addGroup(root, groupService, "Run the service, as the chart does:", newServeCommand(), newMigrateCommand(), newBootstrapCommand(),
			newKeysCommand(), newPurgeRetainedCommand())
	}
	return root
}

func addGroup(root *cobra.Command, id, title string, commands ...*cobra.Command) {
	root.AddGroup(&cobra.Group{ID: id, Title: title})
	for _, command := range commands {
		command.GroupID = id
		root.AddCommand(cli.DecimalFlags(command))
	}
}

// rootExample returns the examples of the root command: the start, a first payment, and commands that show its effects.
func rootExample(plugin bool) string {
	if plugin {
		return `  kubectl cauri -n team-payments status checkout
  kubectl cauri -n team-payments pay checkout --amount=1500
  kubectl cauri -n team-payments tail checkout`
	}
	return `  cauri dev --env-file=.env.cauri    # a sandbox on this machine
  cauri pay --amount=1500            # in another terminal, in the same folder
  cauri events                       # what your program was told
  cauri requests                     # what your program asked, and why it was refused`
}

// rootHelp returns the help of the root command: how commands find their sandbox, the variables, and the exit codes.
func rootHelp(plugin bool) string {
	text := `Mobile-money sandboxes for Kubernetes.

`
	if plugin {
		text += `Commands take the name of a sandbox, and -n its namespace:

  kubectl cauri -n team-payments status checkout

Without the name they use the sandbox of CAURI_SANDBOX, or the one that kubectl cauri
use has chosen, or the only one of the namespace, and say which. The first argument is
the name, unless it is an id, the number of a phone, a story, or what rotate replaces.

They read the credentials from the sandbox's Secret, and reach its API at its URL, or
by a port-forward where this machine does not reach that.
`
	} else {
		text += `Commands that use a sandbox find it by --sandbox=namespace/name in a cluster, by
--env-file=FILE of cauri dev, or by CAURI_URI and CAURI_API_KEY. Without any of these
they use the file .env.cauri of the folder or above it, or else the sandbox that cauri
use has chosen, or the only one in the namespace of the kubeconfig's context, and say
which. As a plugin of kubectl (` + pluginName + `), they take the sandbox's name as their
first argument.

Every flag can also be set by an environment variable: --listen-address by
CAURI_LISTEN_ADDRESS. The exceptions are DATABASE_URL for --database-url,
DATABASE_READ_URL for --database-read-url, CAURI_URI for --url,
CAURI_WEBHOOK_SECRET for --secret and CAURI_WEBHOOK_SECRET_FILE for --secret-file.
Without any argument, CAURI_COMMAND names the command, such as dev or "serve api".
`
	}
	text += "\nExit codes:\n"
	for code, meaning := range cli.ExitCodes {
		text += fmt.Sprintf("  %d  %s\n", code, meaning)
	}
	return strings.TrimSuffix(text, "\n")
}
