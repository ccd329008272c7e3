package main

import (
	"context"
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/test/system"
)

// Numbers whose payments the expectations count.
const (
	paidOnce   = "+250790000001"
	paidTwice  = "+250790000002"
	neverPaid  = "+250790000003"
	othersPaid = "+250790000004"
)

// Controller and workers are killed while expectations are open. What happens meanwhile is judged when they run again, and
// a sandbox that was deleted holds nothing up.
func TestExpectationsOutliveKills(t *testing.T) {
	w := opened(t)
	ctx := t.Context()
	stays, leaves, begins := w.shops[0], w.shops[1], w.shops[2]
	for name, e := range map[string]struct {
		shop   *shop
		msisdn string
	}{
		"once": {stays, paidOnce}, "twice": {stays, paidTwice}, "never": {stays, neverPaid}, "unwanted": {stays, othersPaid},
		"deleted": {leaves, othersPaid}, "reset": {begins, othersPaid},
	} {
		must(t, w.kube.Create(ctx, newExpectation(name, e.shop.resource.Name, e.msisdn)))
	}
	w.judged(t, map[string]string{
		"once": "NotMet", "twice": "NotMet", "never": "NotMet", "unwanted": "NotMet", "deleted": "NotMet", "reset": "NotMet",
	})
	w.controller.Kill()
	for _, worker := range w.workers {
		worker.Kill()
	}

	for i, msisdn := range []string{paidOnce, paidTwice, paidTwice} {
		answer, err := stays.client.Insist(ctx, "/payments", system.NewPayment(fmt.Sprintf("judged-%d", i), msisdn, "success"))
		must(t, err)
		if answer.Status != 201 {
			t.Fatalf("a payment was answered with %d %s", answer.Status, answer.Body)
		}
	}
	exec(t, w, "update expectations set deadline = now(), due_at = now() where lines::text like '%"+neverPaid+"%'")
	must(t, w.kube.Delete(ctx, leaves.resource))
	must(t, w.kube.Get(ctx, client.ObjectKeyFromObject(begins.resource), begins.resource))
	begins.resource.Spec.Reset = "again"
	must(t, w.kube.Update(ctx, begins.resource))
	unwanted := newExpectation("unwanted", "", "")
	must(t, w.kube.Delete(ctx, unwanted))
	if err := w.kube.Get(ctx, client.ObjectKeyFromObject(unwanted), unwanted); !apierrors.IsNotFound(err) {
		t.Errorf("an Expectation waits for its controller to be deleted: %v", err)
	}

	w.restarted(t)
	verdicts := map[string]string{
		"once": "Met", "twice": "Exceeded", "never": "DeadlineExceeded", "deleted": "SandboxDeleted", "reset": "SandboxReset",
	}
	w.judged(t, verdicts)
	w.eventually(t, "the deleted sandbox is gone", func(ctx context.Context) error {
		err := w.kube.Get(ctx, client.ObjectKeyFromObject(leaves.resource), leaves.resource)
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("it is still there, with the finalizers %v: %w", leaves.resource.Finalizers, err)
	})
	exec(t, w, "update expectations set deadline = now(), due_at = now() where lines::text like '%"+othersPaid+"%'")
	w.eventually(t, "no row is open", func(ctx context.Context) error {
		open, err := w.Count(ctx, "select count(*) from expectations where due_at is not null")
		if err == nil && open > 0 {
			err = fmt.Errorf("%d are", open)
		}
		return err
	})

	decided := w.verdicts(t)
	w.controller.Kill()
	w.restarted(t)
	w.judged(t, verdicts)
	for name, e := range w.verdicts(t) {
		if e.ResourceVersion != decided[name].ResourceVersion {
			t.Errorf("what is decided of %s was written again: %+v", name, e.Status)
		}
		must(t, w.kube.Delete(ctx, &e))
	}
}

// newExpectation expects one payment of a number, and its event.
func newExpectation(name, sandbox, msisdn string) *v1alpha1.Expectation {
	paid := v1alpha1.ExpectedWhere{MSISDN: msisdn, Status: "SUCCESS"}
	return &v1alpha1.Expectation{
		ObjectMeta: metav1.ObjectMeta{Namespace: system.Namespace, Name: name},
		Spec: v1alpha1.ExpectationSpec{
			SandboxRef: v1alpha1.SandboxReference{Name: sandbox}, Within: "1h", Settle: "1s",
			Expect: []v1alpha1.ExpectedLine{
				{Transactions: &v1alpha1.ExpectedTransactions{Where: &paid, Count: intstr.FromInt32(1)}},
				{Events: &v1alpha1.ExpectedEvents{
					Where: &v1alpha1.ExpectedEventWhere{ExpectedWhere: paid}, State: "delivered", Count: intstr.FromInt32(1),
				}},
			},
		},
	}
}

// restarted starts what was killed.
func (w *fixture) restarted(t *testing.T) {
	t.Helper()
	for i, worker := range w.workers {
		if !worker.Running() {
			again, err := w.StartWorker(t.Context(), worker.Name)
			must(t, err)
			w.workers[i] = again
		}
	}
	must(t, w.startController(t.Context()))
}

// judged waits until each expectation has its reason, a verdict or none, and results.
func (w *fixture) judged(t *testing.T, reasons map[string]string) {
	t.Helper()
	w.eventually(t, fmt.Sprintf("the reasons are %v", reasons), func(context.Context) error {
		found := w.verdicts(t)
		for name, want := range reasons {
			e, there := found[name]
			condition := meta.FindStatusCondition(e.Status.Conditions, v1alpha1.ConditionMet)
			if !there || condition == nil || condition.Reason != want || len(e.Status.Results) == 0 {
				return fmt.Errorf("%s has the status %+v", name, e.Status)
			}
			if got := condition.Status == metav1.ConditionTrue; got != (want == v1alpha1.ConditionMet) {
				t.Fatalf("%s is met: %t, with the reason %s", name, got, want)
			}
		}
		return nil
	})
}

func (w *fixture) verdicts(t *testing.T) map[string]v1alpha1.Expectation {
	t.Helper()
	var list v1alpha1.ExpectationList
	must(t, w.kube.List(t.Context(), &list))
	found := map[string]v1alpha1.Expectation{}
	for _, e := range list.Items {
		found[e.Name] = e
	}
	return found
}

func (w *fixture) eventually(t *testing.T, what string, condition func(context.Context) error) {
	t.Helper()
	must(t, system.Until(t.Context(), wholeWithin, what, condition))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
