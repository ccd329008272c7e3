package controllers_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/controllers"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

func TestTestClientIsRegistered(t *testing.T) {
	c := newCluster(t)
	c.start()
	c.create(c.newSandbox())
	alice := c.newTestClient("alice", "+250788000001", func(tc *v1alpha1.TestClient) {
		tc.Spec.Balance = 0
		tc.Spec.Behavior = "WrongPin"
		tc.Spec.State = v1alpha1.TestClientBlocked
	})
	c.create(alice)
	c.testClientReady(alice)

	want := v1alpha1.TestClientStatus{
		ObservedGeneration: 1,
		Conditions:         alice.Status.Conditions,
		Operator:           "mtn",
		Country:            "RW",
		Currency:           "RWF",
		Balance:            new(int64(0)),
	}
	if diff := cmp.Diff(want, alice.Status); diff != "" {
		t.Error(diff)
	}
	var got struct {
		name, msisdn, behavior string
		blocked                bool
	}
	c.row("select name, msisdn, behavior, blocked from sims", nil, &got.name, &got.msisdn, &got.behavior, &got.blocked)
	if got.name != "alice" || got.msisdn != "+250788000001" || got.behavior != "WrongPin" || !got.blocked {
		t.Errorf("the SIM is %+v", got)
	}
}

func TestTestClientBeforeItsSandbox(t *testing.T) {
	c := newCluster(t)
	c.start()
	alice := c.newTestClient("alice", "+250788000001")
	c.create(alice)
	c.testClientConditions(alice, "Ready False SandboxNotFound", "Reconciling True Retrying")
	const want = `The SandboxEnvironment "checkout" does not exist in this namespace. The TestClient waits for it.`
	if diff := cmp.Diff(want, message(alice.Status.Conditions, v1alpha1.ConditionReady)); diff != "" {
		t.Error(diff)
	}

	sandbox := c.newSandbox()
	c.create(sandbox)
	c.testClientReady(alice)
	c.until(func(context.Context) string {
		c.refresh(sandbox)
		return cmp.Diff(new(int64(1)), sandbox.Status.TestClients)
	})
	c.delete(alice)
	c.until(func(context.Context) string {
		c.refresh(sandbox)
		return cmp.Diff(new(int64(0)), sandbox.Status.TestClients)
	})
}

func TestTestClientWaitsForTheSandboxToBeInTheDatabase(t *testing.T) {
	c := newCluster(t)
	c.database.setUnavailable(true)
	c.start()
	c.create(c.newSandbox())
	alice := c.newTestClient("alice", "+250788000001")
	c.create(alice)
	c.testClientConditions(alice, "Ready False SandboxNotReady", "Reconciling True Retrying")

	c.database.setUnavailable(false)
	c.testClientReady(alice)
}

