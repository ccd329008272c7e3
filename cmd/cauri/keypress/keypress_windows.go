package keypress

import (
	"os"

	"golang.org/x/sys/windows"
)

// giveKeys makes a console give each key at once, and not show it. Ctrl-C goes on working.
func giveKeys(file *os.File) error {
	var mode uint32
	console := windows.Handle(file.Fd())
	if err := windows.GetConsoleMode(console, &mode); err != nil {
		return err
	}
	return windows.SetConsoleMode(console, mode&^(windows.ENABLE_LINE_INPUT|windows.ENABLE_ECHO_INPUT))
}

// foreground reports whether this process may use a console: on Windows every process of it may.
func foreground(*os.File) bool { return true }
