package store_test

import (
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/store"
	"github.com/cauri-dev/cauri/server/store/storetest"
)

// Where Postgres itself is connected to, statements are prepared; whoever says that they are not to be is believed. Through a pooler
// all is tried in test/faults.
func TestStatementsArePreparedWherePostgresAnswers(t *testing.T) {
	w := newWorld(t)
	for url, want := range map[string]bool{w.url: true, w.url + "&default_query_exec_mode=cache_describe": false} {
		s, err := store.Open(url, store.Options{MaxConns: 1})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		id := payments.ID{1}
		if _, err := s.GetTransaction(t.Context(), w.sandbox.Tenant, id); err != store.ErrNotFound {
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
	_, err := store.Open(storetest.URL(t), store.Options{ReplicaURL: "postgres://a b"})
	if err == nil || !strings.Contains(err.Error(), "replica") {
		t.Errorf("got %v", err)
	}
}
