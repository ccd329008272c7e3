package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/pprof"
	"net/netip"
	"runtime"
	"time"

	"github.com/cauri-dev/cauri/server/httpserver"
)

// What is noted of waits where profiles are served: enough to see where time goes, at a cost that does not show.
const (
	mutexEvery = 10                    // one in so many waits for a lock
	blockEvery = 10 * time.Microsecond // one wait for each so long that was waited
)

// longestProfile bounds for how long a profile may be taken: it is written while it is.
const longestProfile = 10 * time.Minute

// checkProfileAddress lets profiles be served to this machine only: they tell what is in the memory of the process.
func checkProfileAddress(address string) error {
	if address == "" {
		return nil
	}
	at, err := netip.ParseAddrPort(address)
	if err != nil || !at.Addr().IsLoopback() {
		return fmt.Errorf("--profile-address=%s: write a loopback address, such as 127.0.0.1:6060", address)
	}
	return nil
}

// serveProfiles serves the profiles of this process below /debug/pprof/ until its result is called. Without an address it does nothing.
func serveProfiles(address string) (stop func(), err error) {
	if err := checkProfileAddress(address); err != nil || address == "" {
		return func() {}, err
	}
	listener, err := bind("profiles", address)
	if err != nil {
		return nil, err
	}
	runtime.SetMutexProfileFraction(mutexEvery)
	runtime.SetBlockProfileRate(int(blockEvery))
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	deadlines := httpserver.Default
	deadlines.Write = longestProfile
	ctx, stop := context.WithCancel(context.Background())
	go func() { _ = httpserver.New(mux, deadlines).Serve(ctx, listener) }() // until it is stopped
	return stop, nil
}
