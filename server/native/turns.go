package native

import (
	"context"
	"crypto/rsa"
	"sync"
	"time"

	"github.com/cauri-dev/cauri/server/operators/operatorapi"
)

const (
	// operationsAtOnce is the maximum number of RSA private-key operations that run in the process at the same time. At most
	// one of them is for the same sandbox.
	operationsAtOnce = 2
	// operationRest is the pause after an operation, as a multiple of its duration. During the pause, the sandbox keeps its
	// turn and its slot. So a sandbox takes at most a tenth of a core for PINs and passwords, and all sandboxes together
	// take a fifth.
	operationRest = 9
	// operationWait is the longest wait for a turn.
	operationWait = 3 * time.Second
)

// rsaTurns limits the RSA private-key operations that callers can cause.
type rsaTurns struct {
	slots chan struct{} // semaphore with a slot for each operation, operationsAtOnce in all

	mu        sync.Mutex
	sandboxes map[int64]*rsaTurn
}

// rsaTurn is the turn of a sandbox.
type rsaTurn struct {
	taken chan struct{} // semaphore with one slot
	users int           // callers that wait or have the turn
}

func newRSATurns() *rsaTurns {
	return &rsaTurns{slots: make(chan struct{}, operationsAtOnce), sandboxes: map[int64]*rsaTurn{}}
}

// open waits for a turn, and decrypts a text. It returns the text with its padding.
func (p *rsaTurns) open(ctx context.Context, tenant int64, key *rsa.PrivateKey, text []byte) ([]byte, error) {
	release, err := p.acquire(ctx, tenant)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	padded, err := decryptUnpadded(key, text)
	time.AfterFunc(operationRest*time.Since(began), release)
	return padded, err
}

// acquire waits for the turn of a sandbox, and for a slot. It refuses with [operatorapi.Unavailable] after operationWait. The
// caller calls release to end the turn.
func (p *rsaTurns) acquire(ctx context.Context, tenant int64) (release func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, operationWait)
	defer cancel()
	turn := p.enter(tenant)
	select {
	case turn.taken <- struct{}{}:
	case <-ctx.Done():
		p.leave(tenant)
		return nil, operatorapi.Because(operatorapi.Unavailable, "overloaded")
	}
	select {
	case p.slots <- struct{}{}:
	case <-ctx.Done():
		<-turn.taken
		p.leave(tenant)
		return nil, operatorapi.Because(operatorapi.Unavailable, "overloaded")
	}
	return func() {
		<-p.slots
		<-turn.taken
		p.leave(tenant)
	}, nil
}

func (p *rsaTurns) enter(tenant int64) *rsaTurn {
	p.mu.Lock()
	defer p.mu.Unlock()
	turn := p.sandboxes[tenant]
	if turn == nil {
		turn = &rsaTurn{taken: make(chan struct{}, 1)}
		p.sandboxes[tenant] = turn
	}
	turn.users++
	return turn
}

func (p *rsaTurns) leave(tenant int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.sandboxes[tenant].users--; p.sandboxes[tenant].users == 0 {
		delete(p.sandboxes, tenant)
	}
}
