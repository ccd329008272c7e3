package controllers

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"

	"github.com/cauri-dev/cauri/server/postgres"
)

func TestMigration(t *testing.T) {
	attempts := make(chan error)
	migration := NewMigration(func(context.Context) error { return <-attempts }, time.Millisecond)
	ended := make(chan error)
	go func() { ended <- migration.Start(t.Context()) }()

	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if err := migration.Ready(cancelled); !errors.Is(err, context.Canceled) {
		t.Errorf("before the first attempt ended: %v, want that the question waits", err)
	}
	attempts <- errors.New("the database is unavailable")
	attempts <- errors.New("the database is unavailable") // the first attempt has been told by now
	if err := migration.Ready(t.Context()); !errors.Is(err, postgres.ErrUnavailable) {
		t.Errorf("after failed attempts: %v, want that the database is not available", err)
	}
	attempts <- nil
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if err := migration.Ready(t.Context()); err != nil {
		t.Errorf("after the migration: %v", err)
	}
}

// A controller that waits for its database says so once, and again when something else is in the way.
func TestMigrationLogsOnceWhatItWaitsFor(t *testing.T) {
	unavailable, refused := fmt.Errorf("connecting: %w", postgres.ErrUnavailable), errors.New("permission denied")
	answers := []error{unavailable, unavailable, unavailable, refused, refused, nil}
	migration := NewMigration(func(context.Context) error {
		err := answers[0]
		answers = answers[1:]
		return err
	}, time.Microsecond)
	var said []string
	log := funcr.New(func(_, line string) { said = append(said, line) }, funcr.Options{})
	if err := migration.Start(logr.NewContext(t.Context(), log)); err != nil {
		t.Fatal(err)
	}
	if len(said) != 3 || !strings.Contains(said[0], "not available") || !strings.Contains(said[1], "permission denied") ||
		!strings.Contains(said[2], "up to date") {
		t.Errorf("it says %q", said)
	}
}
