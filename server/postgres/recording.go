package postgres

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Statements that record something write recording_time() and recording_id(id) for its time and its id. In a sandbox
// with a clock, a stamp is taken before, in the same database transaction: it is the time, and the first part of the
// id. Each statement has a second text for a sandbox without a clock, with now() and the id as it was given: see
// recording_texts.go, which hack/recording writes.

// TakeStamp takes the time of what is recorded next in a sandbox with a clock. The lock of the clock's row holds until
// the end of the database transaction, so that ids and times rise in the order of recording.
const TakeStamp = `update clocks
set last_stamp = greatest(last_stamp + interval '1 microsecond', clock_time(stands_at, ahead, last_stamp))
where tenant = $1
returning set_config('cauri.stamp', last_stamp::text, true)`

// recording says how a scope sends statements that record something.
type recording int

const (
	nothing        recording = iota // its statements record nothing
	inDatabaseTime                  // the sandbox has no clock
	inSandboxTime                   // the sandbox has a clock
)

// Recording returns the scope for statements that record something: with recording_time() and recording_id(id), in the
// time of a sandbox that has a clock.
func (s Scope) Recording(clocked bool) Scope {
	s.recording = inDatabaseTime
	if clocked {
		s.recording = inSandboxTime
	}
	return s
}

// text returns the text in which a statement of package sqlc is sent.
func (r recording) text(sql string) string {
	if r != inDatabaseTime {
		return sql
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(sql, "-- name: "), " ")
	return cmp.Or(inDatabaseTimeTexts[name], sql)
}

// Following collects statements that are sent after another one, see [Scope.Then]. It runs none of them itself.
type Following struct{ statements []statement }

type statement struct {
	sql  string
	args []any
}

var _ DBTX = (*Following)(nil)

// Exec adds a statement.
func (f *Following) Exec(_ context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	f.statements = append(f.statements, statement{sql, args})
	return pgconn.CommandTag{}, nil
}

var errFollowingAnswers = errors.New("a statement that follows another one returns nothing")

// Query returns an error: nobody reads what a following statement returns.
func (f *Following) Query(context.Context, string, ...any) (pgx.Rows, error) {
	return nil, errFollowingAnswers
}

// QueryRow returns an error, as Query.
func (f *Following) QueryRow(context.Context, string, ...any) pgx.Row {
	return scopedRow{err: errFollowingAnswers}
}

// Then returns the scope with statements that follow each of its own, in the same database transaction and round trip.
// They are sent before the statement has answered, so they have to find out themselves whether it recorded anything.
func (s Scope) Then(f *Following) Scope {
	s.then = f.statements
	return s
}
