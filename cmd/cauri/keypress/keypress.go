// Package keypress lets a command react to single keys, without Enter.
package keypress

import (
	"context"
	"io"
	"os"
	"sync"

	"golang.org/x/term"
)

// On calls the function press for each key that the user presses, until ctx ends. Line breaks in the output and Ctrl-C
// still work. If in is not a terminal, or this process is not in the terminal's foreground, On does nothing and ok is
// false. restore resets the terminal to its former mode. On calls it when ctx ends. The caller must also call it before
// the process exits.
func On(ctx context.Context, in io.Reader, press func(key byte)) (restore func(), ok bool) {
	file, isFile := in.(*os.File)
	if !isFile || !term.IsTerminal(int(file.Fd())) || !foreground(file) {
		return func() {}, false
	}
	terminal := int(file.Fd()) // read once, since the caller may close the file during restore
	before, err := term.GetState(terminal)
	if err != nil || giveKeys(file) != nil {
		return func() {}, false
	}
	restore = sync.OnceFunc(func() { _ = term.Restore(terminal, before) })
	context.AfterFunc(ctx, restore) // restored now, because a second Ctrl-C ends the process at once
	go func() {
		defer restore() // also after a panic of press
		for key := make([]byte, 1); ctx.Err() == nil; {
			if n, err := file.Read(key); n == 0 || err != nil {
				return
			}
			press(key[0])
		}
	}()
	return restore, true
}
