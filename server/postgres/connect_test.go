package postgres

import (
	"errors"
	"net"
	"testing"
	"time"
)

// A packet may be lost for good where a Service has no pods yet: the attempt has to end, so that the next one gets through.
func TestMigrateGivesUpOnADatabaseThatNeverAnswers(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	for name, call := range map[string]func(url string) error{
		"Migrate":     func(url string) error { return Migrate(t.Context(), url) },
		"EnsureUsers": func(url string) error { return EnsureUsers(t.Context(), url, nil) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			begun := time.Now()
			err := call("postgres://nobody@" + listener.Addr().String() + "/nothing?sslmode=disable")
			if !errors.Is(err, ErrUnavailable) {
				t.Errorf("the error is %v, not that the database is unavailable", err)
			}
			if took := time.Since(begun); took > time.Minute {
				t.Errorf("it took %s, an attempt is allowed %s", took, connectTimeout)
			}
		})
	}
}
