package ledger

import (
	"context"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres/sqlc"
)

// Disturbance is what faults do to a transaction.
type Disturbance struct{}

// write adds the statements that write it.
func (d *Disturbance) write(context.Context, *sqlc.Queries, int64, payments.ID) error { return nil }
