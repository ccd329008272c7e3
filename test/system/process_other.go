//go:build !linux

package system

import "syscall"

// endWithParent is not available on this system.
func endWithParent(attributes *syscall.SysProcAttr, _ syscall.Signal) *syscall.SysProcAttr {
	return attributes
}
