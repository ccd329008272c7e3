package cluster

import (
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/test/cluster/merchantapi"
)

// workerKilled: a worker dies with settlements and deliveries on their way, and its pod goes.
func workerKilled(t *testing.T, c *cluster) {
	const load, rate = "worker", 60
	m := c.merchant(team)
	m.begin(t, load, merchantapi.Plan{Rate: rate, Steps: []merchantapi.Step{
		{Binding: shared, Action: merchantapi.Pay, MSISDN: unregistered, Scenario: "success"},
		{Binding: shared, Action: merchantapi.Pay, MSISDN: carol},
	}})
	m.answered(t, load, 2*rate)
	victim := c.pods(t, "worker")[0]
	m.ask(t, http.MethodPut, "/behavior", merchantapi.Behavior{AcknowledgeAfter: 5 * time.Second}, nil)
	came := len(m.arrivals(t, shared).Events)
	eventually(t, time.Minute, func() error { // what comes from now on is on its way for 5 s
		if len(m.arrivals(t, shared).Events) == came {
			return errors.New("no event has come since")
		}
		return nil
	})
	c.crash(t, victim)
	killed := time.Now()
	c.kubectl(t, "delete", "pod", "--namespace", system, victim.Name, "--wait=false")
	m.answered(t, load, m.report(t, load).Answered+3*rate)
	report := m.end(t, load)
	unharmed(t, report) // the api had no part in it
	m.ask(t, http.MethodPut, "/behavior", merchantapi.Behavior{}, nil)

	d := c.database(t)
	d.drained(t, team)
	c.measured("worker killed: all settled and delivered", "%.0f s after it", time.Since(killed).Seconds())
	d.conserved(t)
	d.kept(t, team, report.Acknowledged)
	if d.delivered(t, m, shared) == 0 {
		t.Error("no event came twice, so none was on its way when the worker was killed: the test tested nothing")
	}
	c.rolledOut(t)
}

// databaseKilled: the database's processes die under load and are started again in place; then its pod goes and finds no place for
// a while. Clients are told when to come again, resources say what is the matter, and all of it ends by itself.
func databaseKilled(t *testing.T, c *cluster) {
	const load, rate = "database", 10
	m := c.merchant(team)
	before := c.processes(t)
	m.begin(t, load, merchantapi.Plan{Rate: rate, Insist: true, Steps: []merchantapi.Step{
		{Binding: shared, Action: merchantapi.Pay, MSISDN: unregistered, Scenario: "success"},
		{Binding: shared, Action: merchantapi.Pay, MSISDN: carol},
		{Binding: shared, Action: merchantapi.Disburse, MSISDN: bob},
	}})
	m.answered(t, load, 2*rate)

	c.crash(t, c.pods(t, "postgres")[0])
	c.measured("database killed: 503 for", "%.1f s", m.recovered(t, load, time.Time{}).Seconds())

	c.kubectl(t, "cordon", "--selector=kubernetes.io/os")
	second := time.Now()
	c.kubectl(t, "delete", "pod", "--namespace", system, "cauri-postgres-0")
	c.says(t, shared, metav1.ConditionFalse, v1alpha1.ReasonDatabaseUnavailable)
	c.kubectl(t, "uncordon", "--selector=kubernetes.io/os")
	m.recovered(t, load, second)
	started := c.pods(t, "postgres")[0].Status.ContainerStatuses[0].State.Running.StartedAt
	c.measured(
		"database pod moved: first payment",
		"%.0f s after its new container started",
		m.report(t, load).Recovered.Sub(started.Time).Seconds(),
	)
	c.says(t, shared, metav1.ConditionTrue, "")

	m.answered(t, load, m.report(t, load).Answered+rate)
	report := m.end(t, load)
	unharmed(t, report)
	if report.Unavailable == 0 {
		t.Error("nobody was answered 503: the test tested nothing")
	}
	c.measured("  answers 503, each with Retry-After", "%d", report.Unavailable)
	after := c.processes(t)
	if restarts(after) != restarts(before) || fmt.Sprint(uids(after)) != fmt.Sprint(uids(before)) {
		t.Errorf("Cauri's pods were started again: %d restarts, %d before", restarts(after), restarts(before))
	}
	d := c.database(t)
	d.drained(t, team)
	d.conserved(t)
	d.kept(t, team, report.Acknowledged)
	d.delivered(t, m, shared)
	c.rolledOut(t)
}

// recovered waits until a load has results again after it was answered 503 later than a moment, and returns how long it was
// answered so.
func (m merchant) recovered(t *testing.T, load string, later time.Time) time.Duration {
	t.Helper()
	var report merchantapi.Report
	eventually(t, 90*time.Second, func() error {
		report = m.report(t, load)
		if report.Last.Before(later) || report.Unavailable == 0 || report.Recovered.IsZero() {
			return fmt.Errorf("%d answers 503, the last at %s; recovered at %s", report.Unavailable, report.Last, report.Recovered)
		}
		return nil
	})
	return report.Recovered.Sub(report.First)
}

// says waits until a sandbox's condition DatabaseReady has a status, and a reason if one is given.
func (c *cluster) says(t *testing.T, sandbox string, status metav1.ConditionStatus, reason string) {
	t.Helper()
	eventually(t, time.Minute, func() error {
		condition := meta.FindStatusCondition(c.sandbox(t, team, sandbox).Status.Conditions, v1alpha1.ConditionDatabaseReady)
		if condition == nil || condition.Status != status || reason != "" && condition.Reason != reason {
			return fmt.Errorf("the sandbox's DatabaseReady is %+v, not %s %s", condition, status, reason)
		}
		return nil
	})
}
