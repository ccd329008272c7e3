package controllers

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/server/store"
)

// someDatabase answers one question.
type someDatabase struct{ Database }

func (someDatabase) StoredCredentials(context.Context, string) (store.StoredCredentials, error) {
	return store.StoredCredentials{KeyRotation: "asked"}, nil
}

func TestMigrated(t *testing.T) {
	attempts := make(chan error)
	migrated := NewMigrated(someDatabase{}, func(context.Context) error { return <-attempts }, time.Millisecond)
	ended := make(chan error)
	go func() { ended <- migrated.Start(t.Context()) }()

	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := migrated.StoredCredentials(cancelled, ""); !errors.Is(err, context.Canceled) {
		t.Errorf("before the first attempt ended: %v, want that the question waits", err)
	}
	attempts <- errors.New("the database is away")
	attempts <- errors.New("the database is away") // the first attempt has been told by now
	if _, err := migrated.StoredCredentials(t.Context(), ""); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("after failed attempts: %v, want that the database is not available", err)
	}
	attempts <- nil
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if answer, err := migrated.StoredCredentials(t.Context(), ""); answer.KeyRotation != "asked" || err != nil {
		t.Errorf("after the migration: %q, %v", answer.KeyRotation, err)
	}
}
