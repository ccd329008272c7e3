package cli

import "github.com/spf13/cobra"

// target declares the flags that select the sandbox of a command. arguments are the arguments after the sandbox's name.
func (p *program) target(cmd *cobra.Command, arguments ...argument) *target {
	t := &target{plugin: p.Plugin, cmd: cmd, arguments: arguments, folder: p.Folder, choices: p.choices()}
	flags := cmd.Flags()
	t.kube.Add(flags)
	flags.BoolVar(&t.forward, "port-forward", false, "reach the API by a port-forward, also where its URL may be reachable")
	if !p.Plugin {
		flags.StringVar(&t.sandbox, "sandbox", "", "sandbox in a cluster, namespace/name or name; replaces --url, --api-key and --env-file")
		flags.StringVar(&t.envFile, "env-file", "", "file with CAURI_URI, CAURI_API_KEY and CAURI_WEBHOOK_SECRET, as cauri dev --env-file writes it")
		flags.StringVar(&t.uri, "url", "", "URL of the sandbox (CAURI_URI)")
		flags.StringVar(&t.apiKey, "api-key", "", "API key of the sandbox; prefer CAURI_API_KEY, which ps does not show")
		_ = cmd.RegisterFlagCompletionFunc("sandbox", t.completeSandbox) // fails only for an unknown flag
	}
	if p.Plugin {
		cmd.Use += " [NAME]"
	}
	cmd.Use += usageOf(arguments)
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		_, rest := t.split(args)
		return checkArguments(arguments)(cmd, rest)
	}
	cmd.ValidArgsFunction = t.complete
	return t
}
