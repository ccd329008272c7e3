package e2e

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/test/ports"
)

const (
	alice = "+250788000001"
	team  = "team-payments"
)

// sandboxYAML is what a platform team applies.
func sandboxYAML(name, webhook string) string {
	return fmt.Sprintf(`
apiVersion: cauri.dev/v1alpha1
kind: SandboxEnvironment
metadata: {name: %s, namespace: %s}
spec:
  environments:
  - {operator: mtn, country: RW, commissionBps: 150}
  - {operator: airtel, country: RW, enabled: false}
  - {operator: orange, country: CI, commissionBps: 250, merchantAbsorptionPct: 0, unknownMsisdnPolicy: passthrough}
  openingFloat: [{currency: RWF, amount: 10000}]
  stores: [{slug: shop}]
  webhook:
    url: %s/webhooks
    retryPolicy: {maxRetries: 3, initialDelay: 500ms, factor: 2, maxDelay: 5s}
  latencyPercent: 10
`, name, team, webhook)
}

func clientYAML(name, msisdn string, more string) string {
	return fmt.Sprintf(`
---
apiVersion: cauri.dev/v1alpha1
kind: TestClient
metadata: {name: %s, namespace: %s}
spec: {sandboxRef: {name: checkout}, msisdn: "%s"%s}
`, name, team, msisdn, more)
}

// TestFromApplyToSignedWebhook is the way of a new user, step by step. It is one test because it is one system.
func TestFromApplyToSignedWebhook(t *testing.T) {
	s := bringUp(t)
	hook := newReceiver(t)
	s.kube("create", "namespace", team)
	s.kube("get", "clusterrole", "cauri-view", "cauri-edit") // for people

	begun := time.Now()
	s.kubeWith(clientYAML("alice", alice, ", balance: 50000")+"---"+sandboxYAML("checkout", hook.URL), "apply", "-f", "-")
	s.kube("wait", "-n", team, "--for=condition=Ready", kubectlTimeout, "sandboxenvironment/checkout", "testclient/alice")
	t.Logf("apply to Ready: %s", time.Since(begun).Round(time.Millisecond))

	binding := s.kube("get", "sbx", "-n", team, "checkout", "-o", "jsonpath={.status.binding.name}")
	m := merchant{t: t, baseURL: s.secret(team, binding, "uri"), key: s.secret(team, binding, "api-key")}
	hook.trust(s.secret(team, binding, "webhook-signing-secret"))

	s.step("a payment settles and is told of", func(t *testing.T) { m.t = t; paymentSettles(t, s, m, hook) })
	s.step("every forced scenario", func(t *testing.T) { m.t = t; forcedScenarios(t, m, hook) })
	s.step("every kind of payer", func(t *testing.T) { m.t = t; payers(t, s, m, hook) })
	s.step("refunds and disbursements", func(t *testing.T) { m.t = t; payouts(t, m, hook) })
	s.step("bad input", func(t *testing.T) { m.t = t; badInput(t, s, m) })
	s.step("crashes", func(t *testing.T) { m.t = t; crashes(t, s, m, hook) })
	s.step("the key survives", func(t *testing.T) {
		s.kill("controller")
		s.up()
		s.kube("annotate", "sbx", "-n", team, "checkout", "touched=yes")
		s.kube("wait", "-n", team, "--for=condition=Ready", kubectlTimeout, "sbx/checkout")
		if now := s.secret(team, binding, "api-key"); now != m.key {
			t.Error("a restart of the controller changed the API key")
		}
	})
	if refused := hook.refusals(); len(refused) > 0 {
		t.Errorf("the receiver refused %d deliveries: %v", len(refused), refused)
	}
	s.step("money adds up", func(t *testing.T) { conserved(t, s) })
	s.step("conformance", func(t *testing.T) { conformance(t, s) })
	s.step("samples", func(*testing.T) { sampleFolders(s) })
	s.step("a pipeline", func(t *testing.T) { pipelineOfTheDocuments(t, s) })
	s.step("the actions", func(t *testing.T) { actionsInACluster(t, s) })
	s.step("deleting leaves nothing", func(t *testing.T) { m.t = t; deletion(t, s, m) })
	s.step("the plugin of kubectl", func(t *testing.T) { pluginOfKubectl(t, s) })
}

