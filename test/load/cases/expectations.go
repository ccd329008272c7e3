package cases

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/test/load/bench"
	"github.com/cauri-dev/cauri/test/system"
)

const (
	expectingSandboxes = 100
	openExpectations   = 10 // of each sandbox
)

// expectations measures the processor time that open Expectations cost while nothing happens in their sandboxes.
func expectations(ctx context.Context, b *bench.Bench) error {
	s := &installation{Bench: b}
	defer func() {
		if s.cluster != nil {
			s.cluster.stop()
		}
	}()
	if err := s.install(ctx, b.Settings.Size(expectingSandboxes)); err != nil {
		return err
	}
	resources := len(s.sandboxes) * (1 + simsPerSandbox)
	without, err := s.atRest(ctx, resources)
	if err != nil {
		return err
	}
	open := len(s.sandboxes) * openExpectations
	if err := s.expect(ctx, open); err != nil {
		return err
	}
	with, err := s.atRest(ctx, resources+open)
	if err != nil {
		return err
	}
	if err := s.areOpen(ctx, open); err != nil {
		return err
	}
	b.Figure("sandboxes", float64(len(s.sandboxes)), "")
	b.Figure("open expectations", float64(open), "")
	cost := 0.0
	for _, name := range append(oursAtRest(), ownOfPostgres) {
		b.Figure(name+": processor time without", without[name], "% of a core")
		b.Figure(name+": processor time with", with[name], "% of a core")
		cost += with[name] - without[name]
	}
	b.Target("the expectations: processor time of api, worker, controller and Postgres", cost, "% of a core", 1)
	return nil
}

// expect makes so many Expectations of payments that do not come, and waits until each was evaluated.
func (s *installation) expect(ctx context.Context, count int) error {
	err := bench.InParallel(ctx, count, makersAtOnce, func(ctx context.Context, i int) error {
		paid := v1alpha1.ExpectedWhere{OrderRef: fmt.Sprintf("order-%d", i), Type: "collection", Status: "SUCCESS"}
		return s.cluster.Create(ctx, &v1alpha1.Expectation{
			ObjectMeta: metav1.ObjectMeta{Namespace: system.Namespace, Name: fmt.Sprintf("paid-once-%d", i)},
			Spec: v1alpha1.ExpectationSpec{
				SandboxRef: v1alpha1.SandboxReference{Name: fmt.Sprintf("s%d", i/openExpectations)}, Within: "24h",
				Expect: []v1alpha1.ExpectedLine{
					{Transactions: &v1alpha1.ExpectedTransactions{Where: &paid, Count: intstr.FromInt32(1)}},
					{Events: &v1alpha1.ExpectedEvents{
						Where: &v1alpha1.ExpectedEventWhere{ExpectedWhere: paid}, State: "delivered", Count: intstr.FromInt32(1),
					}},
					{NothingElse: new(true)},
				},
			},
		})
	})
	if err != nil {
		return err
	}
	return system.Until(ctx, controllerStarts, "all expectations are evaluated", func(ctx context.Context) error {
		return s.areOpen(ctx, count)
	})
}

// areOpen returns an error unless so many Expectations were evaluated and are not decided.
func (s *installation) areOpen(ctx context.Context, count int) error {
	open, err := s.Count(ctx, "select count(*) from expectations where due_at is not null and evaluated_at > 'epoch'")
	if err == nil && open != int64(count) {
		err = fmt.Errorf("%d of %d are open", open, count)
	}
	return err
}
