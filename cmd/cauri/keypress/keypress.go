// Package keypress lets a command react to single keys, without Enter.
package keypress

import (
	"context"
	"io"
	"os"
	"sync"

	"golang.org/x/term"
)

// On calls press for each key that the user presses, until ctx ends. ok is false, and On does nothing, if in is not a
// terminal or this process is not in the terminal's foreground. Output stays readable in the meantime, and Ctrl-C
// works. restore resets the terminal to its former mode. On calls it when ctx ends; the caller calls it before it
// exits.
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
	context.AfterFunc(ctx, restore) // since a second Ctrl-C ends the process at once
	go func() {
		defer restore() // also when press panics
		for key := make([]byte, 1); ctx.Err() == nil; {
			if n, err := file.Read(key); n == 0 || err != nil {
				return
			}
			press(key[0])
		}
	}()
	return restore, true
}
