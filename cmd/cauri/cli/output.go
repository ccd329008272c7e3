package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"
)

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
	choose(cmd, "output", formatJSON, formatYAML, formatName)
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
		_, err = io.WriteString(out, escaped(text, "\n", utf16Escape))
		return err
	case formatYAML:
		text, err := encoded(value, "  ")
		if err != nil {
			return err
		}
		safe := escaped(text, "\n", escape) // YAML allows escapes for all characters
		if safe == text {
			inYAML, err := yaml.JSONToYAML([]byte(text))
			if err != nil {
				return err
			}
			safe = string(inYAML)
		}
		_, err = io.WriteString(out, safe)
		return err
	case formatName:
		for _, name := range names {
			fmt.Fprintln(out, Printable(name))
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

// escaped escapes the characters of a text that are unsafe on a terminal, except those in keep. It replaces invalid
// UTF-8.
func escaped(text, keep string, escape func(rune) string) string {
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
	_, err = io.WriteString(out, escaped(text, "\n", utf16Escape))
	return err
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

func same(text string) string { return text }

// sayOn returns a function that prints messages for the user, apart from the command's output.
func sayOn(out io.Writer) func(format string, args ...any) {
	return func(format string, args ...any) { fmt.Fprintln(out, Printable(fmt.Sprintf(format, args...))) }
}

// choose registers the completion of a flag with fixed values.
func choose(cmd *cobra.Command, flag string, values ...string) {
	// An error is possible only for an unknown flag.
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}
