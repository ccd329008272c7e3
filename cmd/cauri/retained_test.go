package main

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

func TestPurgeRetained(t *testing.T) {
	url := ledgertest.URL(t)
	db := ledgertest.Open(t, url)
	const retained, present = "11111111-1111-1111-1111-111111111111", "22222222-2222-2222-2222-222222222222"
	for uid, name := range map[string]string{retained: "gone", present: "here"} {
		if _, err := db.ApplySandbox(t.Context(), sandboxes.Config{
			UID: uid, Namespace: "team", Name: name, Stores: []string{"shop"},
			Environments: []sandboxes.EnvironmentConfig{{Operator: payments.MTN, Country: payments.Rwanda, Enabled: true}},
		}); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.RetainSandbox(t.Context(), retained); err != nil {
		t.Fatal(err)
	}
	sql := ledgertest.Connect(t, url)
	if _, err := sql.Exec(t.Context(),
		"update organizations set retained_at = now() - interval '2 hours' where retained_at is not null"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		options retainedOptions
		says    string
		left    int
	}{
		{retainedOptions{olderThan: 3 * time.Hour}, "0 retained sandboxes removed", 2},
		{retainedOptions{olderThan: time.Hour, dryRun: true}, "team/gone", 2},
		{retainedOptions{olderThan: time.Hour}, "1 retained sandbox removed", 1},
		{retainedOptions{olderThan: time.Hour}, "0 retained sandboxes removed", 1},
	} {
		c.options.databaseURL = url
		var out strings.Builder
		if err := purgeRetained(t.Context(), &out, c.options); err != nil {
			t.Fatal(err)
		}
		var left int
		if err := sql.QueryRow(t.Context(), "select count(*)::int from organizations").Scan(&left); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), c.says) || left != c.left {
			t.Errorf("%+v: %d organizations are left, want %d; it says %s", c.options, left, c.left, out.String())
		}
	}
	if err := purgeRetained(t.Context(), &strings.Builder{}, retainedOptions{databaseURL: url}); err == nil ||
		!strings.Contains(err.Error(), "--older-than=720h") {
		t.Errorf("without an age it says %v", err)
	}
}

// unfinished is a store in which a deletion takes some calls.
type unfinished struct{ calls int }

func (u *unfinished) DeleteSandbox(context.Context, string) error {
	if u.calls--; u.calls > 0 {
		return fmt.Errorf("deleting: %w", sandboxes.ErrDeletionUnfinished)
	}
	return nil
}

func TestLargeRetainedSandboxIsRemovedWhole(t *testing.T) {
	db := &unfinished{calls: 3}
	if err := deleteWhole(t.Context(), db, "1"); err != nil || db.calls != 0 {
		t.Errorf("got %v with %d calls to go", err, db.calls)
	}
}
