package localapi

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/clock"

	"github.com/cauri-dev/cauri/controllers"
	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/server/payments"
)

const (
	checkout = `
apiVersion: cauri.dev/v1alpha1
kind: SandboxEnvironment
metadata: {name: checkout}
spec:
  environments: [{operator: mtn, country: RW}]
  openingFloat: [{currency: RWF, amount: 1000}]
`
	alice = `---
apiVersion: cauri.dev/v1alpha1
kind: TestClient
metadata: {name: alice}
spec: {sandboxRef: {name: checkout}, msisdn: "+250788123456", balance: 500}
`
	operator = `---
apiVersion: v1
kind: Secret
metadata: {name: airtel}
stringData: {client_id: me, client_secret: secret}
`
)

func TestApply(t *testing.T) {
	t.Parallel()
	p := start(t, Options{})
	poorAlice := strings.Replace(alice, "balance: 500", "balance: 5", 1)
	bob := strings.ReplaceAll(alice, "alice", "bob") // with the number of alice, who goes
	withOperator := strings.Replace(checkout, "spec:", `spec:
  stores: [{slug: shop, operatorCredentials: [{operator: mtn, country: RW, secretRef: {name: airtel}}]}]`, 1)
	const sandbox, client = "sandboxenvironment.cauri.dev/checkout ", "testclient.cauri.dev/"
	for _, step := range []struct {
		text string
		want []string
	}{
		{checkout + alice, []string{sandbox + "created", client + "alice created"}},
		{checkout + alice, []string{sandbox + "unchanged", client + "alice unchanged"}},
		{checkout + poorAlice, []string{sandbox + "unchanged", client + "alice configured"}},
		{checkout + bob, []string{client + "alice deleted", sandbox + "unchanged", client + "bob created"}},
		{withOperator + operator, []string{client + "bob deleted", sandbox + "configured", "secret/airtel created"}},
		{withOperator + operator, []string{sandbox + "unchanged", "secret/airtel unchanged"}},
		{strings.ReplaceAll(checkout, "checkout", "other"), []string{
			"secret/airtel deleted", sandbox + "deleted", "sandboxenvironment.cauri.dev/other created",
		}},
	} {
		if diff := cmp.Diff(step.want, p.apply(step.text)); diff != "" {
			t.Error(diff)
		}
		if strings.Contains(step.text, "balance: 5}") {
			if balance := p.TestClients()[0].Status.Balance; *balance != 5 {
				t.Errorf("the balance is %d", *balance)
			}
		}
	}
	if p.credentials() != nil {
		t.Error("the credentials of a deleted sandbox are still there")
	}
}

// A manifest that is wrong changes nothing, also not what another manifest changes.
func TestApplyRefuses(t *testing.T) {
	t.Parallel()
	p := start(t, Options{})
	p.apply(checkout + alice)
	wrong := strings.Replace(checkout, "amount: 1000", "amount: 2000", 1) +
		strings.Replace(alice, "+250788123456", "+250788999999", 1) +
		strings.Replace(strings.ReplaceAll(alice, "alice", "bob"), "balance", "balanse", 1)
	_, err := p.Apply(t.Context(), manifests(t, wrong))
	if err == nil {
		t.Fatal("it is accepted")
	}
	for _, want := range []string{
		`shop.yaml, document 2: TestClient.cauri.dev "alice" is invalid: spec.msisdn: Invalid value: "+250788999999": msisdn cannot be changed: ` +
			"delete the TestClient and create it again",
		`shop.yaml, document 3: TestClient in version "v1alpha1" cannot be handled as a TestClient: strict decoding error: ` +
			`unknown field "spec.balanse"`,
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, without %s", err, want)
		}
	}
	if got := p.Sandboxes()[0].Spec.OpeningFloat[0].Amount; got != 1000 {
		t.Errorf("the float is %d", got)
	}
}

// A resource that cannot become ready is named with what its conditions say.
func TestWaitReady(t *testing.T) {
	t.Parallel()
	p := start(t, Options{})
	unknown := strings.Replace(alice, "+250788123456", "+4915112345678", 1)
	if _, err := p.Apply(t.Context(), manifests(t, checkout+unknown)); err != nil {
		t.Fatal(err)
	}
	var notReady *NotReadyError
	err := p.WaitReady(t.Context())
	want := "TestClient default/alice: OperatorUnknown: the number +4915112345678 belongs to none of the countries " +
		payments.AllOf(payments.Countries)
	if !errors.As(err, &notReady) || len(notReady.Reasons) != 1 || !strings.HasPrefix(notReady.Reasons[0], want) {
		t.Errorf("the error is %v", err)
	}

	elsewhere := strings.Replace(alice, "{name: checkout}", "{name: nowhere}", 1)
	if _, err := p.Apply(t.Context(), manifests(t, checkout+strings.ReplaceAll(elsewhere, "alice", "carol"))); err != nil {
		t.Fatal(err)
	}
	if err := p.store.wait(t.Context(), func() bool { return p.TestClients()[0].Status.ObservedGeneration == 1 }); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	err = p.WaitReady(ctx)
	if !errors.As(err, &notReady) || !strings.Contains(err.Error(),
		`TestClient default/carol: SandboxNotFound: The SandboxEnvironment "nowhere" does not exist in this namespace.`) {
		t.Errorf("the error is %v", err)
	}
}

// movedClock is a clock that can be set forward.
type movedClock struct {
	clock.RealClock
	ahead atomic.Int64
}

func (c *movedClock) Now() time.Time { return time.Now().Add(time.Duration(c.ahead.Load())) }

// A sandbox deletes itself after its ttl, by the controller's own clock and code.
func TestExpires(t *testing.T) {
	t.Parallel()
	at := &movedClock{}
	p := startOn(t, ledgertest.URL(t), Options{}, func(o *controllers.Options) { o.Clock = at })
	p.apply(strings.Replace(checkout, "spec:", "spec:\n  ttl: 59m", 1) + alice)
	at.ahead.Store(int64(time.Hour))
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	defer cancel()
	shorter := manifests(t, strings.Replace(checkout, "spec:", "spec:\n  ttl: 58m", 1)+alice) // the controller looks again
	if _, err := p.Apply(ctx, shorter); err != nil {
		t.Fatal(err)
	}
	if err := p.store.wait(ctx, func() bool { return len(p.Sandboxes()) == 0 }); err != nil {
		t.Fatal(err)
	}
	if p.credentials() != nil {
		t.Error("its credentials are still there")
	}
	want := []string{"sandboxenvironment.cauri.dev/checkout created", "testclient.cauri.dev/alice unchanged"}
	if diff := cmp.Diff(want, p.apply(checkout+alice)); diff != "" {
		t.Error(diff)
	}
}
