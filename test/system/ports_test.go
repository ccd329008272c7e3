package system

import "testing"

// Between its choice and the moment at which somebody listens on it, a port looks free.
func TestNoPortIsChosenTwice(t *testing.T) {
	t.Parallel()
	chosen := map[int]bool{}
	for range 500 { // of 10,000: two that are the same are next to certain, if nothing keeps them apart
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
