package cli

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// wholeKinds are the types of pflag for whole numbers.
var wholeKinds = []string{"int", "int8", "int16", "int32", "int64", "uint", "uint8", "uint16", "uint32", "uint64"}

var decimalNumber = regexp.MustCompile(`^([+-]?)([0-9]+)((?:\.[0-9]+)?)$`)

// DecimalFlags makes the flags of a command and of its subcommands read numbers in decimal only. Package pflag reads 0100 as
// an octal number, and it takes 0x10, 1_000 and NaN.
func DecimalFlags(cmd *cobra.Command) *cobra.Command {
	for _, flags := range []*pflag.FlagSet{cmd.Flags(), cmd.PersistentFlags()} {
		flags.VisitAll(func(flag *pflag.Flag) {
			if whole := slices.Contains(wholeKinds, flag.Value.Type()); whole || strings.HasPrefix(flag.Value.Type(), "float") {
				flag.Value = decimalValue{flag.Value, whole}
			}
		})
	}
	for _, sub := range cmd.Commands() {
		DecimalFlags(sub)
	}
	return cmd
}

// decimalValue is the value of a flag with a number.
type decimalValue struct {
	pflag.Value
	whole bool
}

// Set implements [pflag.Value].
func (d decimalValue) Set(text string) error {
	parts := decimalNumber.FindStringSubmatch(text)
	if parts == nil || d.whole && parts[3] != "" {
		return errors.New("not a decimal number")
	}
	digits := strings.TrimLeft(parts[2], "0")
	if digits == "" {
		digits = "0"
	}
	return d.Value.Set(parts[1] + digits + parts[3])
}
