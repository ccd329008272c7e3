//go:build !linux

package postgres

import "syscall"

// control does nothing: TCP_USER_TIMEOUT is Linux's. Statements have their deadlines everywhere.
func control(string, string, syscall.RawConn) error { return nil }
