package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func (u *up) buildControlPlane(ctx context.Context) error {
	if !u.ownControlPlane() {
		return nil
	}
	return u.build.ensure(ctx, u.out)
}

// dismissUnwanted stops what an up with other settings has started.
func (u *up) dismissUnwanted(context.Context) error {
	wanted := map[string]bool{controllerName: true, apiName: true, workerName: true}
	if u.ownPostgres() {
		wanted[postgresName] = true
	}
	if u.ownControlPlane() {
		wanted[etcdName], wanted[apiServerName], wanted[controllerManagerName] = true, true, true
	}
	return u.supervisor.dismiss(wanted)
}

// startControlPlane leaves a cluster that answers, whoever runs it, and its kubeconfig in the state folder.
func (u *up) startControlPlane(ctx context.Context) (err error) {
	if !u.ownControlPlane() {
		return writeFile(u.state.kubeconfig(), u.kubeconfig)
	}
	plane := localControlPlane(u.state, u.build.folder, u.ports)
	if u.kubeconfig, err = plane.prepare(time.Now()); err != nil {
		return err
	}
	components, err := plane.components()
	if err != nil {
		return err
	}
	if err := u.ensureAll(ctx, components); err != nil {
		return err
	}
	if u.cluster, err = openCluster(u.kubeconfig); err != nil {
		return err
	}
	return writeFile(u.state.kubeconfig(), u.kubeconfig)
}

func (u *up) ensureAll(ctx context.Context, components []component) error {
	for _, c := range components {
		if err := u.supervisor.ensure(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

func (u *up) migrate(ctx context.Context) error {
	if err := u.state.ensureEncryptionKey(); err != nil {
		return err
	}
	u.roles = roles{state: u.state, program: u.cauri, databaseURL: u.databaseURL, databaseURLs: u.options.databaseURLs, apiPort: u.chosenAPIPort(), ports: u.ports}
	step := u.supervisor.progress.begin("migrate")
	if err := u.roles.migrate(ctx); err != nil {
		step.failed()
		return err
	}
	step.done("done")
	return u.makeUsers(ctx)
}

// makeUsers has each process log in as a user of its own, where the database is ours. Their groups are made by the migration.
func (u *up) makeUsers(ctx context.Context) error {
	if u.postgres == nil {
		return nil
	}
	known, err := u.state.postgresState()
	if err != nil {
		return err
	}
	u.roles.databaseURLs, err = u.postgres.ensureUsers(ctx, known.OwnerPassword)
	return err
}

func (u *up) defineResources(ctx context.Context) error {
	definitions, err := readObjects(u.options.crds)
	if err != nil {
		return err
	}
	step := u.supervisor.progress.begin("resource definitions")
	applied, err := u.cluster.apply(ctx, definitions)
	if err == nil {
		err = u.cluster.waitEstablished(ctx, onlyDefinitions(applied))
	}
	if err != nil {
		step.failed()
		return err
	}
	step.done(fmt.Sprintf("%d applied", len(applied)))
	return nil
}

func onlyDefinitions(objects []*unstructured.Unstructured) []*unstructured.Unstructured {
	var definitions []*unstructured.Unstructured
	for _, object := range objects {
		if object.GetKind() == "CustomResourceDefinition" {
			definitions = append(definitions, object)
		}
	}
	return definitions
}

func (u *up) startRoles(ctx context.Context) error {
	if err := u.ensureAll(ctx, u.roles.components()); err != nil {
		return err
	}
	return writeFile(u.state.file("env"), envFile([][2]string{
		{"DATABASE_URL", u.databaseURL},
		{"KUBECONFIG", u.state.kubeconfig()},
		{baseURLVariable, u.roles.baseURL()},
		{apiPortVariable, strconv.Itoa(u.roles.apiPort)},
	}))
}

func (u *up) applySamples(ctx context.Context) error {
	if u.options.samples == "" {
		return nil
	}
	objects, err := readObjects(u.options.samples)
	if err != nil {
		return err
	}
	step := u.supervisor.progress.begin("samples")
	applied, err := u.cluster.apply(ctx, objects)
	if err != nil {
		step.failed()
		return err
	}
	if u.ready, err = u.cluster.waitReady(ctx, applied, time.Minute); err != nil {
		step.failed()
		if ctx.Err() != nil {
			return errors.New("interrupted while waiting for the samples; everything runs: `down` stops it")
		}
		return failure{name: "samples", log: u.state.logFile(controllerName), err: err, hint: "the log is that of the controller; after a change run `make up` again"}
	}
	step.done(fmt.Sprintf("%d applied, %d ready", len(applied), len(u.ready)))
	return nil
}
