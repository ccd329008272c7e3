package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net"
	"os"
	"strconv"
	"time"
)

// ports maps what listens to where it does. They are chosen once and kept, so that addresses stay the same from one up to
// the next.
type ports map[string]int

// Ports are taken from below those that the system gives to outgoing connections (32768 and up on Linux): one of these may
// be in use for a moment just when its owner starts, and no check beforehand would have told.
const (
	lowestPort  = 20000
	highestPort = 32767
)

func (d stateDir) ports() (ports, error) {
	content, err := os.ReadFile(d.file("ports.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return ports{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the chosen ports: %w", err)
	}
	known := ports{}
	if err := json.Unmarshal(content, &known); err != nil {
		return nil, fmt.Errorf("reading %s (remove it to have ports chosen anew): %w", d.file("ports.json"), err)
	}
	return known, nil
}

func (d stateDir) savePorts(chosen ports) error {
	content, err := json.MarshalIndent(chosen, "", "  ")
	if err != nil {
		return fmt.Errorf("keeping the chosen ports: %w", err)
	}
	return writeFile(d.file("ports.json"), append(content, '\n'))
}

// choose returns a port for every name: the known one if its owner uses it right now or if nobody does, else a free one.
func choose(names []string, known ports, inUseByOwner func(name string) bool) (ports, error) {
	chosen := ports{}
	taken := map[int]bool{}
	for _, port := range known { // those of names that are not asked for now are still theirs
		taken[port] = true
	}
	for _, name := range names {
		port, ok := known[name]
		if !ok || (!inUseByOwner(name) && !becomesFree(port)) {
			var err error
			if port, err = freePort(taken); err != nil {
				return nil, fmt.Errorf("choosing a port for %s: %w", name, err)
			}
			taken[port] = true
		}
		chosen[name] = port
	}
	return chosen, nil
}

func freePort(taken map[int]bool) (int, error) {
	for range 1000 {
		port := lowestPort + rand.IntN(highestPort-lowestPort+1)
		if !taken[port] && isFree(port) {
			return port, nil
		}
	}
	return 0, fmt.Errorf("no free port found between %d and %d", lowestPort, highestPort)
}

// becomesFree waits for a port that somebody may be about to leave, as a process does that was killed a moment ago: an address that
// stays the same is worth two seconds.
func becomesFree(port int) bool {
	for range 20 {
		if isFree(port) {
			return true
		}
		time.Sleep(100 * time.Millisecond)
	}
	return false
}

func isFree(port int) bool {
	listener, err := net.Listen("tcp", loopback(port))
	if err != nil {
		return false
	}
	listener.Close()
	return true
}

// loopback is the only kind of address that anything here listens on.
func loopback(port int) string {
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
}
