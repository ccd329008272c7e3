package ledger

import (
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/cauri-dev/cauri/server/ledger/ledgerdb"
	"github.com/cauri-dev/cauri/server/payments"
)

var (
	// ErrNotFound is returned for a transaction that the tenant does not have.
	ErrNotFound = ledgerdb.ErrNotFound
	// ErrMarketKnown is returned if the market was presumed from a number's prefix and the registry has another one.
	ErrMarketKnown = errors.New("the number is registered in another market")
	// ErrOrderEnded is returned for the collection of an order that has ended: see [NativeRequest].
	ErrOrderEnded = errors.New("the order has ended")
)

// ErrQuotaExceeded is returned when a sandbox has used up its quota of transactions in this calendar month (UTC).
type ErrQuotaExceeded struct {
	Quota int64
}

func (e ErrQuotaExceeded) Error() string {
	return fmt.Sprintf("the quota of %d transactions a month is used up", e.Quota)
}

// ErrReferenceTaken is returned when a transaction with the reference exists already.
type ErrReferenceTaken struct {
	Transaction *payments.Transaction // in its current state
	RequestHash []byte                // the hash of the request that made it
}

func (e *ErrReferenceTaken) Error() string {
	return "the reference belongs to " + e.Transaction.ID.String()
}

// exceedsMaxBalance reports whether a statement wrote nothing because a balance would exceed [payments.MaxBalance].
func exceedsMaxBalance(err error) bool {
	return violates(err, "floats_balance_bound") || violates(err, "sims_balance_bound")
}

// violates reports whether a statement wrote nothing because of a constraint.
func violates(err error, constraint string) bool {
	var answer *pgconn.PgError
	return errors.As(err, &answer) && answer.ConstraintName == constraint
}
