package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/pprof"
	"net/netip"
	"runtime"
	"time"

	"github.com/cauri-dev/cauri/cmd/cauri/cli"
	"github.com/cauri-dev/cauri/server/httpserver"
)

// Sampling rates of the mutex and block profiles. Their overhead is not measurable.
const (
	mutexEvery = 10                    // samples one of 10 waits for a mutex
	blockEvery = 10 * time.Microsecond // samples one blocking event for each 10 µs of blocked time
)

// longestProfile is the maximum duration of a profile. The write deadline of the server must allow it.
const longestProfile = 10 * time.Minute

// checkProfileAddress returns an error unless the address is a loopback address, because profiles show the memory of
// the process.
func checkProfileAddress(address string) error {
	if address == "" {
		return nil
	}
	at, err := netip.ParseAddrPort(address)
	if err != nil || !at.Addr().IsLoopback() {
		return cli.Usage(fmt.Errorf("--profile-address=%s: write a loopback address, such as 127.0.0.1:6060", address))
	}
	return nil
}

// serveProfiles serves the profiles of this process below /debug/pprof/ until stop is called. For an empty address it
// does nothing.
func serveProfiles(address string) (stop func(), err error) {
	if err := checkProfileAddress(address); err != nil || address == "" {
		return func() {}, err
	}
	hosts, err := httpserver.NewHosts()
	if err != nil {
		return nil, err
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
	go func() { _ = httpserver.New(hosts.Only(mux), deadlines).Serve(ctx, listener) }() // stop cancels ctx
	return stop, nil
}
