//go:build !linux

package postgres

import "syscall"

// control does nothing: only Linux has TCP_USER_TIMEOUT. Statements have their deadlines everywhere.
func control(string, string, syscall.RawConn) error { return nil }
