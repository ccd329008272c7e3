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

// Sampling rates of waits while profiles are served: enough to see where time goes, at no measurable cost.
const (
	mutexEvery = 10                    // samples one of this many waits for a lock
	blockEvery = 10 * time.Microsecond // samples one wait for each such time spent waiting
)

// longestProfile bounds the duration of a profile. The response is written meanwhile.
const longestProfile = 10 * time.Minute

// checkProfileAddress allows only loopback addresses: profiles show what is in the memory of the process.
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

// serveProfiles serves the profiles of this process below /debug/pprof/ until stop is called. Without an address it does nothing.
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
	go func() { _ = httpserver.New(mux, deadlines).Serve(ctx, listener) }() // until stop is called
	return stop, nil
}
