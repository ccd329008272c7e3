package cluster

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

func contains(lines, line string) bool { return slices.Contains(strings.Split(lines, "\n"), line) }

// sandboxDeleted: a sandbox goes while its merchant runs, with its key and its rows, and nothing else goes.
func sandboxDeleted(t *testing.T, c *cluster) {
	m := c.merchant(team)
	c.kubectl(t, "delete", "sandboxenvironment", "--namespace", team, slow, "--timeout=30s")
	eventually(t, time.Minute, func() error {
		_, err := c.ask(t.Context(), http.MethodGet, "/api/v1/namespaces/"+team+"/secrets/"+slow+"-credentials", nil)
		if err == nil {
			return errors.New("the deleted sandbox's Secret is still there")
		}
		return nil
	})
	if status, answer := m.get(t, slow, "/payments"); status != http.StatusUnauthorized {
		t.Errorf("the deleted sandbox's key is answered %d %v", status, answer)
	}
	m.pay(t, shared, "after the deletion", unregistered, "success")
	d := c.database(t)
	if n := d.count(t, "select count(*) from organizations where namespace = $1 and name = $2", team, slow); n != 0 {
		t.Errorf("the deleted sandbox's organization is still there")
	}
	d.conserved(t)
}

// reinstalled: an uninstallation takes the programs and leaves what they worked on; an installation goes on from there.
func reinstalled(t *testing.T, c *cluster) {
	m := c.merchant(team)
	key, organization := c.secret(t, team, shared+"-credentials", "api-key"), c.sandbox(t, team, shared).Status.OrganizationID
	paid := m.pay(t, shared, "before the end", unregistered, "success")["id"].(string)
	d := c.database(t)
	d.drained(t, team)
	const balance = "select balance::int from floats f join organizations o using (tenant) where o.namespace = $1 and o.name = $2 and f.currency = 'RWF'"
	before := d.count(t, balance, team, shared)
	_ = d.Close(t.Context())

	c.helm(t, "uninstall", release, "--wait", "--timeout", "2m")
	for _, kept := range []string{
		"crd/sandboxenvironments.cauri.dev", "crd/testclients.cauri.dev", "secret/cauri-encryption", "secret/cauri-database", "secret/cauri-pin-key",
		"secret/cauri-credential-key", "persistentvolumeclaim/data-cauri-postgres-0",
	} {
		c.kubectl(t, "get", "--namespace", system, kept)
	}
	for _, kept := range []string{"sandboxenvironment/" + shared, "testclient/alice", "secret/" + shared + "-credentials"} {
		c.kubectl(t, "get", "--namespace", team, kept)
	}
	if left := c.pods(t); len(left) > 0 {
		c.gone(t, left)
	}

	begun := time.Now()
	c.install(t)
	c.rolledOut(t)
	c.kubectl(t, "wait", "--namespace", team, "--for=condition=Ready", "--timeout=60s", "sandboxenvironment/"+shared, "testclient/alice")
	c.measured("installed again over what was kept", "%.1f s", time.Since(begun).Seconds())
	if now := c.secret(t, team, shared+"-credentials", "api-key"); now != key {
		t.Error("the API key is another one")
	}
	if now := c.sandbox(t, team, shared).Status.OrganizationID; now != organization {
		t.Errorf("the organization is %s, no longer %s", now, organization)
	}
	if status, payment := m.get(t, shared, "/payments/"+paid); status != http.StatusOK || payment["status"] != "SUCCESS" {
		t.Errorf("the payment from before is answered %d %v", status, payment)
	}
	d = c.database(t)
	if now := d.count(t, balance, team, shared); now != before {
		t.Errorf("the float is %d, it was %d", now, before)
	}
	id := m.pay(t, shared, "after the beginning", alice, "")["id"].(string)
	if settled := m.settled(t, shared, id); settled["status"] != "SUCCESS" {
		t.Errorf("a payment ended %v", settled["status"])
	}
	m.told(t, shared, id, "payment.completed", "SUCCESS") // signed with the secret from before
	d.drained(t, team)
	d.conserved(t)
}
