//go:build darwin || freebsd || netbsd || openbsd || dragonfly

package keypress

import "golang.org/x/sys/unix"

// The requests for the settings of a terminal.
const (
	getSettings = unix.TIOCGETA
	setSettings = unix.TIOCSETA
)
