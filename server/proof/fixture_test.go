package proof_test

import (
	"testing"

	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

const alice = ledgertest.Alice

// fixture is [ledgertest.Fixture] with what only the tests of this package do.
type fixture struct{ *ledgertest.Fixture }

func newFixture(t *testing.T, change ...func(*sandboxes.Config)) *fixture {
	t.Helper()
	return &fixture{ledgertest.NewFixture(t, change...)}
}

func read[T any](w *fixture, sql string, args ...any) T {
	w.T.Helper()
	return ledgertest.Read[T](w.Fixture, sql, args...)
}
