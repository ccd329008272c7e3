package process

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/cauri-dev/cauri/hack/localcluster/host"
)

// Ports maps names to ports. They are stored, so that addresses stay the same at the next up.
type Ports map[string]int

func (d StateDir) Ports() (Ports, error) {
	content, err := os.ReadFile(d.File("ports.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return Ports{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the stored ports: %w", err)
	}
	known := Ports{}
	if err := json.Unmarshal(content, &known); err != nil {
		return nil, fmt.Errorf("reading %s (remove the file to choose new ports): %w", d.File("ports.json"), err)
	}
	return known, nil
}

func (d StateDir) SavePorts(chosen Ports) error {
	content, err := json.MarshalIndent(chosen, "", "  ")
	if err != nil {
		return fmt.Errorf("storing the ports: %w", err)
	}
	return host.WriteFile(d.File("ports.json"), append(content, '\n'))
}

// Choose returns a port for every name: the stored port if its owner uses it or if it is free, otherwise a new free
// port.
func Choose(names []string, known Ports, inUseByOwner func(name string) bool) (Ports, error) {
	chosen := Ports{}
	taken := map[int]bool{}
	for _, port := range known { // reserved for names that are not requested now
		taken[port] = true
	}
	for _, name := range names {
		port, ok := known[name]
		if !ok || (!inUseByOwner(name) && !host.BecomesFree(port)) {
			var err error
			if port, err = host.FreePort(taken); err != nil {
				return nil, fmt.Errorf("choosing a port for %s: %w", name, err)
			}
			taken[port] = true
		}
		chosen[name] = port
	}
	return chosen, nil
}