func TestTestClientStalls(t *testing.T) {
	for name, test := range map[string]struct {
		msisdn  string
		change  func(*v1alpha1.TestClient)
		message string
		mend    func(*v1alpha1.TestClient)
	}{
		"another country": {
			msisdn: "+33612345678",
			message: "the number +33612345678 belongs to none of the countries " + payments.AllOf(payments.Countries) +
				": write spec.operator and spec.country",
			mend: func(tc *v1alpha1.TestClient) { tc.Spec.Operator, tc.Spec.Country = "moov", "TG" },
		},
		"a country that the sandbox does not name": {
			msisdn:  "+254722000001",
			message: "the number +254722000001 belongs to none of the countries CI, RW, BJ and TG: write spec.operator and spec.country",
			mend:    func(tc *v1alpha1.TestClient) { tc.Spec.Operator, tc.Spec.Country = "mpesa", "KE" },
		},
		"another operator": {
			msisdn:  "+22870123456",
			message: "no known operator has the prefix of the number +22870123456: write spec.operator",
			mend:    func(tc *v1alpha1.TestClient) { tc.Spec.Operator = "moov" },
		},
		"an operator alone": {
			msisdn:  "+33612345678",
			change:  func(tc *v1alpha1.TestClient) { tc.Spec.Operator = "mtn" },
			message: "the country code of the number +33612345678 is not known: write spec.country",
			mend:    func(tc *v1alpha1.TestClient) { tc.Spec.Country = "BJ" },
		},
		"a digit short": {
			msisdn: "+225730000901",
			message: "+225730000901 has 9 digits after +225, and a number of CI has 10: delete the TestClient and create it again with the whole " +
				"number, or write spec.operator and spec.country",
			mend: func(tc *v1alpha1.TestClient) { tc.Spec.Operator, tc.Spec.Country = "orange", "CI" },
		},
		"airtel outside its country": {
			msisdn: "+2250512345678",
			change: func(tc *v1alpha1.TestClient) { tc.Spec.Operator = "airtel" },
			message: "airtel is available in " + payments.OneOf(payments.Airtel.Countries()) + " only, and the number +2250512345678 is not from there: " +
				"write country: " + payments.OneOf(payments.Airtel.Countries()) + ", or another operator",
			mend: func(tc *v1alpha1.TestClient) { tc.Spec.Country = "RW" },
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			c.start()
			c.create(c.newSandbox())
			testClient := c.newTestClient("alice", test.msisdn)
			if test.change != nil {
				test.change(testClient)
			}
			c.create(testClient)
			c.testClientConditions(testClient, "Ready False OperatorUnknown", "Stalled True OperatorUnknown")
			if diff := cmp.Diff(test.message, message(testClient.Status.Conditions, v1alpha1.ConditionStalled)); diff != "" {
				t.Error(diff)
			}
			edit(c, testClient, test.mend)
			c.testClientReady(testClient)
		})
	}
}

// A number of a market that the sandbox does not have pays nothing, which the status says until the sandbox has it.
func TestTestClientOfAMarketThatTheSandboxDoesNotHave(t *testing.T) {
	c := newCluster(t)
	c.start()
	sandbox := c.newSandbox()
	c.create(sandbox)
	dan := c.newTestClient("dan", "+2250700000005")
	c.create(dan)
	c.testClientReady(dan)
	says := func(want string) {
		t.Helper()
		c.until(func(context.Context) string {
			c.refresh(dan)
			return cmp.Diff(want, message(dan.Status.Conditions, v1alpha1.ConditionReady))
		})
	}
	says("Everything in the spec is applied. Not used: spec.msisdn (the sandbox has no environment orange in CI).")
	edit(c, sandbox, func(s *v1alpha1.SandboxEnvironment) {
		s.Spec.Environments = append(s.Spec.Environments, v1alpha1.Environment{Operator: "orange", Country: "CI"})
	})
	says("Everything in the spec is applied.")
}

// A number of a country that the sandbox does not name says nothing until the sandbox has an environment there. A TestClient that
// was registered then stays so without it.
func TestTestClientOfACountryThatTheSandboxNamesLater(t *testing.T) {
	c := newCluster(t)
	c.start()
	sandbox := c.newSandbox()
	c.create(sandbox)
	wanjiru := c.newTestClient("wanjiru", "+254722000001")
	c.create(wanjiru)
	c.testClientConditions(wanjiru, "Ready False OperatorUnknown", "Stalled True OperatorUnknown")
	edit(c, sandbox, func(s *v1alpha1.SandboxEnvironment) {
		s.Spec.Environments = append(s.Spec.Environments, v1alpha1.Environment{Operator: "mpesa", Country: "KE"})
	})
	c.testClientReady(wanjiru)
	if s := wanjiru.Status; s.Operator != "mpesa" || s.Country != "KE" || s.Currency != "KES" {
		t.Errorf("its SIM is of %s in %s, with %s", s.Operator, s.Country, s.Currency)
	}
	edit(c, sandbox, func(s *v1alpha1.SandboxEnvironment) {
		s.Spec.Environments = s.Spec.Environments[:len(s.Spec.Environments)-1]
	})
	c.until(func(context.Context) string {
		c.refresh(wanjiru)
		const want = "Everything in the spec is applied. Not used: spec.msisdn (the sandbox has no environment mpesa in KE)."
		return cmp.Diff(want, message(wanjiru.Status.Conditions, v1alpha1.ConditionReady))
	})
}

