package sandboxes

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/cauri-dev/cauri/server/expectations"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/postgres/sqlc"
)

// ErrNoExpectation is returned for a run of an Expectation that has no row.
var ErrNoExpectation = errors.New("the expectation has no row")

// ErrTooManyExpectations is returned for a sandbox with [MaxOpenExpectations].
var ErrTooManyExpectations = errors.New("the sandbox has too many open expectations")

// MaxOpenExpectations is how many expectations of a sandbox are evaluated at a time. One that is decided does not count.
const MaxOpenExpectations = 1_000

// ExpectationConfig is what a resource expects of its sandbox.
type ExpectationConfig struct {
	UID           string
	Name          string
	Run           string
	Lines         json.RawMessage // valid, see [expectations.Parse]
	Within        time.Duration   // from now on
	Settle        time.Duration
	SinceCreation bool
}

// FindExpectation returns what is known of a run of an Expectation. It returns [ErrNoExpectation].
func (s *Registry) FindExpectation(ctx context.Context, uid, run string) (state expectations.State, err error) {
	id, err := parseUID(uid)
	if err != nil {
		return state, err
	}
	row, err := s.unscoped().FindExpectation(ctx, id, run)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return state, ErrNoExpectation
	case err != nil:
		return state, postgres.Classify(err, "reading an expectation")
	}
	state = expectations.State{Verdict: expectations.Verdict(row.Verdict), Reason: row.Reason, Message: row.Message}
	return state, json.Unmarshal(row.Results, &state.Results)
}

// BeginExpectation has the workers evaluate an Expectation, in place of an earlier run of it. It returns
// [ErrNoOrganization] for a sandbox that was never applied, and [ErrTooManyExpectations].
func (s *Registry) BeginExpectation(ctx context.Context, sandboxUID string, c ExpectationConfig) error {
	sandbox, err := parseUID(sandboxUID)
	if err != nil {
		return err
	}
	id, err := parseUID(c.UID)
	if err != nil {
		return err
	}
	err = s.inTx(ctx, func(q *sqlc.Queries) error {
		if err := q.DeleteExpectation(ctx, id); err != nil {
			return err
		}
		if open, err := q.CountOpenExpectations(ctx, sandbox); err != nil || open >= MaxOpenExpectations {
			return cmp.Or(err, ErrTooManyExpectations)
		}
		n, err := q.InsertExpectation(ctx, sqlc.InsertExpectationParams{
			Uid: id, Name: c.Name, Run: c.Run, Lines: c.Lines, SettleMs: c.Settle.Milliseconds(),
			WithinMs:      postgres.Milliseconds(c.Within),
			SinceCreation: c.SinceCreation, ResourceUid: sandbox,
		})
		if err == nil && n == 0 {
			return ErrNoOrganization
		}
		return err
	})
	return postgres.Classify(err, "beginning an expectation")
}

// DeleteExpectation ends the evaluation of an Expectation. It returns nil if there is none.
func (s *Registry) DeleteExpectation(ctx context.Context, uid string) error {
	id, err := parseUID(uid)
	if err != nil {
		return err
	}
	return postgres.Classify(s.unscoped().DeleteExpectation(ctx, id), "deleting an expectation")
}

// ChangedExpectation is an Expectation of which more is known.
type ChangedExpectation struct {
	UID       string
	ChangedAt time.Time // in the time of the database
}

// ChangedExpectations returns the Expectations of which more is known since a time of the database. It returns each for
// some seconds, since a database transaction may become visible late.
func (s *Registry) ChangedExpectations(ctx context.Context, since time.Time) ([]ChangedExpectation, error) {
	rows, err := s.unscoped().ChangedExpectations(ctx, since)
	if err != nil {
		return nil, postgres.Classify(err, "looking for expectations that changed")
	}
	changed := make([]ChangedExpectation, len(rows))
	for i, row := range rows {
		changed[i] = ChangedExpectation{row.Uid.String(), row.ChangedAt}
	}
	return changed, nil
}
