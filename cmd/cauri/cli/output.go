package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"

	"github.com/spf13/cobra"
	yamlv2 "go.yaml.in/yaml/v2"
	"sigs.k8s.io/yaml"
)

// Package yaml breaks long strings into lines otherwise.
func init() { yamlv2.FutureLineWrap() }

// output is the value of the flag --output.
type output struct{ format string }

// The formats of --output. Without it, commands print for people.
const (
	formatJSON = "json"
	formatYAML = "yaml"
	formatName = "name"
)

func (o *output) add(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&o.format, "output", "o", "", "json, yaml or name: for programs; name prints ids or numbers only")
	completeFlag(cmd, "output", formatJSON, formatYAML, formatName)
}

// lineOutput is the value of the flag --output of a command that prints what happens.
type lineOutput struct{ format string }

func (o *lineOutput) add(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&o.format, "output", "o", "", "json prints one JSON object a line")
	completeFlag(cmd, "output", formatJSON)
}

func (o *lineOutput) json() bool { return o.format == formatJSON }

func (o *lineOutput) check() error {
	if o.format != "" && !o.json() {
		return usage(fmt.Errorf("--output=%s: write json, or leave it out for lines to read", o.format))
	}
	return nil
}

// Output is the flag --output of a command of another package.
type Output struct{ output }

// Add declares the flag.
func (o *Output) Add(cmd *cobra.Command) { o.add(cmd) }

// Check returns an error for an unknown format.
func (o *Output) Check() error { return o.check() }

// People reports whether the output is for people.
func (o *Output) People() bool { return o.people() }

// Print prints a value: names are its ids, and table prints it for people.
func (o *Output) Print(out io.Writer, value any, names []string, table func(io.Writer)) error {
	return o.print(out, value, names, table)
}

// PrintList prints a list in the form of the API; see [Output.Print].
func PrintList[T any](o *Output, out io.Writer, all []T, names []string, table func(io.Writer)) error {
	return o.print(out, whole(all), names, table)
}

// people reports whether the output is for people.
func (o *output) people() bool { return o.format == "" }

func (o *output) check() error {
	switch o.format {
	case "", formatJSON, formatYAML, formatName:
		return nil
	}
	return usage(fmt.Errorf("--output=%s: write json, yaml or name", o.format))
}

// print prints a value in the format of the flag. The parameter names has the ids in the value. The function table
// prints the value for people.
func (o *output) print(out io.Writer, value any, names []string, table func(io.Writer)) error {
	switch o.format {
	case formatJSON:
		text, err := encoded(value, "  ")
		if err != nil {
			return err
		}
		return writeBytes(out, escaped(text, "\n", utf16Escape))
	case formatYAML:
		text, err := encoded(value, "  ")
		if err != nil {
			return err
		}
		safe := escaped(text, "\n", escape)                // YAML allows escapes for all characters
		if safe == text && !strings.Contains(text, `\n`) { // a string with a line break would be more than one line
			inYAML, err := yaml.JSONToYAML([]byte(text))
			if err != nil {
				return err
			}
			safe = string(inYAML)
		}
		return writeBytes(out, safe)
	case formatName:
		for _, name := range names {
			Fprintf(out, "%s\n", name)
		}
		return nil
	}
	table(out)
	return nil
}

// Printable escapes control characters and Unicode format characters, such as those that change the direction of text.
// The result is one line and safe on a terminal, even if the text comes from an unknown sender.
func Printable(text string) string { return escaped(text, "", escape) }

// PrintableLines is [Printable] for a text that may have more than one line.
func PrintableLines(text string) string { return escaped(text, "\n\t", escape) }

// Lines is a text that may have more than one line, because this program wrote it: [Sprintf] returns it.
type Lines string

// Sprintf returns a text for people. It is safe on a terminal and in the log of a pipeline, whoever wrote the arguments:
// each one becomes one line, see [Printable]. Only the format and arguments of the type [Lines] have line breaks.
func Sprintf(format string, args ...any) Lines {
	for i := range args {
		args[i] = printable(args[i])
	}
	return Lines(fmt.Sprintf(format, args...))
}

// Fprintf prints the text of [Sprintf]. All commands print by it, or in the formats for programs.
func Fprintf(out io.Writer, format string, args ...any) {
	_ = writeBytes(out, string(Sprintf(format, args...))) // nobody reads the output any more
}

