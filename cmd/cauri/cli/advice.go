package cli

import (
	"os"
	"strings"

	"github.com/cauri-dev/cauri/server/httpapi/wire"
)

// command returns the command line that calls a command for this sandbox, for messages.
func (s *sandbox) command(name, rest string) string {
	words := []string{"cauri", name}
	switch {
	case s.cluster != nil && s.target.plugin:
		words = []string{"kubectl cauri", "-n " + s.key.Namespace, name, s.key.Name}
	case s.cluster != nil:
		words = append(words, "--sandbox="+s.key.String())
	case !s.target.found && s.target.uri == "" && s.target.envFile != os.Getenv(variableEnvFile):
		words = append(words, "--env-file="+s.target.envFile)
	}
	return strings.TrimSpace(strings.Join(append(words, rest), " "))
}

// undelivered reports whether an event has failed attempts and is not acknowledged.
func undelivered(e *wire.EventSummary) bool {
	return e.AttemptCount > 0 && (e.State == eventFailed || e.State == eventQueued)
}

// adviceText returns the text of an advice of the API; "" for none.
func (s *sandbox) adviceText(a *wire.Advice) Lines {
	if a == nil {
		return ""
	}
	text := Sprintf("%s %s", a.Message, a.Action)
	for _, step := range a.Next {
		text += Sprintf("\n%s\n  %s", step.Because, s.typed(step.Command))
	}
	if a.Page != "" && s.forward == nil {
		text += Sprintf("\nIn the console:\n  %s", a.Page)
	}
	return text
}

// typed returns a command of an advice as the user calls it for this sandbox.
func (s *sandbox) typed(command string) string {
	words, ours := strings.CutPrefix(command, "cauri ")
	if !ours {
		return command // it has variables before it, and needs no sandbox
	}
	name, rest, _ := strings.Cut(words, " ")
	return s.command(name, rest)
}
