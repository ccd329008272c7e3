package cli

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/payments"
)

// withTestClients allows the key to change test clients.
func (f *fixture) withTestClients(allowed bool) {
	f.t.Helper()
	f.config.API.TestClients = allowed
	if _, err := f.store.ApplySandbox(f.t.Context(), f.config); err != nil {
		f.t.Fatal(err)
	}
	if err := f.directory.Refresh(f.t.Context()); err != nil {
		f.t.Fatal(err)
	}
}

// A test client is added, changed, and removed.
func TestClientsAreChanged(t *testing.T) {
	f := newFixture(t)
	const bob = "+250788000009"
	f.run("clients", "add", bob).want(t, ExitRefused, "spec.api.testClients")
	f.withTestClients(true)
	want := wire.TestClient{MSISDN: bob, Name: "bob", Source: "api", Operator: "mtn", Country: "RW", Currency: "RWF", State: "Active",
		Behavior: "WrongPin", Balance: 500}
	same := func(step string, got result) {
		t.Helper()
		got.want(t, ExitSuccess)
		if diff := cmp.Diff(want, decoded[wire.TestClient](t, got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step, diff)
		}
	}
	same("added", f.run("clients", "add", bob, "--name=bob", "--balance=500", "--behavior=wrongpin", "-o=json"))
	same("shown", f.run("clients", bob, "-o=json"))
	f.run("clients", "add", bob).want(t, ExitRefused, "duplicate_msisdn", "To change it: `cauri clients change "+bob+"`")
	want.Balance, want.State = 0, "Blocked"
	same("changed", f.run("clients", "change", bob, "--balance=0", "--state=blocked", "-o=json"))
	want.Name, want.Behavior, want.State = "", "Approve", "Active"
	same("changed again", f.run("clients", "change", bob, "--name=", "--behavior=Approve", "--state=Active", "-o=json"))
	f.run("clients").want(t, ExitSuccess, "NUMBER", bob, alice, "50000 RWF", "resource", "api")
	if names := f.run("clients", "-o=name"); names.out != alice+"\n"+manual+"\n"+bob+"\n" {
		t.Errorf("the numbers are %q", names.out)
	}
	f.run("clients", "change", alice, "--balance=5").want(t, ExitRefused, "managed_by_resource")
	f.run("clients", "remove", alice).want(t, ExitRefused, "managed_by_resource")
	f.run("clients", "remove", bob).want(t, ExitSuccess, bob, "It is removed.")
	for _, args := range []string{"clients " + bob, "clients change --balance=1 " + bob, "clients remove " + bob} {
		f.run(strings.Fields(args)...).want(t, ExitRefused, "not_found")
	}
	other := decoded[wire.TestClient](t, f.run("clients", "add", "+250688000003", "--operator=Mtn", "--country=rw", "-o=json"))
	if other.Operator != "mtn" || other.Behavior != string(payments.Approve) || other.Balance != 0 {
		t.Errorf("got %+v", other)
	}
}

func TestClientsSayWhatIsWrong(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"clients 0788000001":                         `"0788000001" is no number: write it with + and the code of its country`,
		"clients add":                                "NUMBER is missing",
		"clients add 250788000001":                   "is no number",
		"clients add +250788000001 --behavior=Pay":   "--behavior=Pay: write one of Approve, Cancel, WrongPin, Ignore, Manual",
		"clients add +250788000001 --state=Off":      "--state=Off: write one of Active, Blocked",
		"clients add +250788000001 --balance=-1":     "--balance=-1: write 0 or more",
		"clients change +250788000001":               "nothing to change: write one of --name, --balance, --behavior and --state",
		"clients change":                             "NUMBER is missing",
		"clients remove":                             "NUMBER is missing",
		"clients remove +250788000001 +250788000002": "one argument too many",
		"clients delete +250788000001":               "one argument too many",
		"clients --limit=0":                          "--limit=0",
		"numbers --outcome=FAILED":                   "--outcome=FAILED: write one of SUCCESS",
		"numbers --outcome=PENDING":                  "--outcome=PENDING: write one of SUCCESS",
	} {
		run(t, Options{}, append(strings.Fields(args), "--url=http://127.0.0.1:1", "--api-key=x")...).want(t, ExitUsage, want)
	}
}

// The plugin takes the name of a sandbox before the number.
func TestClientsOfThePlugin(t *testing.T) {
	f := newFixture(t)
	c := newCluster(t, f.url)
	for _, args := range [][]string{{"clients", alice}, {"clients", "checkout", alice}, {"clients", "checkout"}} {
		c.run(args...).want(t, ExitSuccess, alice)
	}
	completed := run(t, Options{Plugin: true}, "__complete", "clients", "remove", "checkout", "--kubeconfig="+c.kubeconfig, "+")
	if !strings.Contains(completed.out, alice+"\t") {
		t.Errorf("the completions are %q", completed.out)
	}
}

func TestNumbersByOutcome(t *testing.T) {
	f := newFixture(t)
	f.config.TestNumbers = payments.StandardTestNumbers
	f.withTestClients(false)
	found := entries[wire.TestNumber](t, f.run("numbers", "--outcome=timeout", "--country=rw", "-o=json"))
	if len(found) == 0 {
		t.Fatal("there are none")
	}
	for _, one := range found {
		if one.CollectionOutcome != "TIMEOUT" || one.Country != "RW" {
			t.Errorf("got %+v", one)
		}
	}
}
