package resync

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/sandboxes"
)

// A change that the database reports in several answers is queued once.
func TestChangesAreReportedOnce(t *testing.T) {
	at := func(second int) time.Time { return time.Date(2026, 5, 31, 12, 0, second, 0, time.UTC) }
	alice := func(second int) sandboxes.AccountChange {
		return sandboxes.AccountChange{Namespace: "n", Sandbox: "s", TestClient: "alice", ChangedAt: at(second)}
	}
	float := func(second int) sandboxes.AccountChange {
		return sandboxes.AccountChange{Namespace: "n", Sandbox: "s", ChangedAt: at(second)}
	}
	elsewhere := alice(1)
	elsewhere.ChangedAt = elsewhere.ChangedAt.In(time.FixedZone("east", 7200))

	live := &LiveStatus{}
	for i, round := range []struct{ answer, want []sandboxes.AccountChange }{
		{[]sandboxes.AccountChange{alice(1), float(1)}, []sandboxes.AccountChange{alice(1), float(1)}},
		{[]sandboxes.AccountChange{elsewhere, float(1), float(2)}, []sandboxes.AccountChange{float(2)}},
		{[]sandboxes.AccountChange{alice(3), float(2)}, []sandboxes.AccountChange{alice(3)}},
		{nil, nil},
		{[]sandboxes.AccountChange{alice(3), alice(3)}, []sandboxes.AccountChange{alice(3)}}, // once is enough, and too often does no harm
	} {
		if diff := cmp.Diff(round.want, live.unreported(round.answer)); diff != "" {
			t.Errorf("answer %d (-want +got):\n%s", i+1, diff)
		}
	}
}
