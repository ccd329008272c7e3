package e2e

import (
	"fmt"
	"net/http"
	"syscall"
	"testing"
	"time"
)

// outage is how long a part of the system is away.
const outage = 30 * time.Second

// TestOutages takes away what the system stands on, one after the other, and gives it back.
func TestOutages(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes minutes")
	}
	s := bringUp(t)
	hook := newReceiver(t)
	s.kube("create", "namespace", team)
	s.kubeWith(clientYAML("alice", alice, ", balance: 1000000")+"---"+sandboxYAML("checkout", hook.URL), "apply", "-f", "-")
	s.kube("wait", "-n", team, "--for=condition=Ready", kubectlTimeout, "sandboxenvironment/checkout", "testclient/alice")
	m := merchant{t: t, baseURL: s.secret(team, "checkout-credentials", "uri"), key: s.secret(team, "checkout-credentials", "api-key")}
	hook.trust(s.secret(team, "checkout-credentials", "webhook-signing-secret"))

	s.step("the Kubernetes API", func(t *testing.T) { m.t = t; kubernetesAway(t, s, m, hook) })
	s.step("the database", func(t *testing.T) { m.t = t; databaseUnavailable(t, s, m, hook) })
	conserved(t, s)
	if refused := hook.refusals(); len(refused) > 0 {
		t.Errorf("the receiver refused %d deliveries: %v", len(refused), refused)
	}
}

// kubernetesAway: payments, their settlement and their webhooks go on untouched.
func kubernetesAway(t *testing.T, s *system, m merchant, hook *receiver) {
	s.kill("kube-apiserver")
	began := time.Now()
	for i := 0; time.Since(began) < outage; i++ {
		id := m.pay(fmt.Sprintf("without Kubernetes %d", i), alice, nil)["id"].(string)
		if p := m.settled(id); p["status"] != "SUCCESS" {
			t.Fatalf("%s ended %v", id, p["status"])
		}
		arrived(t, hook, id)
	}
	s.up()
	// The controller is at work again: a change takes effect.
	s.kube("patch", "sbx", "-n", team, "checkout", "--type=merge", "--patch", `{"spec":{"latencyPercent":5}}`)
	s.kube("wait", "-n", team, "--for=condition=Ready", kubectlTimeout, "sbx/checkout")
}

// databaseUnavailable: the API says so and when to come again, the resources say so, what was deleted goes later, and all
// of it ends by itself.
func databaseUnavailable(t *testing.T, s *system, m merchant, hook *receiver) {
	s.kubeWith(clientYAML("bob", "+250788000002", ", balance: 5"), "apply", "-f", "-")
	s.kube("wait", "-n", team, "--for=condition=Ready", kubectlTimeout, "tc/bob") // they come back one by one
	waiting := m.pay("before the outage", alice, nil)["id"].(string)
	s.signal("postgres", syscall.SIGINT) // a fast shutdown
	began := time.Now()
	eventually(t, func() string {
		status, answer, err := m.try(http.MethodGet, "/payments/"+waiting, nil)
		if err != nil || status != http.StatusServiceUnavailable || answer["error"] != "unavailable" {
			return fmt.Sprintf("reading a payment is answered %d %v %v, want 503 unavailable", status, answer, err)
		}
		return ""
	})
	s.kube("delete", "tc", "-n", team, "bob")
	eventually(t, func() string {
		got := s.kube(
			"get",
			"sbx",
			"-n",
			team,
			"checkout",
			"-o",
			`jsonpath={.status.conditions[?(@.type=="DatabaseReady")].status} {.status.conditions[?(@.type=="DatabaseReady")].reason}`,
		)
		if got != "False DatabaseUnavailable" {
			return "DatabaseReady is " + got
		}
		return ""
	})
	time.Sleep(outage - time.Since(began)) // the length of the outage is the case itself
	s.up()
	if p := m.settled(waiting); p["status"] != "SUCCESS" {
		t.Errorf("the payment from before ended %v", p["status"])
	}
	arrived(t, hook, waiting)
	s.kube("wait", "-n", team, "--for=condition=Ready", kubectlTimeout, "sbx/checkout", "tc/alice")
	s.kube("wait", "-n", team, "--for=jsonpath={.status.testClients}=1", kubectlTimeout, "sbx/checkout") // bob is gone there, too
}

// arrived waits for the one event of a transaction.
func arrived(t *testing.T, hook *receiver, id string) {
	t.Helper()
	eventually(t, func() string {
		if n := len(hook.of(id)); n != 1 {
			return fmt.Sprintf("%s has %d events, want 1", id, n)
		}
		return ""
	})
}
