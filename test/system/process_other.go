//go:build !linux

package system

import "syscall"

// endWithParent can not be asked for on this system.
func endWithParent(attributes *syscall.SysProcAttr, _ syscall.Signal) *syscall.SysProcAttr {
	return attributes
}
