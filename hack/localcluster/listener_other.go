//go:build !linux

package main

// findListener is not known for this system.
func findListener(int) (pid int, program string, found bool) { return 0, "", false }
