package postgres

import (
	"context"
	"slices"
)

// SharedLookup looks up what strangers name, for example the session of a cookie, before it is known whether anybody may
// use the sandbox. It takes nothing of a sandbox's share of the connections and of its queue: all look-ups that wait are
// one statement, and at most one such statement runs at a time. So neither their number nor the time that one takes
// depends on the sandbox. It is safe for concurrent use.
type SharedLookup[K comparable, V any] struct {
	queue Coalescer[*sharedLookup[K, V]]
}

type sharedLookup[K comparable, V any] struct {
	key   K
	value V
	found bool
}

// NewSharedLookup returns a SharedLookup that reads with a function: it gets the keys of several look-ups, and returns the
// values of those that exist.
func NewSharedLookup[K comparable, V any](db *DB, read func(context.Context, []K) (map[K]V, error)) *SharedLookup[K, V] {
	l := &SharedLookup[K, V]{}
	many := func(ctx context.Context, _ QueueKey, asked []*sharedLookup[K, V]) ([]bool, error) {
		keys := make([]K, len(asked))
		for i, one := range asked {
			keys[i] = one.key
		}
		values, err := read(ctx, keys)
		for _, one := range asked {
			one.value, one.found = values[one.key]
		}
		return slices.Repeat([]bool{true}, len(asked)), err
	}
	l.queue = Coalescer[*sharedLookup[K, V]]{
		AtOnce: 1, Shared: true, Admission: db.admission.Unbounded(), Many: many,
		One: func(ctx context.Context, at QueueKey, asked *sharedLookup[K, V], _ bool) error {
			_, err := many(ctx, at, []*sharedLookup[K, V]{asked})
			return err
		},
	}
	return l
}

// Find returns the value of a key; false if there is none. It returns [ErrOverloaded] if too many look-ups wait.
func (l *SharedLookup[K, V]) Find(ctx context.Context, key K) (value V, found bool, err error) {
	asked := &sharedLookup[K, V]{key: key}
	if err := l.queue.Do(ctx, QueueKey{}, asked); err != nil {
		return value, false, err
	}
	return asked.value, asked.found, nil
}
