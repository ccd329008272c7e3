package controllers

import (
	"context"
	"slices"
	"time"

	logf "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/cauri-dev/cauri/controllers/reconciler"
	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/server/secrets"
)

// KeyRing has the methods of the encryption keys that [Sealing] needs.
type KeyRing interface {
	// Keys returns the names of the keys. The first key encrypts.
	Keys() []string
}

// Sealing encrypts all stored secrets again with the first encryption key, also the secrets of resources that cannot be
// reconciled. When this is done, it logs that the other keys can be removed.
//
// It is a runnable of the manager, which runs it in the leader.
type Sealing struct {
	ready    func(context.Context) error // nil once the tables are up to date
	ring     KeyRing
	reseal   func(context.Context) (sandboxes.Resealed, error)
	interval time.Duration
}

// NewSealing returns a Sealing that calls the function reseal at this interval if ready returns nil.
func NewSealing(
	ready func(context.Context) error, ring KeyRing, reseal func(context.Context) (sandboxes.Resealed, error), interval time.Duration,
) *Sealing {
	return &Sealing{ready: ready, ring: ring, reseal: reseal, interval: interval}
}

// Start repeats rounds until the context ends.
func (s *Sealing) Start(ctx context.Context) error {
	ticker := time.NewTicker(s.interval)
	defer ticker.Stop()
	var logged sealingResult
	for {
		if seen, ok := s.round(ctx); ok {
			seen.log(ctx, logged)
			logged = seen
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// sealingResult is the result of a round.
type sealingResult struct {
	keys     []string
	resealed sandboxes.Resealed
}

// round encrypts the stored secrets once. The result ok is true if there was no error and the keys did not change
// during the round.
func (s *Sealing) round(ctx context.Context) (seen sealingResult, ok bool) {
	if s.ready(ctx) != nil {
		return sealingResult{}, false
	}
	keys := s.ring.Keys()
	resealed, err := s.reseal(ctx)
	if err != nil && !reconciler.Interrupted(ctx) {
		logf.FromContext(ctx).WithName("sealing").Info("The stored secrets could not be checked: retrying", "cause", err.Error())
	}
	return sealingResult{keys: keys, resealed: resealed}, err == nil && slices.Equal(keys, s.ring.Keys())
}

// log logs the differences to the last logged result.
func (r sealingResult) log(ctx context.Context, logged sealingResult) {
	log := logf.FromContext(ctx).WithName("sealing").WithValues("key", r.keys[0])
	newKeys := !slices.Equal(r.keys, logged.keys)
	if r.resealed.Secrets > 0 {
		log.Info("Stored secrets were encrypted by the first key", "rows", r.resealed.Secrets)
	}
	switch failed := r.resealed.Failed; {
	case failed > 0 && (newKeys || failed != logged.resealed.Failed):
		log.Error(secrets.ErrSealed, "Put the key that encrypted them back into the file of encryption keys", "rows", failed)
	case failed == 0 && len(r.keys) > 1 && (newKeys || logged.resealed.Failed > 0):
		log.Info("Every stored secret is encrypted by the first key: the others can be removed from the file", "others", r.keys[1:])
	}
}
