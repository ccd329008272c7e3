package ledger_test

import (
	"testing"

	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

const (
	alice  = ledgertest.Alice
	secret = ledgertest.Secret
)

// fixture is [ledgertest.Fixture] with what only the tests of this package do.
type fixture struct{ *ledgertest.Fixture }

func newFixture(t *testing.T, change ...func(*sandboxes.Config)) *fixture {
	t.Helper()
	return &fixture{ledgertest.NewFixture(t, change...)}
}

func (w *fixture) beside(name string, change ...func(*sandboxes.Config)) *fixture {
	w.T.Helper()
	return &fixture{w.Beside(name, change...)}
}

func read[T any](w *fixture, sql string, args ...any) T {
	w.T.Helper()
	return ledgertest.Read[T](w.Fixture, sql, args...)
}
