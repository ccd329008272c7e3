package cli

import (
	"context"
	"net/http"
	"time"
)

// program creates the commands.
type program struct {
	Options
	now   func() time.Time
	poll  time.Duration // polling interval for changes
	await time.Duration // polling interval for the object that a command waits for
}

// Options are the settings of the commands.
type Options struct {
	// Plugin is whether the program was called as a plugin of kubectl. Then the first argument of a command may be the
	// name of its sandbox.
	Plugin  bool
	Version string
	// Serve serves HTTP at an address until ctx ends. The parameter name is for messages.
	Serve func(ctx context.Context, name, address string, handler http.Handler) error
	// Browse opens a URL in a browser, and reports whether that worked.
	Browse func(ctx context.Context, url string) bool
	Folder string // first folder of the search for .env.cauri; empty: the working folder
	// Config is the folder of the file of `cauri use`; empty: the folder cauri in the user's configuration folder.
	Config string
}

// called returns the command line of a command of this program, with the name of a sandbox, for examples and messages.
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
