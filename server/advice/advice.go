// Package advice says why something does not work, and what to do. The console, the command line, the API and the
// status of resources take it from here, so that they all say the same.
package advice

import "github.com/cauri-dev/cauri/server/english"

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

// Step is a command that helps.
type Step struct {
	Purpose string // what it does, in a sentence
	Before  string // variables before the command; may be empty
	Command string // of the program cauri
	Rest    string // arguments and flags
	Alone   bool   // the command needs no sandbox
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
