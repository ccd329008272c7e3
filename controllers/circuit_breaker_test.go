package controllers_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/cauri-dev/cauri/controllers"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// TestQuietResourcesSayThatTheDatabaseIsUnavailable: nobody changes them, and they say so all the same, without asking it one by one.
func TestQuietResourcesSayThatTheDatabaseIsUnavailable(t *testing.T) {
	c := newCluster(t)
	c.start()
	sandbox, alice, bob := c.newSandbox(), c.newTestClient("alice", "+250788000001"), c.newTestClient("bob", "+250788000002")
	c.create(sandbox)
	c.create(alice)
	c.create(bob)
	c.sandboxReady(sandbox)
	c.testClientReady(alice)
	c.testClientReady(bob)

	c.database.setUnavailable(true)
	c.sandboxConditions(sandbox, "SpecAccepted True Ready", "DatabaseReady False DatabaseUnavailable", "CredentialsReady True Ready",
		"Ready False DatabaseUnavailable", "Reconciling True Retrying")
	c.testClientConditions(alice, "Ready False DatabaseUnavailable", "Reconciling True Retrying")
	c.testClientConditions(bob, "Ready False DatabaseUnavailable", "Reconciling True Retrying")
	c.delete(bob)
	asked, rounds := c.applied()+c.database.count("DeleteTestClient"), c.database.count("ChangedAccounts")
	c.until(func(context.Context) string {
		if n := c.database.count("ChangedAccounts") - rounds; n < 5 {
			return fmt.Sprintf("the database was asked %d times whether it is back", n)
		}
		return ""
	})
	if n := c.applied() + c.database.count("DeleteTestClient") - asked; n > 0 {
		t.Errorf("while the database was unavailable it was asked %d times for single resources", n)
	}

	c.database.setUnavailable(false)
	c.sandboxReady(sandbox)
	c.testClientReady(alice)
	c.until(func(context.Context) string {
		if n := c.count("select count(*) from sims"); n != 1 {
			return fmt.Sprintf("%d SIMs are left, want alice's", n)
		}
		return ""
	})
}

// TestNewComesBeforeOld restarts the controller with many resources. One that is made meanwhile does not wait for all of them.
func TestNewComesBeforeOld(t *testing.T) {
	c := newCluster(t)
	c.start()
	const many = 60
	c.create(c.newSandbox())
	for n := range many {
		c.create(c.newTestClient(fmt.Sprintf("old-%02d", n), fmt.Sprintf("+2507880000%02d", n)))
	}
	c.testClientReady(c.newTestClient(fmt.Sprintf("old-%02d", many-1), ""))
	c.stop()

	slow := &steppedDatabase{faultyDatabase: c.database, step: make(chan struct{}), done: make(chan struct{})}
	t.Cleanup(func() { close(slow.done) })
	c.start(func(o *controllers.Options) { o.Database, o.Concurrency = slow, 1 })
	slow.step <- struct{}{} // it is at work
	c.create(c.newTestClient("new", "+250788000099"))
	c.until(func(ctx context.Context) string {
		select {
		case slow.step <- struct{}{}:
		case <-ctx.Done():
		}
		if !slices.Contains(slow.served(), "new") {
			return "the new one was not come to"
		}
		return ""
	})
	if place := slices.Index(slow.served(), "new") + 1; place > many/2 {
		t.Errorf("the new one was number %d of %d", place, many+1)
	}
}

// steppedDatabase applies a TestClient a step.
type steppedDatabase struct {
	*faultyDatabase
	step, done chan struct{}

	mutex sync.Mutex
	names []string
}

func (d *steppedDatabase) served() []string {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	return slices.Clone(d.names)
}

func (d *steppedDatabase) ApplyTestClient(
	ctx context.Context, sandboxUID string, config sandboxes.TestClientConfig,
) (sandboxes.TestClientState, error) {
	select {
	case <-d.step:
	case <-d.done:
	case <-ctx.Done():
		return sandboxes.TestClientState{}, ctx.Err()
	}
	d.mutex.Lock()
	d.names = append(d.names, config.Name)
	d.mutex.Unlock()
	return d.faultyDatabase.ApplyTestClient(ctx, sandboxUID, config)
}
