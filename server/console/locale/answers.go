package locale

import (
	"regexp"
	"strings"
	"sync"

	"github.com/cauri-dev/cauri/server/english"
)

// answer is a message of the API in English, and its translation. A %s in the message stands for a value, or for another
// message. A %m stands for another message whose translation is known.
type answer struct{ english, own string }

// form is the compiled form of an answer.
type form struct {
	of    *regexp.Regexp
	own   english.Text
	outer bool // whether the first argument is a message
}

// formsOf returns a function that compiles answers when it is first called.
func formsOf(all []answer) func() []form {
	return sync.OnceValue(func() (forms []form) {
		for _, a := range all {
			of := strings.NewReplacer("%s", "(.+)", "%m", "(.+)").Replace(regexp.QuoteMeta(a.english))
			forms = append(forms, form{
				regexp.MustCompile("^(?s:" + of + ")$"), english.Text(spaced.Replace(a.own)), strings.HasPrefix(a.english, "%m"),
			})
		}
		return forms
	})
}

// Heard returns a message of the API, which speaks English, in this language. For several messages, "; " stands between
// them. If the language does not have the message, Heard returns it unchanged, and false.
func (l *Locale) Heard(message string) (own string, known bool) {
	parts := strings.Split(message, "; ")
	for i, part := range parts {
		if parts[i], known = l.heard(part); !known { // the signs are part of the message
			return l.heard(message)
		}
	}
	return strings.Join(parts, l.between), true
}

// Joined returns sentences without a period as one, with the sign of the language between them.
func (l *Locale) Joined(sentences []string) string { return strings.Join(sentences, l.between) }

// listing matches a list of values, such as "MTN, Orange or Moov".
var listing = regexp.MustCompile(`^([^ ]+(?:, [^ ]+)*) or ([^ ]+)$`)

func (l *Locale) heard(message string) (own string, known bool) {
	if l.answers == nil {
		return message, true
	}
	for _, f := range l.answers() {
		found := f.of.FindStringSubmatch(message)
		if found == nil {
			continue
		}
		var args []any
		for _, arg := range found[1:] {
			own, known = l.heard(arg)
			if f.outer && len(args) == 0 && !known {
				return message, false
			}
			args = append(args, listing.ReplaceAllString(own, "${1} "+l.or+" ${2}"))
		}
		return f.own.With(args[:verbs(f.own)]...), true
	}
	return message, false
}
