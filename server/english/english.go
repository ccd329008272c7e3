// Package english has the type of texts that the console also says in other languages.
package english

import (
	"fmt"
	"strings"
)

// Text is a text in English, with a verb of package fmt for each argument. The catalogs of the console have its
// translations, and a test finds those that are missing.
type Text string

// With returns the text with arguments in place of its verbs.
func (t Text) With(args ...any) string {
	if len(args) == 0 {
		return string(t)
	}
	return fmt.Sprintf(string(t), args...)
}

// Plural returns a number with its noun: the parameter one is the singular, and the parameter more is the plural.
func Plural[N int | int32 | int64](n N, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}

// Phrase is a text with its arguments. An argument may be a phrase, or phrases, which commas separate.
type Phrase struct {
	Text Text
	Args []any
}

// Say returns a phrase.
func Say(text Text, args ...any) Phrase { return Phrase{text, args} }

// String returns the phrase in English.
func (p Phrase) String() string { return p.In(func(text Text) Text { return text }) }

// In returns the phrase in the language of a translation.
func (p Phrase) In(translated func(Text) Text) string {
	var args []any
	for _, arg := range p.Args {
		switch own := arg.(type) {
		case Phrase:
			arg = own.In(translated)
		case []Phrase:
			var all []string
			for _, one := range own {
				all = append(all, one.In(translated))
			}
			arg = strings.Join(all, ", ")
		}
		args = append(args, arg)
	}
	return translated(p.Text).With(args...)
}
