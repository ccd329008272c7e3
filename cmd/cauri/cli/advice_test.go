package cli

import (
	"net/http"
	"strings"
	"testing"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/cmd/cauri/kube"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
)

func TestCommandsAreNamedAsTheUserCallsThem(t *testing.T) {
	t.Setenv("CAURI_ENV_FILE", ".env")
	inCluster := func(plugin bool) *sandbox {
		s := &sandbox{target: &target{plugin: plugin}, cluster: &kube.Cluster{}}
		s.key.Namespace, s.key.Name = "team", "checkout"
		return s
	}
	for want, s := range map[string]*sandbox{
		"kubectl cauri -n team events checkout evt_1": inCluster(true),
		"cauri events --sandbox=team/checkout evt_1":  inCluster(false),
		"cauri events --env-file=other evt_1":         {target: &target{envFile: "other"}},
		"cauri events evt_1":                          {target: &target{envFile: ".env"}},
	} {
		if got := s.command("events", "evt_1"); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestAdviceOnAnEvent(t *testing.T) {
	t.Parallel()
	s := &sandbox{target: &target{}}
	for status, want := range map[int]string{
		0: "does Cauri reach it", http.StatusUnauthorized: "another secret", http.StatusBadRequest: "another secret",
		http.StatusFound: "redirects are not followed", http.StatusNotFound: "its path", http.StatusInternalServerError: "its log says why",
	} {
		e := wire.EventSummary{ID: "evt_1", State: eventFailed, AttemptCount: 3}
		if status != 0 {
			e.LastResponseStatus = &status
		}
		if got := s.eventAdvice(&e, nil); !strings.Contains(got, want) || !strings.HasSuffix(got, "cauri resend evt_1") {
			t.Errorf("%d: %s", status, got)
		}
	}
	for _, e := range []wire.EventSummary{{State: "delivered", AttemptCount: 1}, {State: eventQueued}, {State: "recorded"}} {
		if got := s.eventAdvice(&e, nil); got != "" {
			t.Errorf("%+v: %s", e, got)
		}
	}
}

// Wherever an attempt, a transaction or a hint is told, it names the faults that acted.
func TestFaultsAreNamedWhereverTheyActed(t *testing.T) {
	t.Parallel()
	lost, answered := "fault lost", 200
	s := &sandbox{target: &target{}}
	e := wire.EventSummary{ID: "evt_1", TxID: "TX_1", State: eventFailed, AttemptCount: 1, LastError: &lost}
	disturbed := state{Latest: []wire.Payment{{ID: "TX_1", Faults: []string{"twice", "late"}}}, FailedEvents: []wire.EventSummary{e}}
	onlyLost := state{Latest: []wire.Payment{{ID: "TX_2"}}, FailedEvents: []wire.EventSummary{e}}
	status := state{Latest: disturbed.Latest, Status: &v1alpha1.SandboxEnvironmentStatus{
		Faults: []v1alpha1.FaultStatus{{Name: "twice", Times: 1}, {Name: "late", Times: 2}},
	}}
	var printed strings.Builder
	status.print(&printed, s)
	for name, c := range map[string]struct{ got, want string }{
		"an attempt":          {attemptLine(&e, &wire.DeliveryAttempt{Number: 1, ResponseStatus: &answered, Faults: []string{"twice"}}), "delivered, fault twice"},
		"a transaction":       {paymentLine(&wire.Payment{Reference: "r1", Faults: []string{"twice", "late"}}), "ref r1  faults twice, late"},
		"the hint of status":  {strings.Join(disturbed.next(s), ""), "disturbs it: faults twice, late"},
		"an attempt was lost": {strings.Join(onlyLost.next(s), ""), "disturbs it: fault lost"},
		"the hint of events":  {s.eventAdvice(&e, []string{"lost"}), "by its fault lost: the receiver need not be wrong"},
		"the status, once":    {printed.String(), "twice acted once\n"},
		"the status, twice":   {printed.String(), "late acted 2 times\n"},
		"the last ones":       {printed.String(), "FAULTS"},
	} {
		if !strings.Contains(c.got, c.want) {
			t.Errorf("%s: %q has no %q", name, c.got, c.want)
		}
	}
	one := attemptLine(&e, &wire.DeliveryAttempt{Number: 1, Error: &lost, Faults: []string{"lost"}})
	if strings.Count(one, "fault lost") != 1 {
		t.Errorf("a lost attempt: %q", one)
	}
}

func TestStatusSaysWhatToLookAt(t *testing.T) {
	f := newFixture(t)
	f.run("status").want(t, ExitSuccess, "There are no transactions yet", "cauri pay")
	f.run("pay", "--msisdn="+manual, "--wait=false", "--application=shop")
	f.send(http.MethodGet, "/v1/events/evt_1", "")
	f.run("status").want(t, ExitSuccess, "Refused requests: 1.", "cauri payers", "404 not_found", "cauri requests")
	failed := state{Latest: []wire.Payment{{}}, FailedEvents: []wire.EventSummary{{ID: "evt_1", State: eventFailed, AttemptCount: 1}}}
	if got := strings.Join(failed.next(&sandbox{target: &target{}}), ""); !strings.Contains(got, "cauri events evt_1") {
		t.Errorf("a failed event: %q", got)
	}
}

// Without the resource, a store is found by the sandbox's name, or is called shop; a repeated request is for the store of the first.
func TestPayingAnUnknownStore(t *testing.T) {
	f := newFixture(t)
	first := f.run("pay", "--scenario=success", "--reference=r1", "-o", "name")
	if again := f.run("pay", "--scenario=success", "--reference=r1", "-o", "name"); again.out != first.out || again.err != nil {
		t.Errorf("got %q and %q, %v", first.out, again.out, again.err)
	}
	f.run("payout", "--msisdn="+alice).want(t, ExitSuccess, "disbursement", "SUCCESS")
	f.run("pay", "--application=none").want(t, ExitRefused, `no store "none"`)
	f.config.Stores = []string{"kiosk"}
	if _, err := f.store.ApplySandbox(t.Context(), f.config); err != nil {
		t.Fatal(err)
	}
	f.run("pay", "--reference=r2").want(t, ExitRefused, "name it with --application")
}
