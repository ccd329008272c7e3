package system

import "testing"

// A chosen port looks free until somebody listens on it.
func TestNoPortIsChosenTwice(t *testing.T) {
	t.Parallel()
	chosen := map[int]bool{}
	for range 500 { // with 10,000 ports, duplicates are almost certain without the record
		port, err := freePort()
		if err != nil {
			t.Fatal(err)
		}
		if chosen[port] {
			t.Fatalf("port %d was chosen twice, the second time after %d ports", port, len(chosen))
		}
		chosen[port] = true
	}
}
