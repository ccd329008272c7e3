package system

import "syscall"

// endWithParent has the system signal a child whose parent is gone: a test that panics or is killed leaves nothing behind.
func endWithParent(attributes *syscall.SysProcAttr, signal syscall.Signal) *syscall.SysProcAttr {
	attributes.Pdeathsig = signal
	return attributes
}