func paymentSettles(t *testing.T, s *system, m merchant, hook *receiver) {
	p := m.pay("first", alice, nil)
	representation := object{
		"status": "PENDING", "amount": 1000.0, "commission": 15.0, "netAmount": 985.0, "customerTotal": 1000.0,
		"merchantShare": 15.0, "customerShare": 0.0, "commissionMode": "merchant", "merchantAbsorptionPct": 100.0,
		"operator": "mtn", "country": "RW", "msisdn": alice, "type": "collection", "orderRef": "first", "scenario": nil,
	}
	for field, want := range representation {
		if p[field] != want {
			t.Errorf("%s is %v, want %v", field, p[field], want)
		}
	}
	id := p["id"].(string)
	if settled := m.settled(id); settled["status"] != "SUCCESS" || settled["completedAt"] == nil {
		t.Fatalf("it settled to %v", settled)
	}
	eventually(t, func() string {
		if n := len(hook.of(id)); n != 1 {
			return fmt.Sprintf("%d events arrived, want 1", n)
		}
		return ""
	})
	event := hook.of(id)[0]
	body := object{
		"event": "payment.completed", "status": "SUCCESS", "amount": "1000", "commission": "15.00", "net_amount": "985.00",
		"customer_total": "1000.00", "reference": "first", "scenario": nil,
	}
	for field, want := range body {
		if event[field] != want {
			t.Errorf("the event's %s is %v, want %v", field, event[field], want)
		}
	}
	eventually(t, func() string {
		balance := s.kube("get", "tc", "-n", team, "alice", "-o", "jsonpath={.status.balance}")
		if balance != "49000" {
			return "alice's balance in the status is " + balance + ", want 49000"
		}
		return ""
	})
	if n := s.count("select balance from floats where currency = 'RWF'"); n != 10985 {
		t.Errorf("the merchant has %d, want 10985", n)
	}
}

func forcedScenarios(t *testing.T, m merchant, hook *receiver) {
	want := map[string]string{
		"success": "SUCCESS", "pin_invalid": "PIN_INVALID", "low_balance": "INSUFFICIENT_FUNDS", "timeout": "TIMEOUT",
		"blocked": "ACCOUNT_BLOCKED", "cancelled": "USER_CANCELLED", "unknown_msisdn": "UNKNOWN_MSISDN",
		"limit_exceeded": "LIMIT_EXCEEDED", "maintenance": "SERVICE_UNAVAILABLE", "duplicate": "DUPLICATE_REFERENCE",
	}
	for scenario, status := range want {
		t.Run(scenario, func(t *testing.T) {
			t.Parallel()
			m := merchant{t: t, baseURL: m.baseURL, key: m.key}
			ends(t, m, hook, m.pay("scenario-"+scenario, alice, object{"scenario": scenario}), status)
		})
	}
}

// ends checks a payment's final status and its one event.
func ends(t *testing.T, m merchant, hook *receiver, p object, status string) {
	t.Helper()
	id := p["id"].(string)
	if p = m.settled(id); p["status"] != status {
		t.Fatalf("it ended %v, want %s", p["status"], status)
	}
	if raw, _ := p["raw"].(object); raw["_simulated"] != true {
		t.Errorf("raw is %v", p["raw"])
	}
	eventually(t, func() string {
		if events := hook.of(id); len(events) != 1 || events[0]["status"] != status {
			return fmt.Sprintf("the events are %v, want one with %s", events, status)
		}
		return ""
	})
}

func payers(t *testing.T, s *system, m merchant, hook *receiver) {
	s.kubeWith(strings.Join([]string{
		clientYAML("blocked", "+250788000002", ", balance: 50000, state: Blocked"),
		clientYAML("poor", "+250788000003", ", balance: 999"),
		clientYAML("canceller", "+250788000004", ", balance: 50000, behavior: Cancel"),
		clientYAML("forgetful", "+250788000005", ", balance: 50000, behavior: WrongPin"),
		clientYAML("ignorer", "+250788000006", ", balance: 50000, behavior: Ignore"),
		clientYAML("by-hand", "+250788000007", ", balance: 50000, behavior: Manual"),
	}, ""), "apply", "-f", "-")
	s.kube("wait", "-n", team, "--for=condition=Ready", kubectlTimeout, "tc", "--all")
	cases := map[string]struct {
		msisdn, status string
		more           object
	}{
		"blocked":                 {"+250788000002", "ACCOUNT_BLOCKED", nil},
		"poor":                    {"+250788000003", "INSUFFICIENT_FUNDS", nil},
		"unregistered":            {"+250788999999", "UNKNOWN_MSISDN", nil},
		"cancelling":              {"+250788000004", "USER_CANCELLED", nil},
		"with a wrong PIN":        {"+250788000005", "PIN_INVALID", nil},
		"unregistered, passed on": {"+2250700000001", "SUCCESS", object{"currency": "XOF"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := merchant{t: t, baseURL: m.baseURL, key: m.key}
			ends(t, m, hook, m.pay("payer "+name, c.msisdn, c.more), c.status)
		})
	}
	for name, msisdn := range map[string]string{"ignoring": "+250788000006", "by hand": "+250788000007"} {
		id := m.pay("payer "+name, msisdn, nil)["id"].(string)
		eventually(t, func() string { // it was due, and nobody answered
			if n := s.count("select count(*) from transactions where reference = $1 and due_at = expires_at", "payer "+name); n != 1 {
				return "the payment was not looked at yet"
			}
			return ""
		})
		if _, p := m.call(http.MethodGet, "/payments/"+id, nil); p["status"] != "PENDING" {
			t.Errorf("%s: it is %v, want PENDING", name, p["status"])
		}
	}
}

