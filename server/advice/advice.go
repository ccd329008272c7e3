// Package advice says why something does not work, and what to do. The console, the command line, the API and the
// status of resources take it from here, so that they all say the same.
package advice

import (
	"strings"

	"github.com/cauri-dev/cauri/server/english"
)

// Code names a cause. Programs compare it, so it stays as it is.
type Code string

// Advice is a cause and what to do about it.
type Advice struct {
	Code  Code
	Title english.Phrase // the cause in two or three words
	What  english.Phrase // the cause as a sentence, without its full stop
	Do    english.Phrase // what to do, in sentences
	Steps []Step
}

// Step is something that helps: a command, the tool of `cauri mcp` that does the same, or a change. At least one is set.
type Step struct {
	Purpose string // what it does, in a sentence
	Before  string // variables before the command; may be empty
	Command string // of the program cauri
	Rest    string // arguments and flags
	Alone   bool   // the command needs no sandbox

	Tool      string         // of `cauri mcp`; empty: none does the same
	Arguments map[string]any // of the tool
	Change    string         // in the code or the configuration of the shop, as a sentence; has no command
}

// String returns the step as a user types it who has named the sandbox before.
func (s *Step) String() string {
	text := "cauri " + s.Command
	if s.Before != "" {
		text = s.Before + " " + text
	}
	if s.Rest != "" {
		text += " " + s.Rest
	}
	return text
}

// set fills in the cause.
func (a *Advice) set(code Code, title english.Text, what english.Phrase, do english.Text, args ...any) {
	a.Code, a.Title, a.What, a.Do = code, english.Say(title), what, english.Say(do, args...)
}

// Sentences returns the cause and what to do, as sentences.
func (a *Advice) Sentences() (what, do string) {
	what = a.What.String()
	if !strings.HasSuffix(what, ".") && !strings.HasSuffix(what, "?") {
		what += "."
	}
	return what, a.Do.String()
}
