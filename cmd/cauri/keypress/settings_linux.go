package keypress

import "golang.org/x/sys/unix"

// The requests for the settings of a terminal.
const (
	getSettings = unix.TCGETS
	setSettings = unix.TCSETS
)
