package system

import "syscall"

// endWithParent makes the system signal a child when its parent ends. A test that panics or is killed thus leaves no
// processes.
func endWithParent(attributes *syscall.SysProcAttr, signal syscall.Signal) *syscall.SysProcAttr {
	attributes.Pdeathsig = signal
	return attributes
}
