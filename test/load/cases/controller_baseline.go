package cases

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/test/load/bench"
)

// baselineSandboxes is the number of sandboxes of the baseline, each with test clients.
const baselineSandboxes = 300

// baseline measures how fast the API server accepts the controller's writes for a sandbox and its test clients from a
// minimal client: the finalizer, the Secret, the event of its key, and the Ready statuses. The controller does not run.
func (s *scale) baseline(ctx context.Context) error {
	sandbox, testClient := newSandbox(namespaceOf(0), "s0"), newTestClient(0, 0)
	for _, model := range []client.Object{sandbox, testClient} {
		if err := s.cluster.Get(ctx, client.ObjectKeyFromObject(model), model); err != nil {
			return err
		}
	}
	if err := s.cluster.namespace(ctx, "baseline"); err != nil {
		return err
	}
	sets := make([][]client.Object, baselineSandboxes)
	err := bench.InParallel(ctx, baselineSandboxes, makersAtOnce, func(ctx context.Context, i int) error {
		made := newSandbox("baseline", fmt.Sprintf("s%d", i))
		sets[i] = []client.Object{made}
		for n := range simsPerSandbox {
			client := newTestClient(i, n)
			client.Namespace = "baseline"
			sets[i] = append(sets[i], client)
		}
		for _, obj := range sets[i] {
			if err := s.cluster.Create(ctx, obj); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	before, err := processTimes(s.Postgres, s.cluster.APIServer, s.cluster.Etcd)
	if err != nil {
		return err
	}
	begun := time.Now()
	err = bench.InParallel(ctx, baselineSandboxes, makersAtOnce, func(ctx context.Context, i int) error {
		if err := s.cluster.Create(ctx, &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: "baseline", Name: fmt.Sprintf("s%d-credentials", i)},
			StringData: map[string]string{"api-key": "0123456789", "uri": "http://127.0.0.1:8080/sandboxes/baseline/s0"},
		}); err != nil {
			return err
		}
		for _, obj := range sets[i] {
			if err := s.asController(ctx, obj, sandbox.Status, testClient.Status); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	s.baselineRate = baselineSandboxes / time.Since(begun).Seconds()
	s.Figure("baseline: a bare client's sandboxes", s.baselineRate, "/s")
	after, err := processTimes(s.Postgres, s.cluster.APIServer, s.cluster.Etcd)
	s.tellTimes("baseline", before, after, baselineSandboxes)
	return err
}

// asController makes the controller's writes for one resource that becomes ready.
func (s *scale) asController(
	ctx context.Context,
	obj client.Object,
	sandbox v1alpha1.SandboxEnvironmentStatus,
	testClient v1alpha1.TestClientStatus,
) error {
	before := obj.DeepCopyObject().(client.Object)
	if o, ok := obj.(*v1alpha1.TestClient); ok {
		o.Status = testClient
		return s.cluster.Status().Patch(ctx, obj, client.MergeFrom(before))
	}
	obj.SetFinalizers([]string{"cauri.dev/baseline"})
	if err := s.cluster.Patch(ctx, obj, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
		return err
	}
	before = obj.DeepCopyObject().(client.Object)
	obj.(*v1alpha1.SandboxEnvironment).Status = sandbox
	if err := s.cluster.Status().Patch(ctx, obj, client.MergeFrom(before)); err != nil {
		return err
	}
	return s.cluster.Create(ctx, &eventsv1.Event{
		ObjectMeta:          metav1.ObjectMeta{Namespace: "baseline", Name: string(obj.GetUID())},
		EventTime:           metav1.NowMicro(),
		ReportingController: "baseline",
		ReportingInstance:   "baseline",
		Action:              "IssueCredentials",
		Reason:              "APIKeyIssued",
		Type:                corev1.EventTypeNormal,
		Note:                "The Secret s0-credentials has a new API key.",
		Regarding:           corev1.ObjectReference{Namespace: "baseline", Name: obj.GetName(), UID: obj.GetUID(), Kind: "SandboxEnvironment"},
	})
}
