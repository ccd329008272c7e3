package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"github.com/spf13/cobra"
	"golang.org/x/term"
	"sigs.k8s.io/yaml"
)

// output is the flag --output of a command.
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

// people says that the output is for people.
func (o *output) people() bool { return o.format == "" }

func (o *output) check() error {
	switch o.format {
	case "", formatJSON, formatYAML, formatName:
		return nil
	}
	return usage(fmt.Errorf("--output=%s: write json, yaml or name", o.format))
}

// print prints a value in the format of the flag. names are its ids, and table prints it for people.
func (o *output) print(out io.Writer, value any, names []string, table func(io.Writer)) error {
	switch o.format {
	case formatJSON:
		encoder := json.NewEncoder(out)
		encoder.SetIndent("", "  ")
		encoder.SetEscapeHTML(false)
		return encoder.Encode(value)
	case formatYAML:
		text, err := yaml.Marshal(value)
		if err != nil {
			return err
		}
		_, err = out.Write(text)
		return err
	case formatName:
		for _, name := range names {
			fmt.Fprintln(out, printable(name))
		}
		return nil
	}
	table(out)
	return nil
}

// table prints rows below their titles.
func table(out io.Writer, titles string, rows [][]string) {
	writer := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(writer, strings.ReplaceAll(titles, " ", "\t"))
	for _, row := range rows {
		for i := range row {
			row[i] = printable(row[i])
			if row[i] == "" {
				row[i] = "-"
			}
		}
		fmt.Fprintln(writer, strings.Join(row, "\t"))
	}
	_ = writer.Flush() // an error of out is seen by who writes to it
}

// printable replaces control characters, so that a text stays on its line and cannot control the terminal: the sender may be unknown, and
// chooses the reference freely.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return unicode.ReplacementChar
		}
		return r
	}, text)
}

// Printable is text without control characters, which would control a terminal.
func Printable(text string) string { return printable(text) }

func money(amount int64, currency string) string {
	return strconv.FormatInt(amount, 10) + " " + currency
}

// clockTime is a time of the API as people of this machine read it.
func clockTime(text string) string {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return text
	}
	return at.Local().Format("2006-01-02 15:04:05")
}

func optional[T any](value *T, text func(T) string) string {
	if value == nil {
		return ""
	}
	return text(*value)
}

func same(text string) string { return text }

// terminal reports whether somebody reads what is written there, and colors are welcome.
func terminal(out io.Writer) bool {
	file, ok := out.(*os.File)
	return ok && term.IsTerminal(int(file.Fd())) && os.Getenv("NO_COLOR") == ""
}
