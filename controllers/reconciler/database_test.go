package reconciler

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/controllers/resync"
	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// A deletion of very many rows is looked at again, and its message does not blame the database.
func TestDeletionThatGoesOnSaysSo(t *testing.T) {
	t.Parallel()
	err := DeletionFailure(DatabaseFailure(sandboxes.ErrDeletionUnfinished))
	if !IsWaiting(err) || ReasonOf(err) != v1alpha1.ReasonDeleting || !strings.Contains(err.Error(), "continues by itself") {
		t.Errorf("got %s: %v", ReasonOf(err), err)
	}
}

type openBreaker struct{}

func (openBreaker) Check(resync.Change) error { return postgres.ErrUnavailable }

// A resource that an open breaker blocks is not retried: it is reconciled when the breaker closes.
func TestABlockedResourceIsNotRetried(t *testing.T) {
	err := DatabaseGate{Breaker: openBreaker{}}.Check(t.Context(), resync.Change{Key: client.ObjectKey{Name: "checkout"}})
	if !errors.Is(err, postgres.ErrUnavailable) || !isWoken(err) || ReasonOf(err) != v1alpha1.ReasonDatabaseUnavailable {
		t.Errorf("got %s: %v", ReasonOf(err), err)
	}
}

type closedBreaker struct{}

func (closedBreaker) Check(resync.Change) error { return nil }

// A resource whose tables are not up to date is retried, and says that the database is unavailable.
func TestAResourceWaitsForTheMigration(t *testing.T) {
	var behind error
	gate := DatabaseGate{Breaker: closedBreaker{}, Ready: func(context.Context) error { return behind }}
	if err := gate.Check(t.Context(), resync.Change{}); err != nil {
		t.Errorf("after the migration: %v", err)
	}
	behind = postgres.ErrUnavailable
	if err := gate.Check(t.Context(), resync.Change{}); !IsWaiting(err) || isWoken(err) ||
		ReasonOf(err) != v1alpha1.ReasonDatabaseUnavailable {
		t.Errorf("before: %s: %v", ReasonOf(err), err)
	}
}

// A database that refuses the login is unavailable, not broken, and the condition says what it is.
func TestRefusedLoginIsADatabaseThatIsUnavailable(t *testing.T) {
	t.Parallel()
	at, err := url.Parse(ledgertest.URL(t))
	if err != nil {
		t.Fatal(err)
	}
	at.User = url.UserPassword("nobody", "wrong")
	db, err := postgres.Open(at.String(), postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	err = DatabaseFailure(db.Ping(t.Context()))
	if !IsWaiting(err) || ReasonOf(err) != v1alpha1.ReasonDatabaseUnavailable || !strings.Contains(err.Error(), "refuses the login") {
		t.Errorf("%s: %v", ReasonOf(err), err)
	}
}
