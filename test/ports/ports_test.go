package ports

import "testing"

// A chosen port looks free until somebody listens on it.
func TestNoPortIsChosenTwice(t *testing.T) {
	t.Parallel()
	seen := map[int]bool{}
	for range 500 { // with 10,000 ports, duplicates are almost certain without the record
		port, err := Free()
		if err != nil {
			t.Fatal(err)
		}
		if seen[port] {
			t.Fatalf("port %d was chosen twice, the second time after %d ports", port, len(seen))
		}
		seen[port] = true
	}
}
