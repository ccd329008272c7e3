// Package keypress lets a command react to single keys, without Enter.
package keypress

import (
	"context"
	"io"
	"os"
	"sync"

	"golang.org/x/term"
)

// On calls press for each key that is pressed, until ctx ends, if in is a terminal and this process is in its foreground; otherwise ok is
// false. What is printed meanwhile is readable, and Ctrl-C works. The caller calls restore at its end: it makes the terminal what it was,
// and is called already when ctx ends.
func On(ctx context.Context, in io.Reader, press func(key byte)) (restore func(), ok bool) {
	file, isFile := in.(*os.File)
	if !isFile || !term.IsTerminal(int(file.Fd())) || !foreground(file) {
		return func() {}, false
	}
	terminal := int(file.Fd()) // the caller may close the file while it is restored
	before, err := term.GetState(terminal)
	if err != nil || giveKeys(file) != nil {
		return func() {}, false
	}
	restore = sync.OnceFunc(func() { _ = term.Restore(terminal, before) })
	context.AfterFunc(ctx, restore) // a second Ctrl-C ends the process at once
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
