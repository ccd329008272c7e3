//go:build unix

package keypress

import (
	"os"

	"golang.org/x/sys/unix"
)

// giveKeys turns off line buffering and echo of a terminal. Unlike in raw mode, Ctrl-C and line breaks in the output
// still work.
func giveKeys(file *os.File) error {
	settings, err := unix.IoctlGetTermios(int(file.Fd()), getSettings)
	if err != nil {
		return err
	}
	settings.Lflag &^= unix.ICANON | unix.ECHO
	settings.Cc[unix.VMIN], settings.Cc[unix.VTIME] = 1, 0
	return unix.IoctlSetTermios(int(file.Fd()), setSettings, settings)
}

// foreground reports whether this process is in the foreground of a terminal. A process in the background would be
// stopped if it changed the terminal.
func foreground(file *os.File) bool {
	group, err := unix.IoctlGetInt(int(file.Fd()), unix.TIOCGPGRP)
	return err != nil || group == unix.Getpgrp() // an error means that the terminal belongs to another session
}
