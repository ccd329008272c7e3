package keypress

import (
	"os"

	"golang.org/x/sys/windows"
)

// giveKeys turns off line buffering and echo of a console. Ctrl-C still works.
func giveKeys(file *os.File) error {
	var mode uint32
	console := windows.Handle(file.Fd())
	if err := windows.GetConsoleMode(console, &mode); err != nil {
		return err
	}
	return windows.SetConsoleMode(console, mode&^(windows.ENABLE_LINE_INPUT|windows.ENABLE_ECHO_INPUT))
}

// foreground returns true, because on Windows every process of a console may use it.
func foreground(*os.File) bool { return true }