// payouts sends money the other way: part of a payment back to its payer, and some to another number.
func payouts(t *testing.T, m merchant, hook *receiver) {
	paid := m.pay("to be refunded", alice, object{"scenario": "success"})["id"].(string)
	status, refund := m.call(http.MethodPost, "/payments/"+paid+"/refund", object{"amount": 400})
	if status != http.StatusCreated || refund["status"] != "SUCCESS" || refund["parentTxId"] != paid || refund["amount"] != 400.0 {
		t.Fatalf("the refund was answered %d %v", status, refund)
	}
	if _, parent := m.call(http.MethodGet, "/payments/"+paid, nil); parent["refundableAmount"] != 600.0 {
		t.Errorf("%v of the payment is left to refund, want 600", parent["refundableAmount"])
	}
	status, sent := m.call(http.MethodPost, "/disbursements", object{
		"amount": 250, "currency": "RWF", "operator": "mtn", "country": "RW", "msisdn": alice, "application": "shop",
	})
	if status != http.StatusOK || sent["status"] != "SUCCESS" || sent["recipient_balance_after"] == nil {
		t.Fatalf("the disbursement was answered %d %v", status, sent)
	}
	for id, event := range map[string]string{refund["id"].(string): "payment.refunded", sent["tx_id"].(string): "disbursement.completed"} {
		eventually(t, func() string {
			if events := hook.of(id); len(events) != 1 || events[0]["event"] != event {
				return fmt.Sprintf("the events of %s are %v, want one %s", id, events, event)
			}
			return ""
		})
	}
	if _, list := m.call(http.MethodGet, "/payments?type=refund", nil); len(list["data"].([]any)) != 1 {
		t.Errorf("the list of refunds is %v", list)
	}
}

// conformance holds the running system against the specification, rule by rule, with the program that users have for that.
func conformance(t *testing.T, s *system) {
	fixtures, err := os.ReadFile(s.root + "/test/conformance/sandbox.yaml")
	if err != nil {
		t.Fatal(err)
	}
	listen := "127.0.0.1:" + ports.ForTest(t)
	yaml := strings.ReplaceAll(string(fixtures), "127.0.0.1:9099", listen)
	begun := time.Now()
	s.kubeWith(yaml, "apply", "-f", "-")
	s.kube("wait", "--for=condition=Ready", kubectlTimeout, "sbx/conformance")
	t.Logf("apply to Ready on a warm system: %s", time.Since(begun).Round(time.Millisecond))
	s.kube("wait", "--for=condition=Ready", kubectlTimeout, "tc", "--all")
	command := exec.CommandContext(t.Context(), "go", "run", "./test/conformance",
		"-url", s.secret("default", "conformance-credentials", "uri"), "-key", s.secret("default", "conformance-credentials", "api-key"),
		"-timeout", "30m", "-webhook", listen, "-secret", s.secret("default", "conformance-credentials", "webhook-signing-secret"))
	command.Dir = s.root
	out, err := command.CombinedOutput()
	if err != nil || !strings.Contains(string(out), " 0 not checked") {
		t.Errorf("the suite found differences from the specification, or left something out: %v\n%s", err, out)
	}
	s.kubeWith(yaml, "delete", "-f", "-", kubectlTimeout)
}

