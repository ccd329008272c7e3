package controllers

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/cauri-dev/cauri/server/sandboxes"
)

type namedKeys struct {
	sync.Mutex
	names []string
}

func (k *namedKeys) Keys() []string {
	k.Lock()
	defer k.Unlock()
	return k.names
}

func (k *namedKeys) set(names ...string) {
	k.Lock()
	defer k.Unlock()
	k.names = names
}

// TestSealing takes the controller through a rotation of the encryption key, round by round, and reads what it logs.
func TestSealing(t *testing.T) {
	const all = "Every stored secret is encrypted by the first key: the others can be removed from the file"
	var mutex sync.Mutex
	var logged []string
	log := funcr.New(func(_, args string) {
		mutex.Lock()
		defer mutex.Unlock()
		_, message, _ := strings.Cut(args, `"msg"="`)
		message, _, _ = strings.Cut(message, `"`)
		logged = append(logged, message)
	}, funcr.Options{})
	migration := NewMigration(func(context.Context) error { return nil }, time.Millisecond)
	if err := migration.Start(t.Context()); err != nil {
		t.Fatal(err)
	}

	type answer struct {
		result sandboxes.Resealed
		err    error
	}
	keys, asked, answers := &namedKeys{names: []string{"old"}}, make(chan struct{}), make(chan answer)
	sealing := NewSealing(migration.Ready, keys, func(context.Context) (sandboxes.Resealed, error) {
		asked <- struct{}{}
		a := <-answers
		return a.result, a.err
	}, time.Millisecond)
	ctx, stop := context.WithCancel(logf.IntoContext(t.Context(), log))
	ended := make(chan error)
	go func() { ended <- sealing.Start(ctx) }()

	<-asked
	for _, round := range []struct {
		what   string
		keys   []string // while the next round runs; nil: no change
		answer answer
		want   []string
	}{
		{what: "one key", keys: []string{"old", "new"}},
		{what: "the keys changed meanwhile, so that it tells nothing"},
		{what: "a second key", want: []string{all}},
		{what: "nothing new", keys: []string{"new", "old"}},
		{what: "they change meanwhile again"},
		{what: "no database", answer: answer{err: errors.New("unavailable")}, want: []string{"The stored secrets could not be checked: retrying"}},
		{what: "encrypted again", answer: answer{result: sandboxes.Resealed{Secrets: 3}},
			want: []string{"Stored secrets were encrypted by the first key", all}},
		{what: "one that cannot be opened", answer: answer{result: sandboxes.Resealed{Failed: 1}},
			want: []string{"Put the key that encrypted them back into the file of encryption keys"}},
		{what: "still not", answer: answer{result: sandboxes.Resealed{Failed: 1}}},
		{what: "opened", answer: answer{result: sandboxes.Resealed{Secrets: 1}},
			want: []string{"Stored secrets were encrypted by the first key", all}},
	} {
		answers <- round.answer
		<-asked // what the round had to tell is told, and the next one has read the keys
		if round.keys != nil {
			keys.set(round.keys...)
		}
		mutex.Lock()
		if diff := cmp.Diff(round.want, logged); diff != "" {
			t.Errorf("%s: %s", round.what, diff)
		}
		logged = nil
		mutex.Unlock()
	}
	stop()
	answers <- answer{}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
