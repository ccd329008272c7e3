package main

import (
	"context"
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cauri-dev/cauri/test/system"
	"github.com/cauri-dev/cauri/test/system/kube"
)

// wholeWithin is the timeout for a full recovery. A recovery takes much less time, even on a busy machine.
const wholeWithin = 3 * time.Minute

// fixture is the whole system: Postgres, two replicas of api and worker, and the controller with its own Kubernetes
// API. All sandboxes are resources.
type fixture struct {
	*system.System

	cluster    *system.Cluster
	kube       client.Client
	apis       []*system.API
	workers    []*system.Worker
	controller *system.Controller

	shops   []*shop
	applier *applier

	struck time.Time // the last fault
	losses []loss
}

// openFixture starts the system with a program that it builds from the work tree into a folder. crds is the folder of
// the CRDs. [fixture.close] stops all of it.
func openFixture(ctx context.Context, folder, crds string) (*fixture, error) {
	w := &fixture{}
	if err := w.open(ctx, folder, crds); err != nil {
		return nil, errors.Join(err, w.close())
	}
	return w, nil
}

func (w *fixture) open(ctx context.Context, folder, crds string) (err error) {
	if w.cluster, err = system.StartCluster(ctx); err != nil {
		return err
	}
	if w.kube, err = kube.Connect(w.cluster, crds); err != nil {
		return err
	}
	program, err := system.Build(ctx, folder)
	if err != nil {
		return err
	}
	postgres, err := system.StartPostgres(ctx)
	if err != nil {
		return err
	}
	if w.System, err = system.Open(ctx, postgres, program); err != nil {
		return errors.Join(err, postgres.Close())
	}
	if err := w.kube.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: system.Namespace}}); err != nil {
		return err
	}
	if err := w.startProcesses(ctx); err != nil {
		return err
	}
	for _, trade := range trades {
		s, err := w.openShop(ctx, trade)
		if err != nil {
			return err
		}
		w.shops = append(w.shops, s)
	}
	w.applier = &applier{fixture: w, ready: new(series)}
	return nil
}

func (w *fixture) startProcesses(ctx context.Context) error {
	if err := w.startController(ctx); err != nil {
		return err
	}
	for _, name := range []string{"api-0", "api-1"} {
		api, err := w.StartAPI(ctx, name)
		if err != nil {
			return err
		}
		w.apis = append(w.apis, api)
	}
	for _, name := range []string{"worker-0", "worker-1"} {
		worker, err := w.StartWorker(ctx, name)
		if err != nil {
			return err
		}
		w.workers = append(w.workers, worker)
	}
	return nil
}

func (w *fixture) startController(ctx context.Context) (err error) {
	w.controller, err = w.StartController(ctx, w.cluster.Kubeconfig, wholeWithin)
	return err
}

// running waits until every process reports that it is ready.
func (w *fixture) running(ctx context.Context) error {
	w.SQL.Reset() // connections from before the fault may be dead
	return system.Until(ctx, wholeWithin, "every process is ready", func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		errs := []error{w.SQL.Ping(ctx), w.cluster.Ready(ctx), w.controller.Ready(ctx)}
		for _, api := range w.apis {
			errs = append(errs, api.Ready(ctx))
		}
		for _, worker := range w.workers {
			errs = append(errs, worker.Ready(ctx))
		}
		return errors.Join(errs...)
	})
}

// saveLogs copies the logs of all processes into a folder.
func (w *fixture) saveLogs(folder string) error {
	return errors.Join(w.SaveLogs(folder), w.cluster.SaveLogs(folder))
}

// close stops all processes and removes their data.
func (w *fixture) close() error {
	var errs []error
	for _, s := range w.shops {
		s.close()
	}
	if w.System != nil {
		errs = append(errs, w.System.Close(), w.Postgres.Close())
	}
	if w.cluster != nil {
		errs = append(errs, w.cluster.Close())
	}
	return errors.Join(errs...)
}