func TestDuplicateNumber(t *testing.T) {
	c := newCluster(t)
	c.start()
	c.create(c.newSandbox())
	holder, other := c.newTestClient("holder", "+250788000001"), c.newTestClient("other", "+250788000001")
	c.create(holder)
	c.testClientReady(holder)
	c.create(other)
	c.testClientConditions(other, "Ready False DuplicateMsisdn", "Stalled True DuplicateMsisdn")
	const want = `The TestClient "holder" of this sandbox already has the number +250788000001: delete "holder", and this one ` +
		`takes the number, or create this one again with another number.`
	if diff := cmp.Diff(want, message(other.Status.Conditions, v1alpha1.ConditionStalled)); diff != "" {
		t.Error(diff)
	}
	if other.Status.Balance != nil {
		t.Error("a TestClient without its number has a balance")
	}

	c.delete(holder)
	c.testClientReady(other)
	var name string
	c.row("select name from sims", nil, &name)
	if name != "other" {
		t.Errorf("the number belongs to %q", name)
	}
}

// TestGhostOfATestClient has the SIM of a TestClient in the registry that was deleted while no controller ran.
func TestGhostOfATestClient(t *testing.T) {
	for name, again := range map[string]bool{"another TestClient": false, "one of the same name": true} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			c.start()
			c.create(c.newSandbox())
			ghost := c.newTestClient("alice", "+250788000001")
			c.create(ghost)
			c.testClientReady(ghost)
			c.stop()
			c.delete(ghost)

			c.start()
			heir := c.newTestClient("heir", "+250788000001")
			if again {
				heir.Name = "alice"
			}
			c.create(heir)
			c.testClientReady(heir)
			if got := c.count("select count(*) from sims where sim_id = $1", string(heir.UID)); got != 1 {
				t.Error("the heir has no SIM")
			}
			if got := c.count("select count(*) from sims"); got != 1 {
				t.Errorf("there are %d SIMs", got)
			}
		})
	}
}

func TestTestClientEdits(t *testing.T) {
	c := newCluster(t)
	c.start()
	c.create(c.newSandbox())
	alice := c.newTestClient("alice", "+250788000001")
	c.create(alice)
	c.testClientReady(alice)

	edit(c, alice, func(tc *v1alpha1.TestClient) {
		tc.Spec.Balance = 9000
		tc.Spec.State = v1alpha1.TestClientBlocked
	})
	c.testClientReady(alice)
	if diff := cmp.Diff(new(int64(9000)), alice.Status.Balance); diff != "" {
		t.Error(diff)
	}
	if got := c.count("select count(*) from sims where blocked"); got != 1 {
		t.Error("the SIM is not blocked")
	}
}

func TestTestClientDeletion(t *testing.T) {
	c := newCluster(t)
	c.start()
	c.create(c.newSandbox())
	alice, lost := c.newTestClient("alice", "+250788000001"), c.newTestClient("lost", "+250788000002", func(tc *v1alpha1.TestClient) {
		tc.Spec.SandboxRef.Name = "elsewhere"
	})
	c.create(alice)
	c.create(lost)
	c.testClientReady(alice)
	c.testClientConditions(lost, "Ready False SandboxNotFound", "Reconciling True Retrying")
	c.delete(lost) // the database has nothing of it

	c.database.setUnavailable(true)
	c.delete(alice)
	c.database.setUnavailable(false)
	c.noSIMs()
}

func (c *cluster) noSIMs() {
	c.Helper()
	c.until(func(context.Context) string {
		if n := c.count("select count(*) from sims"); n > 0 {
			return fmt.Sprintf("%d SIMs are left", n)
		}
		return ""
	})
}

func TestTestClientDeletedWhileNoControllerRuns(t *testing.T) {
	c := newCluster(t)
	c.start()
	sandbox, alice := c.newSandbox(), c.newTestClient("alice", "+250788000001")
	c.create(sandbox)
	c.create(alice)
	c.testClientReady(alice)
	c.stop()
	c.delete(alice)

	c.start(func(o *controllers.Options) { o.Drift = 50 * time.Millisecond })
	c.noSIMs()
	c.until(func(context.Context) string {
		c.refresh(sandbox)
		return cmp.Diff(new(int64(0)), sandbox.Status.TestClients)
	})
}

