//go:build unix

package keypress

import (
	"os"

	"golang.org/x/sys/unix"
)

// giveKeys makes a terminal give each key at once, and not show it. Unlike in raw mode, Ctrl-C and line breaks in the output go on working.
func giveKeys(file *os.File) error {
	settings, err := unix.IoctlGetTermios(int(file.Fd()), getSettings)
	if err != nil {
		return err
	}
	settings.Lflag &^= unix.ICANON | unix.ECHO
	settings.Cc[unix.VMIN], settings.Cc[unix.VTIME] = 1, 0
	return unix.IoctlSetTermios(int(file.Fd()), setSettings, settings)
}

// foreground reports whether this process may use a terminal: one in the background would be stopped.
func foreground(file *os.File) bool {
	group, err := unix.IoctlGetInt(int(file.Fd()), unix.TIOCGPGRP)
	return err != nil || group == unix.Getpgrp() // an error: it is not the terminal of this process's session
}
