package cli

import (
	"net/http"
	"strings"
	"testing"

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
		if got := s.eventAdvice(&e); !strings.Contains(got, want) || !strings.HasSuffix(got, "cauri resend evt_1") {
			t.Errorf("%d: %s", status, got)
		}
	}
	for _, e := range []wire.EventSummary{{State: "delivered", AttemptCount: 1}, {State: eventQueued}, {State: "recorded"}} {
		if got := s.eventAdvice(&e); got != "" {
			t.Errorf("%+v: %s", e, got)
		}
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
