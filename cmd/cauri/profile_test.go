package main

import (
	"net"
	"net/http"
	"testing"
	"time"
)

func TestProfilesAreServedToThisMachineAlone(t *testing.T) {
	t.Parallel()
	for address, ok := range map[string]bool{
		"": true, "127.0.0.1:6060": true, "[::1]:0": true,
		":6060": false, "0.0.0.0:6060": false, "10.0.0.1:6060": false, "localhost:6060": false, "6060": false,
	} {
		if err := checkProfileAddress(address); (err == nil) != ok {
			t.Errorf("--profile-address=%s: error %v, want it to be taken: %t", address, err, ok)
		}
	}
}

func TestProfilesAreServedUntilTheyAreStopped(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	_ = listener.Close()
	stop, err := serveProfiles(address)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"", "heap?debug=1", "mutex?debug=1", "block?debug=1", "allocs?debug=1"} {
		response, err := http.Get("http://" + address + "/debug/pprof/" + path)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode != http.StatusOK {
			t.Errorf("/debug/pprof/%s is answered %d", path, response.StatusCode)
		}
	}
	stop()
	for stopped := time.Now(); time.Since(stopped) < time.Minute; time.Sleep(time.Millisecond) {
		response, err := http.Get("http://" + address + "/debug/pprof/")
		if err != nil {
			return
		}
		_ = response.Body.Close()
	}
	t.Error("profiles are served on after they were stopped")
}
