package main

import (
	"context"
	"maps"
	"slices"
)

// choosePorts settles every address before anything is started, since those who start first are told those of the others.
func (u *up) choosePorts(context.Context) error {
	known, err := u.state.ports()
	if err != nil {
		return err
	}
	owners := map[string]string{apiPort: apiName, apiHealthPort: apiName, controllerHealthPort: controllerName, controllerMetricsPort: controllerName, workerHealthPort: workerName}
	if u.ownPostgres() {
		owners[postgresName] = postgresName
	}
	if u.ownControlPlane() {
		for port, owner := range map[string]string{
			etcdPort: etcdName, etcdPeerPort: etcdName, apiServerPort: apiServerName, controllerManagerPort: controllerManagerName,
		} {
			owners[port] = owner
		}
	}
	if u.options.apiPort != 0 {
		delete(owners, apiPort)
	}
	running, err := u.runningByName()
	if err != nil {
		return err
	}
	u.ports, err = choose(slices.Sorted(maps.Keys(owners)), known, func(name string) bool {
		owner := running[owners[name]]
		if name == apiPort { // the api may be running on a port that was given
			return owner.running() && owner.Address == apiAddress(known[apiPort])
		}
		return owner.running()
	})
	if err != nil {
		return err
	}
	for name, port := range known { // of what is not wanted this time but may be the next
		if _, ok := u.ports[name]; !ok {
			u.ports[name] = port
		}
	}
	return u.state.savePorts(u.ports)
}

func (u *up) runningByName() (map[string]process, error) {
	all, err := u.state.processes()
	if err != nil {
		return nil, err
	}
	byName := map[string]process{}
	for _, p := range all {
		byName[p.Name] = p
	}
	return byName, nil
}

// chosenAPIPort is the port of the API, given or chosen.
func (u *up) chosenAPIPort() int {
	if u.options.apiPort != 0 {
		return u.options.apiPort
	}
	return u.ports[apiPort]
}
