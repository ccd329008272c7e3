package store

import (
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/cauri-dev/cauri/server/payments"
)

var (
	// ErrNotFound is returned for a transaction that the tenant does not have.
	ErrNotFound = errors.New("not found")
	// ErrNoOrganization is returned for a sandbox that the database does not know (any more).
	ErrNoOrganization = errors.New("no such organization")
	// ErrKeyTaken is returned for an API key that belongs to another sandbox.
	ErrKeyTaken = errors.New("the API key belongs to another sandbox")
	// ErrMarketKnown is returned for a market that was presumed from a number's prefix where the registry knows another one.
	ErrMarketKnown = errors.New("the number is registered in another market")
	// ErrCredentialsChanged is returned for credentials that were chosen by ones that are not the present ones any more.
	ErrCredentialsChanged = errors.New("the sandbox's credentials have changed")
)

// ErrQuotaExceeded is returned when a sandbox has made all the transactions that it may make in this calendar month (UTC).
type ErrQuotaExceeded struct {
	Quota int64
}

func (e ErrQuotaExceeded) Error() string {
	return fmt.Sprintf("the quota of %d transactions a month is used up", e.Quota)
}

// ErrReferenceTaken is returned when a transaction with the reference exists already.
type ErrReferenceTaken struct {
	Transaction *payments.Transaction // as it stands now
	RequestHash []byte                // of the request that made it
}

func (e *ErrReferenceTaken) Error() string {
	return "the reference belongs to " + e.Transaction.ID.String()
}

// ErrDuplicateMSISDN is returned where another SIM of the sandbox holds the number.
type ErrDuplicateMSISDN struct {
	MSISDN    string
	Holder    string // name of the TestClient that holds it
	HolderUID string // of that TestClient
}

func (e ErrDuplicateMSISDN) Error() string {
	return "the number " + e.MSISDN + " belongs to the TestClient " + e.Holder
}

// ErrStaleGeneration is returned for what was read of a resource before a change of its spec that has been applied since.
type ErrStaleGeneration struct {
	Applied int64 // the generation that was applied last
}

func (e ErrStaleGeneration) Error() string {
	return fmt.Sprintf("generation %d of the resource has been applied already", e.Applied)
}

// overBound reports whether a statement wrote nothing because a balance would have passed [payments.MaxBalance].
func overBound(err error) bool {
	var answer *pgconn.PgError
	return errors.As(err, &answer) && (answer.ConstraintName == "floats_balance_bound" || answer.ConstraintName == "sims_balance_bound")
}

// ErrNameTaken is returned for a sandbox whose name the rows of another resource have.
type ErrNameTaken struct {
	UID string // of that resource
}

func (e ErrNameTaken) Error() string {
	return "the rows of another resource, with the UID " + e.UID + ", have the sandbox's name"
}
