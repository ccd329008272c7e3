package up

import (
	"context"
	"maps"
	"slices"

	"github.com/cauri-dev/cauri/hack/localcluster/kube"
	"github.com/cauri-dev/cauri/hack/localcluster/process"
)

// choosePorts chooses all addresses before the start, because early processes need the addresses of later ones.
func (u *up) choosePorts(context.Context) error {
	known, err := u.state.Ports()
	if err != nil {
		return err
	}
	owners := map[string]string{
		apiPort:               process.APIName,
		apiHealthPort:         process.APIName,
		controllerHealthPort:  process.ControllerName,
		controllerMetricsPort: process.ControllerName,
		workerHealthPort:      process.WorkerName,
	}
	if u.ownPostgres() {
		owners[process.PostgresName] = process.PostgresName
	}
	if u.ownControlPlane() {
		for port, owner := range map[string]string{
			kube.EtcdPort: process.EtcdName, kube.EtcdPeerPort: process.EtcdName,
			kube.APIServerPort: process.APIServerName, kube.ControllerManagerPort: process.ControllerManagerName,
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
	u.ports, err = process.Choose(slices.Sorted(maps.Keys(owners)), known, func(name string) bool {
		owner := running[owners[name]]
		if name == apiPort { // the api may run on a port that the user chose
			return owner.Running() && owner.Address == apiAddress(known[apiPort])
		}
		return owner.Running()
	})
	if err != nil {
		return err
	}
	for name, port := range known { // unused ports are kept for the next up
		if _, ok := u.ports[name]; !ok {
			u.ports[name] = port
		}
	}
	return u.state.SavePorts(u.ports)
}

func (u *up) runningByName() (map[string]process.Process, error) {
	all, err := u.state.Processes()
	if err != nil {
		return nil, err
	}
	byName := map[string]process.Process{}
	for _, p := range all {
		byName[p.Name] = p
	}
	return byName, nil
}

// chosenAPIPort returns the port of the API, chosen by the user or by choosePorts.
func (u *up) chosenAPIPort() int {
	if u.options.apiPort != 0 {
		return u.options.apiPort
	}
	return u.ports[apiPort]
}
