package postgres_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/cauri-dev/cauri/server/postgres"
)

// The reason that resources name is read off the error, whatever was being done.
func TestAbsenceIsNamed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		want postgres.Absence
	}{
		{postgres.ErrUnavailable, postgres.Unreachable},
		{fmt.Errorf("writing: %w", &pgconn.PgError{Code: "53100"}), postgres.DiskFull},
		{&pgconn.PgError{Code: "53300"}, postgres.Exhausted},
		{&pgconn.PgError{Code: "25006"}, postgres.ReadOnly},
		{postgres.ErrSchemaBehind{Has: 1, Needs: 2}, postgres.NotMigrated},
		{&pgconn.PgError{Code: "42P01"}, postgres.NotMigrated},
		{fmt.Errorf("reading: %w: %w", postgres.ErrUnavailable, context.DeadlineExceeded), postgres.Hanging},
	} {
		if got := postgres.AbsenceOf(c.err); got != c.want {
			t.Errorf("%v: got %d, want %d", c.err, got, c.want)
		}
	}
}
