package ledgertest

import (
	"context"
	"sync"
	"testing"
	"time"
)

// Verifies starts to verify the ledgers of a database, as a worker does, until stop is called.
func Verifies(t *testing.T, url string) (stop func()) {
	t.Helper()
	proofs := OpenAs(t, url, Worker)
	ctx, cancel := context.WithCancel(context.Background())
	var working sync.WaitGroup
	stop = func() { cancel(); working.Wait() }
	t.Cleanup(stop)
	working.Go(func() {
		for ctx.Err() == nil {
			due, err := proofs.TenantsToVerify(ctx, 10)
			for _, sandbox := range due {
				if _, err = proofs.Verify(ctx, sandbox.Tenant); err != nil {
					break
				}
			}
			if err != nil && ctx.Err() == nil {
				t.Error(err)
				return
			}
			select {
			case <-ctx.Done():
			case <-time.After(10 * time.Millisecond):
			}
		}
	})
	return stop
}
