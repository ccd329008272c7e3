//go:build !linux

package host

// FindListener is not known for this system.
func FindListener(int) (pid int, program string, found bool) { return 0, "", false }
