package cluster

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/test/cluster/merchantapi"
)

// merchantWorks: a merchant takes a payment, is told of it, gives a part back and pays out; the resources follow.
func merchantWorks(t *testing.T, c *cluster) {
	m := c.merchant(team)
	paid := m.pay(t, shared, "order-1", alice, "")
	if paid["status"] != "PENDING" || paid["netAmount"] != 985.0 {
		t.Fatalf("the payment is %v", paid)
	}
	id := paid["id"].(string)
	if settled := m.settled(t, shared, id); settled["status"] != "SUCCESS" {
		t.Fatalf("the payment ended %v", settled)
	}
	m.told(t, shared, id, "payment.completed", "SUCCESS")

	status, refund := m.post(t, shared, "/payments/"+id+"/refund", object{"amount": 400, "reference": "order-1-back"})
	if status != http.StatusCreated || refund["status"] != "SUCCESS" || refund["parentTxId"] != id {
		t.Fatalf("the refund was answered %d %v", status, refund)
	}
	m.told(t, shared, refund["id"].(string), "payment.refunded", "SUCCESS")

	status, sent := m.post(t, shared, "/disbursements", object{"amount": 250, "currency": "RWF", "operator": "mtn", "country": "RW",
		"msisdn": bob, "application": "shop", "reference": "salary-1"})
	if status != http.StatusOK || sent["status"] != "SUCCESS" {
		t.Fatalf("the disbursement was answered %d %v", status, sent)
	}
	m.told(t, shared, sent["tx_id"].(string), "disbursement.completed", "SUCCESS")

	for name, want := range map[string]int64{"alice": 50000 - 1000 + 400, "bob": 250} {
		eventually(t, time.Minute, func() error {
			if balance := c.balance(t, team, name); balance != want {
				return fmt.Errorf("the status of %s shows a balance of %d, not %d", name, balance, want)
			}
			return nil
		})
	}
	const want = 1000000 + 985 /* the first payment */ + 985 - 400 - 250
	eventually(t, time.Minute, func() error {
		if now := c.float(t, team, shared); now != want {
			return fmt.Errorf("the status of the sandbox shows a float of %d, not %d", now, want)
		}
		return nil
	})
	t.Log(c.kubectl(t, "get", "sbx,tc", "--namespace", team))
	d := c.database(t)
	d.drained(t, team)
	d.conserved(t)
	d.delivered(t, m, shared)
}

const apis = "/apis/cauri.dev/v1alpha1/namespaces/"

func (c *cluster) sandbox(t *testing.T, namespace, name string) (sandbox v1alpha1.SandboxEnvironment) {
	t.Helper()
	c.resource(t, apis+namespace+"/sandboxenvironments/"+name, &sandbox)
	return sandbox
}

// float is the merchant's balance in francs, as the resource shows it, or -1.
func (c *cluster) float(t *testing.T, namespace, name string) int64 {
	t.Helper()
	for _, money := range c.sandbox(t, namespace, name).Status.Balances {
		if money.Currency == "RWF" {
			return money.Amount
		}
	}
	return -1
}

// balance is that of a SIM, as the resource shows it, or -1.
func (c *cluster) balance(t *testing.T, namespace, name string) int64 {
	t.Helper()
	var client v1alpha1.TestClient
	c.resource(t, apis+namespace+"/testclients/"+name, &client)
	if client.Status.Balance == nil {
		return -1
	}
	return *client.Status.Balance
}

const other = "team-shop" // of another merchant, with a sandbox of the same name

// isolated: the key of one team's sandbox opens nothing of another's.
func isolated(t *testing.T, c *cluster) {
	c.apply(t, namespaceYAML(other)+sandboxYAML(other, shared, 0)+merchantYAML(other, shared))
	c.ready(t, other)
	first, second := c.merchant(team), c.merchant(other)
	theirs := first.pay(t, shared, "theirs", unregistered, "success")["id"].(string)
	ours := second.pay(t, shared, "theirs", unregistered, "success")["id"].(string) // the reference is free here
	second.told(t, shared, ours, "payment.completed", "SUCCESS")
	if status, answer := second.get(t, shared, "/payments/"+theirs); status != http.StatusNotFound {
		t.Errorf("the other team's payment is answered %d %v", status, answer)
	}
	if _, list := second.get(t, shared, "/payments"); len(list["data"].([]any)) != 1 {
		t.Errorf("the second sandbox lists %v, not its one payment", list)
	}
	for _, arrival := range second.arrivals(t, shared).Events {
		if arrival.TransactionID != ours {
			t.Errorf("the second merchant was told of %s", arrival.TransactionID)
		}
	}
	uri := c.secret(t, team, shared+"-credentials", "uri")
	if !strings.Contains(uri, team) {
		t.Fatalf("the base URL %s does not name its namespace", uri)
	}
	// The second merchant's own key at the first one's address.
	call := merchantapi.Call{Binding: shared, Method: http.MethodGet, Path: "/payments", URI: uri}
	if status, answer := second.call(t, call, nil); status != http.StatusUnauthorized {
		t.Errorf("the key of %s is answered %d %v at the sandbox of %s", other, status, answer, team)
	}
}
