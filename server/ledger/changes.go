package ledger

import (
	"cmp"
	"context"
	"errors"

	"github.com/cauri-dev/cauri/server/ledger/clocks"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/postgres/sqlc"
)

// Triggers note the changes of a sandbox while a stream follows it. A stream reads the changes in the order of the
// database transactions that made them.

// ErrChangesLost is returned if the changes since a position are not known: nobody followed the sandbox for a while,
// the noted changes are too old, or the position is from before a reset.
var ErrChangesLost = errors.New("it is not known what has changed since then")

// Position is a position in the changes of a sandbox. It is after one change or, if Seq is 0, before all changes of a
// database transaction.
type Position struct {
	Xact int64 // the database transaction
	Seq  int64 // the number of the change; 0: before the first change of Xact
}

// Compare orders positions.
func (p Position) Compare(q Position) int {
	return cmp.Or(cmp.Compare(p.Xact, q.Xact), cmp.Compare(p.Seq, q.Seq))
}

// Change is a changed row, or the clock, or the faults, in its state at the time of reading. Exactly one of the pointers is set. An
// attempt is the exception: Attempt and Event are set.
type Change struct {
	At          Position
	Resume      Position // position from which a client resumes after this change; it may get other changes of the same At again
	Transaction *payments.Transaction
	Event       *Event
	Resent      bool // whether Event is to be sent again
	Attempt     *AttemptRecord
	Clock       *clocks.Clock
	Balance     *Balance
	Faults      *FaultsNow
}

// Balance is the balance of a float or of a SIM.
type Balance struct {
	MSISDN   string // the number of the SIM; empty for the float
	Currency string
	Balance  int64
}

// Changes are changes in the order in which they were made.
type Changes struct {
	Changes []Change // one for each changed row, at its last change
	Next    Position // the position to read from next
	Below   int64    // all database transactions before this one have ended
	More    bool     // there may be more changes now
}

// WatchChanges makes triggers note the changes of a sandbox for the next ten minutes. It returns a position after which
// no change is missing. It returns [postgres.ErrConfigChanged] for a tenant that was reset or deleted.
func (l *Ledger) WatchChanges(ctx context.Context, tenant int64) (Position, error) {
	q := l.core.Tenant(tenant)
	followed, err := q.FollowSandbox(ctx)
	if err == nil && !followed {
		err = postgres.ErrConfigChanged
	}
	var from int64
	if err == nil {
		from, err = q.ChangesFrom(ctx)
	}
	return Position{Xact: from}, postgres.Classify(err, "watching the sandbox")
}

// ChangesAfter returns the changes of a tenant after a position, at most the number limit. It returns [ErrChangesLost]
// if some of them are not known, and [postgres.ErrConfigChanged] for a tenant that was reset or deleted.
func (l *Ledger) ChangesAfter(ctx context.Context, tenant int64, after Position, limit int) (Changes, error) {
	noted, err := l.core.Tenant(tenant).NextChanges(ctx, after.Xact, tenant, after.Seq, int32(limit))
	if err != nil {
		return Changes{}, postgres.Classify(err, "reading what has changed")
	}
	found := Changes{Below: noted[0].Below, Next: after, More: len(noted) == limit}
	if !noted[0].Known {
		return Changes{}, ErrChangesLost
	}
	if !found.More && found.Below > after.Xact {
		found.Next = Position{Xact: found.Below}
	}
	if noted[0].Kind == "" {
		return found, nil
	}
	if found.More {
		found.Next = positionOf(&noted[limit-1])
	}
	for i := range noted {
		if noted[i].Kind == startKind {
			return Changes{}, ErrChangesLost
		}
	}
	found.Changes, err = l.readChanged(ctx, tenant, noted)
	return found, postgres.Classify(err, "reading what has changed")
}

func positionOf(row *sqlc.NextChangesRow) Position { return Position{Xact: row.Xact, Seq: row.Seq} }
