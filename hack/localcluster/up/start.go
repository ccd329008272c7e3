package up

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cauri-dev/cauri/hack/localcluster/host"
	"github.com/cauri-dev/cauri/hack/localcluster/kube"
	"github.com/cauri-dev/cauri/hack/localcluster/postgres"
	"github.com/cauri-dev/cauri/hack/localcluster/process"
)

// findControlPlane sets the folder of the control plane's programs. If the user has no kubectl, it links kubectl next
// to this program.
func (u *up) findControlPlane(ctx context.Context) (err error) {
	u.kubectl = "kubectl"
	if !u.ownControlPlane() {
		return nil
	}
	if u.programs, err = kube.FindPrograms(ctx, u.out); err != nil {
		return err
	}
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("finding the folder of this program: %w", err)
	}
	link, err := kube.LinkKubectl(u.programs, filepath.Dir(program))
	if _, missing := exec.LookPath(u.kubectl); missing != nil && link != "" {
		u.kubectl = shortPath(link)
	}
	if !u.hasControllerManager() {
		fmt.Fprintf(u.out, "  %s has no kube-controller-manager: the Secret of a deleted sandbox and a deleted namespace are not removed\n", u.programs)
	}
	return err
}

func (u *up) hasControllerManager() bool {
	return kube.LocalControlPlane(u.state, u.programs, u.ports).HasControllerManager()
}

// dismissUnwanted stops the processes of an earlier up with other settings that are not needed any more.
func (u *up) dismissUnwanted(context.Context) error {
	wanted := map[string]bool{process.ControllerName: true, process.APIName: true, process.WorkerName: true}
	if u.ownPostgres() {
		wanted[process.PostgresName] = true
	}
	if u.ownControlPlane() {
		wanted[process.EtcdName], wanted[process.APIServerName] = true, true
		wanted[process.ControllerManagerName] = u.hasControllerManager()
	}
	return u.supervisor.Dismiss(wanted)
}

// startControlPlane starts a control plane or connects to the user's cluster. It writes a kubeconfig to the state
// folder.
func (u *up) startControlPlane(ctx context.Context) (err error) {
	if !u.ownControlPlane() {
		return host.WriteFile(u.state.Kubeconfig(), u.kubeconfig)
	}
	plane := kube.LocalControlPlane(u.state, u.programs, u.ports)
	if u.kubeconfig, err = plane.Prepare(time.Now()); err != nil {
		return err
	}
	components, err := plane.Components()
	if err != nil {
		return err
	}
	if err := u.ensureAll(ctx, components); err != nil {
		return err
	}
	if u.cluster, err = kube.Open(u.kubeconfig); err != nil {
		return err
	}
	return host.WriteFile(u.state.Kubeconfig(), u.kubeconfig)
}

func (u *up) ensureAll(ctx context.Context, components []process.Component) error {
	for _, c := range components {
		if err := u.supervisor.Ensure(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

func (u *up) migrate(ctx context.Context) error {
	if err := ensureKeys(u.state); err != nil {
		return err
	}
	u.roles = roles{
		state:        u.state,
		program:      u.cauri,
		databaseURL:  u.databaseURL,
		databaseURLs: u.options.databaseURLs,
		apiPort:      u.chosenAPIPort(),
		ports:        u.ports,
	}
	step := u.supervisor.Progress.Begin("migrate")
	if err := u.roles.migrate(ctx); err != nil {
		step.Failed()
		return err
	}
	step.Done("done")
	return u.makeUsers(ctx)
}

// makeUsers creates a database user for each process, unless the user named the database. The migration creates the
// groups of these users.
func (u *up) makeUsers(ctx context.Context) error {
	if u.postgres == nil {
		return nil
	}
	known, err := postgres.ReadState(u.state)
	if err != nil {
		return err
	}
	u.roles.databaseURLs, err = u.postgres.EnsureUsers(ctx, known.OwnerPassword)
	return err
}

func (u *up) defineResources(ctx context.Context) error {
	definitions, err := kube.ReadObjects(u.options.crds)
	if err != nil {
		return err
	}
	step := u.supervisor.Progress.Begin("resource definitions")
	applied, err := u.cluster.Apply(ctx, definitions)
	if err == nil {
		err = u.cluster.WaitEstablished(ctx, onlyDefinitions(applied))
	}
	if err != nil {
		step.Failed()
		return err
	}
	step.Done(fmt.Sprintf("%d applied", len(applied)))
	return nil
}

// applyPeoplesRoles applies the ClusterRoles that are added to view, edit and admin. A cluster of the user keeps its own,
// which the chart may have made.
func (u *up) applyPeoplesRoles(ctx context.Context) error {
	if !u.ownControlPlane() {
		return nil
	}
	objects, err := kube.ReadObjects(u.options.rbac)
	if err != nil {
		return err
	}
	_, err = u.cluster.Apply(ctx, slices.DeleteFunc(objects, func(object *unstructured.Unstructured) bool {
		return !isAggregated(object)
	}))
	return err
}

// isAggregated reports whether Kubernetes adds the rules of a ClusterRole to view, edit or admin.
func isAggregated(object *unstructured.Unstructured) bool {
	return object.GetKind() == "ClusterRole" && slices.ContainsFunc(slices.Collect(maps.Keys(object.GetLabels())), func(label string) bool {
		return strings.HasPrefix(label, "rbac.authorization.k8s.io/aggregate-to-")
	})
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
	return host.WriteFile(u.state.File("env"), envFile([][2]string{
		{"DATABASE_URL", u.databaseURL},
		{"KUBECONFIG", u.state.Kubeconfig()},
		{baseURLVariable, u.roles.baseURL()},
		{apiPortVariable, strconv.Itoa(u.roles.apiPort)},
	}))
}

func (u *up) applySamples(ctx context.Context) error {
	if u.options.samples == "" {
		return nil
	}
	objects, err := kube.ReadObjects(u.options.samples)
	if err != nil {
		return err
	}
	addReceiver(objects)
	step := u.supervisor.Progress.Begin("samples")
	applied, err := u.cluster.Apply(ctx, objects)
	if err != nil {
		step.Failed()
		return err
	}
	if u.ready, err = u.cluster.WaitReady(ctx, applied, time.Minute); err != nil {
		step.Failed()
		if ctx.Err() != nil {
			return errors.New("interrupted while waiting for the samples. All processes run; `down` stops them")
		}
		return process.Failure{
			Name: "samples",
			Log:  u.state.LogFile(process.ControllerName),
			Err:  err,
			Hint: "this is the log of the controller; after a change, run `make up` again",
		}
	}
	step.Done(fmt.Sprintf("%d applied, %d ready", len(applied), len(u.ready)))
	return nil
}