func badInput(t *testing.T, s *system, m merchant) {
	refused := map[string]struct{ yaml, want string }{
		"airtel outside Rwanda": {
			strings.Replace(sandboxYAML("bad", "http://x"), "operator: airtel, country: RW", "operator: airtel, country: CI", 1),
			"RW",
		},
		"no environments": {
			"apiVersion: cauri.dev/v1alpha1\nkind: SandboxEnvironment\nmetadata: {name: bad, namespace: " + team + "}\nspec: {environments: []}",
			"at least 1",
		},
		"rate above the whole": {strings.Replace(sandboxYAML("bad", "http://x"), "commissionBps: 150", "commissionBps: 10001", 1), "10000"},
		"webhook without http": {sandboxYAML("bad", "ftp://x"), "http"},
		"no telephone number":  {clientYAML("bad", "0788000001", ""), "+"},
		"another number":       {clientYAML("alice", "+250788000009", ""), "cannot be changed"},
	}
	for name, c := range refused {
		out, err := s.try(c.yaml, "apply", "-f", "-")
		if err == nil {
			t.Errorf("%s: it was accepted: %s", name, out)
		} else if !strings.Contains(out, c.want) {
			t.Errorf("%s: the refusal does not speak of %q: %s", name, c.want, out)
		}
	}
	status, answer := m.call(http.MethodPost, "/payments", `{"amount": "lots"}`)
	detail, _ := answer["detail"].(object)
	fields, _ := detail["fieldErrors"].(object)
	if status != 400 || answer["error"] != "invalid_body" || fields["amount"] == nil || fields["msisdn"] == nil {
		t.Errorf("a bad body was answered %d %v", status, answer)
	}
}

// crashes kills the api and the worker between the creation of payments and their settlement.
func crashes(t *testing.T, s *system, m merchant, hook *receiver) {
	for _, part := range []string{"worker", "api"} {
		var ids []string
		for i := range 10 {
			ids = append(ids, m.pay(fmt.Sprintf("crash of the %s %d", part, i), alice, nil)["id"].(string))
		}
		s.kill(part)
		s.up()
		for _, id := range ids {
			if p := m.settled(id); p["status"] != "SUCCESS" {
				t.Errorf("%s ended %v after a crash of the %s", id, p["status"], part)
			}
		}
		// A lease that the worker held when it died has to end first.
		eventually(t, func() string {
			for _, id := range ids {
				if n := len(hook.of(id)); n != 1 {
					return fmt.Sprintf("%s has %d events after a crash of the %s, want 1", id, n, part)
				}
			}
			return ""
		})
	}
}

func conserved(t *testing.T, s *system) {
	wrong := s.count(`select
		(select count(*) from floats f where balance <>
		  (select coalesce(sum(delta), 0) from adjustments a where a.tenant = f.tenant and a.currency = f.currency) +
		  (select coalesce(sum(merchant_delta), 0) from transactions t where t.tenant = f.tenant and t.float_currency = f.currency)) +
		(select count(*) from sims s where balance <>
		  (select coalesce(sum(delta), 0) from adjustments a where a.tenant = s.tenant and a.sim_id = s.sim_id) +
		  (select coalesce(sum(sim_delta), 0) from transactions t where t.tenant = s.tenant and t.sim_id = s.sim_id))`)
	if wrong != 0 {
		t.Errorf("%d balances are not the sum of what moved them", wrong)
	}
}

func deletion(t *testing.T, s *system, m merchant) {
	s.kube("delete", "sbx", "-n", team, "checkout", kubectlTimeout)
	for _, table := range []string{"organizations", "environments", "stores", "api_keys", "floats", "sims", "adjustments", "transactions", "events", "delivery_attempts"} {
		if n := s.count("select count(*) from " + table); n != 0 {
			t.Errorf("%s has %d rows left", table, n)
		}
	}
	eventually(t, func() string { // the api reads the configuration now and then
		if status, answer := m.call(http.MethodGet, "/payments/TX_00000000000000000000000000", nil); status != 401 {
			return fmt.Sprintf("the deleted sandbox's key is answered %d %v, want 401", status, answer)
		}
		return ""
	})
	if out, err := s.try("", "get", "secret", "-n", team, "checkout-credentials"); err == nil {
		eventually(t, func() string {
			if out, err = s.try("", "get", "secret", "-n", team, "checkout-credentials"); err == nil {
				return "the Secret is still there: " + out
			}
			return ""
		})
	}
	eventually(t, func() string {
		reason := s.kube("get", "tc", "-n", team, "alice", "-o", `jsonpath={.status.conditions[?(@.type=="Ready")].reason}`)
		if reason != "SandboxNotFound" {
			return "alice's TestClient says " + reason + ", want SandboxNotFound"
		}
		return ""
	})
	s.kube("delete", "tc", "-n", team, "--all", kubectlTimeout)
}
