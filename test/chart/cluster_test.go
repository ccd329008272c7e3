package chart

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/cauri-dev/cauri/controllers"
)

const startWithin = 3 * time.Minute

var environment envtest.Environment

// cluster is a real Kubernetes API server with the CRDs and the namespaces of the scenarios, which only take restricted pods.
var cluster = sync.OnceValues(func() (client.Client, error) {
	if os.Getenv("KUBEBUILDER_ASSETS") == "" {
		return nil, errors.New("KUBEBUILDER_ASSETS is not set, so there is no Kubernetes API server to test with: run make test")
	}
	ctrl.SetLogger(logr.Discard())
	environment.CRDDirectoryPaths = []string{filepath.Join(root, "config", "crd")}
	environment.ErrorIfCRDPathMissing = true
	environment.ControlPlaneStartTimeout, environment.ControlPlaneStopTimeout = startWithin, startWithin
	config, err := environment.Start()
	if err != nil {
		return nil, err
	}
	return client.New(config, client.Options{Scheme: controllers.Scheme})
})

func stopCluster() {
	if environment.Config == nil {
		return
	}
	if err := environment.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, "stopping the API server:", err)
	}
}

// The Kubernetes API takes everything that is rendered, and Pod Security admission takes the pods into a namespace that is restricted.
func TestKubernetesTakesAllOfIt(t *testing.T) {
	t.Parallel()
	k8s, err := cluster()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{namespace, "team-a", "team-b"} {
		restricted := map[string]string{"pod-security.kubernetes.io/enforce": "restricted"}
		if err := k8s.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: restricted}}); err != nil {
			t.Fatal(err)
		}
	}
	apps := &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "apps"}} // of the scenario platform
	if err := k8s.Create(t.Context(), apps); err != nil {
		t.Fatal(err)
	}
	everywhere(t, func(t *testing.T, rendered []*unstructured.Unstructured) {
		for _, object := range rendered {
			if slices.Contains(foreign, object.GetKind()) {
				continue
			}
			name := nameOf(object)
			added := addedToWholes(t, k8s, object)
			if added != "" && object.GetAnnotations()["helm.sh/hook"] != "test" { // which Argo CD leaves out
				t.Errorf("%s: write out what the API server adds, or Argo CD shows it as a difference permanently: %s", name, added)
			}
			if err := k8s.Apply(
				t.Context(),
				client.ApplyConfigurationFromUnstructured(object),
				client.DryRunAll,
				client.FieldOwner("chart"),
			); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		for _, pod := range pods(t, rendered) {
			meta := metav1.ObjectMeta{Name: "as-" + pod.component(), Namespace: pod.Namespace, Labels: pod.Labels}
			if err := k8s.Create(t.Context(), &corev1.Pod{ObjectMeta: meta, Spec: withVolumes(pod)}, client.DryRunAll); err != nil {
				t.Errorf("%s: %v", pod.of, err)
			}
		}
	})
}

// withVolumes is the spec of a pod with what its StatefulSet adds.
func withVolumes(pod podTemplate) corev1.PodSpec {
	if pod.component() == "postgres" && !slices.ContainsFunc(pod.Volumes, func(v corev1.Volume) bool { return v.Name == "data" }) {
		pod.Volumes = append(slices.Clip(pod.Volumes), corev1.Volume{Name: "data"})
	}
	return pod.PodSpec
}

func TestPodSecurityIsEnforced(t *testing.T) {
	t.Parallel()
	k8s, err := cluster()
	if err != nil {
		t.Fatal(err)
	}
	restricted := map[string]string{"pod-security.kubernetes.io/enforce": "restricted"}
	if err := k8s.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "strict", Labels: restricted}}); err != nil {
		t.Fatal(err)
	}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "root", Namespace: "strict"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "root", Image: "root"}}},
	}
	if err := k8s.Create(t.Context(), pod, client.DryRunAll); err == nil {
		t.Error("the API server of this test does not look at the pods: it proves nothing")
	}
}
