package storetest

import (
	"context"

	"github.com/cauri-dev/cauri/server/store"
)

// SettleDue settles what is due of all sandboxes once, up to share of each, together.
func SettleDue(ctx context.Context, s *store.Store, share int) (store.Settled, error) {
	due, err := s.SettlementLanes(ctx)
	if err != nil {
		return store.Settled{}, err
	}
	return s.SettleDue(ctx, due, share)
}
