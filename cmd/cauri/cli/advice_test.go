package cli

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/cmd/cauri/kube"
	"github.com/cauri-dev/cauri/server/advice"
	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/httpapi/view/offline"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/webhooks"
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

// The commands of an advice are those that the user types, and its page is that of the console.
func TestAdviceIsToldWithTheUsersCommands(t *testing.T) {
	t.Parallel()
	s := &sandbox{target: &target{envFile: "other"}}
	found := advice.OfAttempt(advice.Attempt{Failure: "the receiver answered 401", Host: "shop", Event: "evt_1"})
	got := string(s.adviceText(offline.AdviceOf(found, "https://cauri.example/console/webhooks/evt_1")))
	for _, want := range []string{
		"Your receiver answers 401. It does not accept the signature.", "has\" cauri verify request.txt\n", "cauri listen --env-file=other --print-secret",
		"cauri resend --env-file=other evt_1", "In the console:\n  https://cauri.example/console/webhooks/evt_1",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q has no %q", got, want)
		}
	}
	if got := s.adviceText(nil); got != "" {
		t.Errorf("no advice is %q", got)
	}
}

// Wherever an attempt, a transaction or a hint is told, it names the faults that acted.
func TestFaultsAreNamedWhereverTheyActed(t *testing.T) {
	t.Parallel()
	lost, answered := "fault lost: not sent", 200
	s := &sandbox{target: &target{}}
	twice, late := []string{"twice: sent 2 times"}, []string{"late: sent 10 min late"}
	both := wire.Payment{ID: "TX_1", Reference: "r1", Faults: []string{"twice", "late"}, Effects: slices.Concat(twice, late)}
	e := wire.EventSummary{ID: "evt_1", TxID: "TX_1", State: eventFailed, AttemptCount: 1, LastError: &lost}
	listed := e
	listed.LastEffects = twice
	withFaults := state{Latest: []wire.Payment{both}, FailedEvents: []wire.EventSummary{e}}
	onlyLost := state{Latest: []wire.Payment{{ID: "TX_2"}}, FailedEvents: []wire.EventSummary{e}}
	byList := state{Latest: []wire.Payment{{ID: "TX_2"}}, FailedEvents: []wire.EventSummary{listed}}
	status := state{Latest: withFaults.Latest, Status: &v1alpha1.SandboxEnvironmentStatus{
		Faults: []v1alpha1.FaultStatus{{Name: "twice", Times: 1}, {Name: "late", Times: 2}},
	}, declared: faults.Set{{Name: "twice", Webhook: &faults.Webhook{Duplicate: 2}}}}
	lines := func(l Line) string { return l.Layout(time.Now(), 0, false) }
	var events strings.Builder
	printEvents(&events, []wire.EventSummary{e, listed})
	var printed strings.Builder
	status.print(&printed, s)
	for name, c := range map[string]struct{ got, want string }{
		"an attempt": {
			lines(attemptLine(&e, &wire.DeliveryAttempt{Number: 1, ResponseStatus: &answered, Faults: []string{"twice"}, Effects: twice})),
			"answered 200, fault twice: sent 2 times, delivered",
		},
		"a transaction":       {lines(paymentLine(&both)), "ref r1  faults twice: sent 2 times; late: sent 10 min late"},
		"the list of events":  {events.String(), "FAULT\n"},
		"an event of it":      {events.String(), "twice: sent 2 times\n"},
		"the hint of status":  {fmt.Sprint(withFaults.next(s)), "it has the faults twice: sent 2 times; late: sent 10 min late"},
		"of the last attempt": {fmt.Sprint(byList.next(s)), "it has the fault twice: sent 2 times"},
		"an attempt was lost": {fmt.Sprint(onlyLost.next(s)), "it has the fault lost: not sent"},
		"the hint of events": {string(s.adviceText(offline.AdviceOf(advice.OfFaults([]string{"lost: not sent"}, "evt_1"), ""))),
			"acted on the last attempt: lost: not sent. The receiver need not be wrong"},
		"the status, once":  {printed.String(), "twice: sent 2 times; acted once\n"},
		"the status, twice": {printed.String(), "late; acted 2 times\n"},
		"the last ones":     {printed.String(), "FAULTS"},
		"a refused request": {
			lines(requestLine(&wire.LoggedRequest{Method: "POST", Path: "/v1/payments", Status: &answered, Fault: new("late"), Effects: late})),
			"fault late: sent 10 min late",
		},
	} {
		if !strings.Contains(c.got, c.want) {
			t.Errorf("%s: %q has no %q", name, c.got, c.want)
		}
	}
	one := lines(attemptLine(&e, &wire.DeliveryAttempt{Number: 1, Error: &lost, Faults: []string{"lost"}, Effects: []string{"lost: not sent"}}))
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
	if got := fmt.Sprint(failed.next(&sandbox{target: &target{}})); !strings.Contains(got, "cauri events evt_1") {
		t.Errorf("a failed event: %q", got)
	}
}

// The status does not call a receiver unwell that works again, and names callbacks that fail beside a healthy one.
func TestStatusTellsWhoIsNotWell(t *testing.T) {
	s := &sandbox{target: &target{}}
	printed := func(w *wire.Webhook) string {
		f := state{Latest: []wire.Payment{{}}, Webhook: w, time: &sandboxTime{real: time.Now}}
		var out strings.Builder
		f.print(&out, s)
		return out.String()
	}
	down := webhooks.EndpointHealth{Unacknowledged: 3, LastFailure: "connection refused", Newest: &webhooks.UnacknowledgedEvent{Failure: "connection refused"}}
	again := down
	again.Acknowledged = true
	failing := wire.Webhook{State: "failing", Unacknowledged: 3, Advice: offline.AdviceOf(advice.OfReceiver(&down, "http://shop:3000/"), "")}
	recovered := wire.Webhook{State: "failing", Unacknowledged: 3, Advice: offline.AdviceOf(advice.OfReceiver(&again, "http://shop:3000/"), "")}
	callbacks := wire.Webhook{State: "healthy", Acknowledged: true, Callbacks: []wire.FailingCallbacks{{
		Operator: "mtn", Unacknowledged: 2, EventID: "evt_1", Advice: *offline.AdviceOf(advice.OfAttempt(advice.Attempt{Failure: "the receiver answered 500"}), ""),
	}}}
	for name, c := range map[string]struct {
		webhook *wire.Webhook
		has     []string
		hasNot  string
	}{
		"down":      {&failing, []string{"The receiver is not well. Nothing listens at shop:3000."}, "Callbacks"},
		"again":     {&recovered, []string{"3 events were not delivered, and the receiver acknowledges events now.", "cauri resend --failed"}, "not well"},
		"callbacks": {&callbacks, []string{"Callbacks", "MTN", "2 of the last 24 hours", "Your receiver answers 500", "cauri events evt_1"}, "not well"},
	} {
		got := printed(c.webhook)
		for _, want := range c.has {
			if !strings.Contains(got, want) || strings.Contains(got, c.hasNot) {
				t.Errorf("%s: it has to have %q and not %q: %s", name, want, c.hasNot, got)
			}
		}
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
	f.run("pay", "--reference=r2").want(t, ExitRefused, "Send one of its stores as application: kiosk.")
}
