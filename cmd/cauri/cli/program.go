package cli

import (
	"context"
	"net/http"
	"time"
)

// program makes the commands.
type program struct {
	Options
	now   func() time.Time
	poll  time.Duration // between two looks at what changes
	await time.Duration // between two looks at what a command waits for
}

// Options are what the program tells its commands.
type Options struct {
	// Plugin says that the program was called as a plugin of kubectl: the first argument of a command may be the name
	// of its sandbox.
	Plugin  bool
	Version string
	// Serve serves HTTP at an address until ctx ends. The name is for messages.
	Serve  func(ctx context.Context, name, address string, handler http.Handler) error
	Folder string // in which a file with the sandbox is looked for; empty: the working folder
	// Config is the folder of what `cauri use` remembers; empty: cauri in the user's folder for configuration.
	Config string
}

// called returns how the user calls a command of this program, for examples and messages. The sandbox's name is in it.
func (p *program) called(command, rest string) string {
	text := "cauri " + command
	if p.Plugin {
		text = "kubectl cauri " + command + " checkout"
	}
	if rest != "" {
		text += " " + rest
	}
	return text
}
