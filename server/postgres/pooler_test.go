package postgres_test

import (
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/server/postgres"
)

// Where Postgres itself is connected to, statements are prepared; whoever says that they are not to be is believed. Through a pooler
// all is tried in test/faults.
func TestStatementsArePreparedWherePostgresAnswers(t *testing.T) {
	t.Parallel()
	database := ledgertest.URL(t)
	for url, want := range map[string]bool{database: true, database + "&default_query_exec_mode=cache_describe": false} {
		s, err := postgres.Open(url, postgres.Options{MaxConns: 1})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if _, err := s.Tenant(1).Exec(t.Context(), "select from transactions where tenant = $1", 1); err != postgres.ErrConfigChanged {
			t.Fatal(err)
		}
		prepared, err := s.Prepared(t.Context())
		if err != nil || prepared != want {
			t.Errorf("by %s: statements are prepared: %t, %v, want %t", url, prepared, err, want)
		}
	}
}

func TestABadReplicaURLIsNamed(t *testing.T) {
	t.Parallel()
	_, err := postgres.Open(ledgertest.URL(t), postgres.Options{ReplicaURL: "postgres://a b"})
	if err == nil || !strings.Contains(err.Error(), "replica") {
		t.Errorf("got %v", err)
	}
}
