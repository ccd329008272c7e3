package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// checkArguments returns a check of the number of arguments. Its error has the expected arguments.
func checkArguments(arguments []argument) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > len(arguments) {
			extra := args[len(arguments)]
			return usage(fmt.Errorf("%q is one argument too many: write `%s`", extra, inPlaceOf(cmd, extra)))
		}
		for _, a := range arguments[len(args):] {
			if a.required {
				return usage(fmt.Errorf("%s is missing: write `%s`", a.name, strings.TrimSuffix(cmd.UseLine(), " [flags]")))
			}
		}
		return nil
	}
}

func usageOf(arguments []argument) (text string) {
	for _, a := range arguments {
		if a.required {
			text += " " + a.name
		} else {
			text += " [" + a.name + "]"
		}
	}
	return text
}

// NoArguments returns an error if a command has arguments.
func NoArguments(cmd *cobra.Command, args []string) error { return checkArguments(nil)(cmd, args) }