// writeBytes writes a text as it is.
func writeBytes(out io.Writer, text string) error {
	_, err := io.WriteString(out, text)
	return err
}

// printable returns an argument of [Sprintf] that is safe to print.
func printable(arg any) any {
	switch arg := arg.(type) {
	case Lines:
		return string(arg)
	case error:
		return Printable(Message(arg))
	case fmt.Stringer:
		return Printable(arg.String())
	}
	switch reflect.ValueOf(arg).Kind() {
	case reflect.Bool, reflect.Int, reflect.Int32, reflect.Int64, reflect.Uint16, reflect.Float64:
		return arg
	}
	return Printable(fmt.Sprint(arg))
}

// Complaint returns the text of an error for people. Each line begins with the name of the program, so that nothing that
// somebody else wrote begins a line.
func Complaint(err error) (text Lines) {
	for line := range strings.SplitSeq(Message(err), "\n") {
		text += Sprintf("\ncauri: %s", line)
	}
	return text[1:]
}

// command matches what makes a line a command of GitHub Actions, Azure Pipelines or TeamCity: two colons at its beginning,
// or ##[ anywhere.
var command = regexp.MustCompile(`(?m)^[\t \p{Z}]*::|##[A-Za-z]*\[`)

// escaped escapes the characters of a text that are unsafe on a terminal, except those in keep, and what would be a
// command in the log of a pipeline. It replaces invalid UTF-8.
func escaped(text, keep string, escape func(rune) string) string {
	text = command.ReplaceAllStringFunc(text, func(found string) string {
		if before, is := strings.CutSuffix(found, "["); is {
			return before + escape('[')
		}
		return strings.TrimSuffix(found, "::") + escape(':') + ":"
	})
	var out strings.Builder
	for _, r := range text {
		if !unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) || strings.ContainsRune(keep, r) {
			out.WriteRune(r)
		} else {
			out.WriteString(escape(r))
		}
	}
	return out.String()
}

// escape returns the escape sequence of a character in YAML and in Go.
func escape(r rune) string {
	if r > math.MaxUint16 {
		return fmt.Sprintf(`\U%08x`, r)
	}
	return fmt.Sprintf(`\u%04x`, r)
}

// utf16Escape returns the escape sequence of a character in JSON.
func utf16Escape(r rune) (text string) {
	for _, unit := range utf16.AppendRune(nil, r) {
		text += fmt.Sprintf(`\u%04x`, unit)
	}
	return text
}

// encoded returns a value as JSON, with a line break at its end.
func encoded(value any, indent string) (string, error) {
	var out strings.Builder
	encoder := json.NewEncoder(&out)
	encoder.SetIndent("", indent)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return out.String(), err
}

// printJSON prints a value as JSON on one line.
func printJSON(out io.Writer, value any) error {
	text, err := encoded(value, "")
	if err != nil {
		return err
	}
	return writeBytes(out, escaped(text, "\n", utf16Escape))
}

func money(amount int64, currency string) string {
	return strconv.FormatInt(amount, 10) + " " + currency
}

func optional[T any](value *T, text func(T) string) string {
	if value == nil {
		return ""
	}
	return text(*value)
}

func identity(text string) string { return text }

// printerTo returns a function that prints messages for the user, apart from the command's output.
func printerTo(out io.Writer) func(format string, args ...any) {
	return func(format string, args ...any) { Fprintf(out, format+"\n", args...) }
}

// NoVariable is the annotation of a flag that no environment variable sets, because the variable is for other commands.
const NoVariable = "cauri_no_variable"

// withoutVariable makes flags that no environment variable sets.
func withoutVariable(cmd *cobra.Command, flags ...string) {
	for _, flag := range flags {
		_ = cmd.Flags().SetAnnotation(flag, NoVariable, nil) // fails only for an unknown flag
	}
}

// completeFlag registers the completion of a flag with fixed values.
func completeFlag(cmd *cobra.Command, flag string, values ...string) {
	// An error is possible only for an unknown flag.
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}

// quietForPrograms makes a command print no notices if its output is in JSON or YAML. Standard error has its error only.
func quietForPrograms(cmd *cobra.Command) {
	for _, one := range cmd.Commands() {
		quietForPrograms(one)
	}
	run := cmd.RunE
	if run == nil {
		return
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if format := cmd.Flag("output"); format != nil && (format.Value.String() == formatJSON || format.Value.String() == formatYAML) {
			cmd.SetErr(io.Discard)
		}
		return run(cmd, args)
	}
}
