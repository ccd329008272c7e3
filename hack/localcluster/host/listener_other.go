//go:build !linux

package host

// FindListener is not implemented for this system.
func FindListener(int) (pid int, program string, found bool) { return 0, "", false }