// A TestClient that is held by a finalizer of others loses its SIM as soon as it is deleted.
func TestDeletedTestClientThatOthersHold(t *testing.T) {
	c := newCluster(t)
	c.start()
	c.create(c.newSandbox())
	alice := c.newTestClient("alice", "+250788000001", func(tc *v1alpha1.TestClient) { tc.Finalizers = []string{"example.com/held"} })
	c.create(alice)
	c.testClientReady(alice)
	if err := c.Delete(t.Context(), alice); err != nil {
		t.Fatal(err)
	}
	c.noSIMs()
	edit(c, alice, func(tc *v1alpha1.TestClient) { tc.Finalizers = nil })
	c.gone(alice)
}

// TestTestClientDeletedWhileItsSandboxIsApplied deletes a TestClient between the moment at which the controller reads it
// for a new sandbox and the moment at which its SIM is there.
func TestTestClientDeletedWhileItsSandboxIsApplied(t *testing.T) {
	c := newCluster(t)
	sandbox, alice := c.newSandbox(), c.newTestClient("alice", "+250788000001")
	c.create(sandbox)
	c.create(alice)
	deleted := &interruptedDatabase{faultyDatabase: c.database, before: func() {
		c.delete(alice)
		c.until(func(context.Context) string {
			if c.database.count("DeleteTestClient") == 0 {
				return "the deletion was not seen"
			}
			return ""
		})
	}}
	c.start(func(o *controllers.Options) { o.Database = deleted })
	c.sandboxReady(sandbox)
	c.until(func(context.Context) string {
		c.refresh(sandbox)
		return cmp.Diff(new(int64(0)), sandbox.Status.TestClients)
	})
	c.noSIMs()
	if n := deleted.sims.Load(); n != 1 {
		t.Errorf("the sandbox was applied with %d SIMs, want 1", n)
	}
}

// interruptedDatabase does something before it applies a sandbox for the first time.
type interruptedDatabase struct {
	*faultyDatabase
	before func()
	once   sync.Once
	sims   atomic.Int32
}

func (d *interruptedDatabase) ApplySandbox(ctx context.Context, config sandboxes.Config) (sandboxes.SandboxState, error) {
	d.once.Do(func() {
		d.sims.Store(int32(len(config.TestClients)))
		d.before()
	})
	return d.faultyDatabase.ApplySandbox(ctx, config)
}

func TestTestClientMadeAgainIsAnotherSIM(t *testing.T) {
	c := newCluster(t)
	c.start()
	c.create(c.newSandbox())
	first := c.newTestClient("alice", "+250788000001")
	c.create(first)
	c.testClientReady(first)
	c.row("update sims set balance = 1, changed_at = now() returning 1", nil, new(int))
	c.delete(first)

	second := c.newTestClient("alice", "+250788000001")
	c.create(second)
	c.testClientReady(second)
	if diff := cmp.Diff(new(int64(500)), second.Status.Balance); diff != "" {
		t.Error(diff)
	}
}

func TestTestClientsAreSelectableBySandbox(t *testing.T) {
	c := newCluster(t)
	for i, sandbox := range []string{"checkout", "elsewhere"} {
		c.create(c.newTestClient(sandbox, fmt.Sprintf("+25078800000%d", i), func(tc *v1alpha1.TestClient) {
			tc.Spec.SandboxRef.Name = sandbox
		}))
	}
	var list v1alpha1.TestClientList
	if err := c.List(
		t.Context(),
		&list,
		client.InNamespace(c.namespace),
		client.MatchingFields{"spec.sandboxRef.name": "elsewhere"},
	); err != nil {
		t.Fatal(err)
	}
	if len(list.Items) != 1 || list.Items[0].Name != "elsewhere" {
		t.Errorf("%d TestClients are selected", len(list.Items))
	}
}
