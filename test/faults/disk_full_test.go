package faults

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/test/system"
)

// diskSize has room for an empty server and little more.
const diskSize = 144 << 20

// On a full disk, writes fail, and Postgres may end if it cannot extend its log. Clients get 503 in time. When the disk
// has space again and Postgres runs again, everything continues.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	postgres, err := system.StartPostgresOnSmallDisk(t.Context(), diskSize)
	if errors.Is(err, system.ErrNoSmallDisk) {
		t.Skipf("a small disk has to be mounted for this: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := postgres.Close(); err != nil {
			t.Error(err)
		}
	})
	w := openFixture(t, postgres)
	api, worker := w.api("api"), w.worker("worker")
	var seen patience
	m, c := w.merchant("enduring", api, system.Acknowledge), w.crowd(api, &seen)
	m.Client.Observe = seen.see
	progress, stop := w.shopping(m, 4)
	defer stop()
	w.progresses(progress, 10)

	free, err := postgres.FillDisk()
	w.must(err)
	w.until(contractual*6, "the disk is full for a client", func(ctx context.Context) error {
		reference := fmt.Sprintf("fill-%d", len(c.answered))
		long := system.NewPayment(reference, system.Unregistered, "success")
		long.Description = strings.Repeat("d", 200) // to fill the disk sooner
		answer, err := c.Client.Post(ctx, "/payments", long)
		if err != nil {
			return err
		}
		c.answered[reference] = answer
		if answer.Status != 503 {
			return fmt.Errorf("the last of %d payments was answered %d", len(c.answered), answer.Status)
		}
		return nil
	})
	w.rush(c)
	t.Logf("%d requests were answered, %d of them 503; Postgres runs: %t", seen.answered, seen.refused, postgres.Running())
	w.must(free())
	if !postgres.Running() {
		w.must(postgres.Start(t.Context()))
	}
	w.progresses(progress, 10)
	told := stop()
	w.report(seen.wrong)
	w.booked(m, told)
	w.drained(m, c.Merchant)
	w.toldTheTruth(c)
	if !api.Running() || !worker.Running() {
		t.Error("a process ended because the disk was full")
	}
}
