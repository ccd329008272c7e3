package postgres

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Statements that record a row use recording_time() as its time and recording_id(id) as its id. In a sandbox with a
// clock, TakeStamp runs before them in the same database transaction. Its stamp is the time of the row, and the first
// part of the id. For a sandbox without a clock, each statement has a second text with now() and the given id: see
// recording_texts.go, which hack/recording writes.

// TakeStamp takes the stamp of the next record in a sandbox with a clock. It locks the clock's row until the end of the
// database transaction, so that ids and times rise in the order of recording.
const TakeStamp = `update clocks
set last_stamp = greatest(last_stamp + interval '1 microsecond', clock_time(stands_at, ahead, last_stamp))
where tenant = $1
returning set_config('cauri.stamp', last_stamp::text, true)`

// recording says how a scope sends statements that record rows.
type recording int

const (
	nothing        recording = iota // its statements record no rows
	inDatabaseTime                  // the sandbox has no clock
	inSandboxTime                   // the sandbox has a clock
)

// Recording returns the scope for statements that use recording_time() and recording_id(id). If clocked is true, the
// sandbox has a clock, and the scope takes a stamp first.
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

// QueryRow returns an error, as Query does.
func (f *Following) QueryRow(context.Context, string, ...any) pgx.Row {
	return scopedRow{err: errFollowingAnswers}
}

// Then returns a scope that sends the statements of f after each of its own, in the same database transaction and round
// trip. The result of the first statement is not known then, so the statements of f must check whether it recorded a
// row.
func (s Scope) Then(f *Following) Scope {
	s.then = f.statements
	return s
}
