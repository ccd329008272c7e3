package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/cauri-dev/cauri/cmd/cauri/cli"
)

// update is set by `make generate`.
var update = flag.Bool("update", false, "write docs/reference/commands")

const pagesFolder = "../../docs/reference/commands"

// TestCommandPages compares the pages of the commands with the commands. It is a test because no other program can import them.
func TestCommandPages(t *testing.T) {
	for _, variable := range os.Environ() { // the defaults of the flags are those of the program
		if name, _, _ := strings.Cut(variable, "="); strings.HasPrefix(name, "CAURI_") {
			t.Setenv(name, "")
		}
	}
	want := commandPages(newRootCommand(false), newRootCommand(true))
	if *update {
		if err := os.RemoveAll(pagesFolder); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(pagesFolder, 0o755); err != nil {
			t.Fatal(err)
		}
		for name, text := range want {
			if err := os.WriteFile(filepath.Join(pagesFolder, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	got := map[string]string{}
	files, err := filepath.Glob(pagesFolder + "/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		got[filepath.Base(file)] = string(text)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("docs/reference/commands is not up to date: run `make generate` (-want +got):\n%s", diff)
	}
}

// TestExamplesOfCommands checks that the examples are of their command, and that it takes their flags and arguments.
func TestExamplesOfCommands(t *testing.T) {
	for called, plugin := range map[string]bool{"cauri ": false, "kubectl cauri ": true} {
		var check func(*cobra.Command)
		check = func(command *cobra.Command) {
			for _, below := range command.Commands() {
				check(below)
			}
			for line := range strings.Lines(command.Example) {
				words, is := strings.CutPrefix(strings.TrimSpace(line), called)
				if !is {
					continue
				}
				words = strings.FieldsFunc(words, func(r rune) bool { return strings.ContainsRune("|<>;#", r) })[0] // the rest is the shell's
				found, rest, err := newRootCommand(plugin).Find(strings.Fields(words))
				if err == nil {
					err = found.ParseFlags(rest)
				}
				if err == nil {
					err = found.ValidateArgs(found.Flags().Args())
				}
				if err != nil || command.HasParent() && found.CommandPath() != command.CommandPath() {
					t.Errorf("the example of %q, %s: it is of %q, %v", command.CommandPath(), line, found.CommandPath(), err)
				}
			}
		}
		check(newRootCommand(plugin))
	}
}

const pagesHead = "<!-- Written by `make generate` from cmd/cauri. Edit that. -->\n\n"

// commandPages are the pages by their file names. plugin has the commands as kubectl has them.
func commandPages(root, plugin *cobra.Command) map[string]string {
	pages := map[string]string{}
	index := pagesHead + "# Commands\n\n[The command line](../../commands.md) is an introduction. `cauri COMMAND --help` says the same as these pages.\n"
	for _, group := range root.Groups() {
		index += "\n## " + strings.TrimSuffix(group.Title, ":") + "\n\n| command | |\n| --- | --- |\n"
		index += commandRows(root, plugin, group.ID, pages)
	}
	index += "\n## Other\n\n| command | |\n| --- | --- |\n" + commandRows(root, plugin, "", pages)
	index += "\n## Exit codes\n\n| code | |\n| --- | --- |\n"
	for code, meaning := range cli.ExitCodes {
		index += fmt.Sprintf("| %d | %s |\n", code, meaning)
	}
	index += "\n## Flags of all commands\n\n" + flagRows(root.PersistentFlags())
	pages["README.md"] = index
	return pages
}

// commandRows are the rows of a group, and of the commands below its commands. It adds their pages.
func commandRows(parent, plugin *cobra.Command, group string, pages map[string]string) (rows string) {
	for _, command := range parent.Commands() {
		if command.GroupID != group || command.Hidden || command.Name() == "help" || command.Name() == "completion" {
			continue
		}
		name := strings.ReplaceAll(strings.TrimPrefix(command.CommandPath(), "cauri "), " ", "-") + ".md"
		rows += fmt.Sprintf("| [`%s`](%s) | %s |\n", command.CommandPath(), name, command.Short)
		same, _, err := plugin.Find(strings.Fields(command.CommandPath())[1:])
		if err != nil || same.Name() != command.Name() {
			same = nil
		}
		pages[name] = commandPage(command, same)
		rows += commandRows(command, plugin, "", pages)
	}
	return rows
}

// commandPage is the page of a command. plugin is the same command of the plugin, nil if it has none.
func commandPage(command, plugin *cobra.Command) string {
	text := command.Long
	if text == "" {
		text = command.Short + "."
	}
	page := pagesHead + "# " + command.CommandPath() + "\n\n" + text + "\n"
	if command.Runnable() {
		page += "\n```text\n" + command.UseLine() + "\n"
		if plugin != nil {
			page += plugin.UseLine() + "\n"
		}
		page += "```\n"
	}
	if command.Example != "" {
		page += "\n```sh\n" + strings.ReplaceAll(strings.TrimPrefix(command.Example, "  "), "\n  ", "\n") + "\n```\n"
	}
	if command.HasSubCommands() {
		page += "\n"
		for _, sub := range command.Commands() {
			page += fmt.Sprintf("- [`%s`](%s-%s.md): %s\n", sub.CommandPath(), command.Name(), sub.Name(), sub.Short)
		}
	}
	if flags := command.LocalNonPersistentFlags(); flags.HasAvailableFlags() {
		page += "\n" + flagRows(flags)
	}
	return page
}

func flagRows(flags *pflag.FlagSet) string {
	rows := "| flag | default | |\n| --- | --- | --- |\n"
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		name := "`--" + f.Name + "`"
		if f.Shorthand != "" {
			name += ", `-" + f.Shorthand + "`"
		}
		value := strings.Trim(f.DefValue, "[]")
		if value != "" {
			value = "`" + value + "`"
		}
		rows += fmt.Sprintf("| %s | %s | %s |\n", name, value, strings.ReplaceAll(f.Usage, "|", "\\|"))
	})
	return rows
}

// The examples of the first help are commands that there are.
func TestFirstHelpHasExamples(t *testing.T) {
	for _, plugin := range []bool{false, true} {
		root := newRootCommand(plugin)
		if lines := strings.Count(root.Example, "\n") + 1; lines < 3 {
			t.Errorf("the help has %d examples", lines)
		}
		for line := range strings.Lines(root.Example) {
			line = strings.TrimPrefix(strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "kubectl ")), "cauri ")
			line = strings.TrimPrefix(line, "-n team-payments ")
			name := strings.Fields(line)[0]
			if found, _, err := root.Find([]string{name}); err != nil || found == root {
				t.Errorf("there is no command %s: %v", name, err)
			}
		}
	}
}
