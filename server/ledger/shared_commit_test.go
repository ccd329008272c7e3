package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
)

// crowd is several sandboxes alike, to which nobody listens, and an api with few connections.
type crowd struct {
	*fixture
	api  *ledgertest.Store
	busy []*fixture // as many as the api has connections
	all  []*fixture // the others, by their tenants
}

func newCrowd(t *testing.T, size int, url func(string) string) *crowd {
	t.Helper()
	const connections = 2
	c := &crowd{fixture: newFixture(t)}
	for i := range connections + size {
		f := c.beside(fmt.Sprint("s", i))
		f.Client("alice", alice, 5000)
		f.Reload()
		if i < connections {
			c.busy = append(c.busy, f)
		} else {
			c.all = append(c.all, f)
		}
	}
	slices.SortFunc(c.all, func(a, b *fixture) int { return int(a.Sandbox.Tenant - b.Sandbox.Tenant) })
	if url == nil {
		url = func(url string) string { return url }
	}
	api, err := ledgertest.OpenWith(url(c.URL), ledgertest.Options{Options: postgres.Options{MaxConns: connections}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(api.Close)
	c.api = api
	return c
}

const answerAfter = time.Second

// pay records a collection of a sandbox. That of every second sandbox has optional fields.
func (c *crowd) pay(f *fixture, reference string, status payments.Status) (*payments.Transaction, error) {
	n := f.Collection(reference, status, alice)
	n.Unfollowed = true
	if status == payments.Success {
		n.AnswerAfter = answerAfter
	}
	if i := slices.Index(c.all, f); i%2 == 1 {
		n.Optional.ProviderTxID = fmt.Sprint("drawn-", i)
		n.Optional.Native = &ledger.NativeRequest{Operation: "requesttopay", Sent: []byte(fmt.Sprintf(`{"from": %d}`, i))}
	}
	err := c.api.CreateCollection(c.T.Context(), f.Sandbox.Tenant, n)
	return &n.Transaction, err
}

// locked holds the lock of a sandbox's float until the function that it returns is called.
func (c *crowd) locked(f *fixture) (release func()) {
	c.T.Helper()
	connection, err := pgx.Connect(c.T.Context(), c.URL)
	if err == nil {
		_, err = connection.Exec(c.T.Context(), "begin")
	}
	if err == nil {
		_, err = connection.Exec(c.T.Context(), "select from floats where tenant = $1 for update", f.Sandbox.Tenant)
	}
	if err != nil {
		c.T.Fatal(err)
	}
	return sync.OnceFunc(func() { _ = connection.Close(context.Background()) })
}

// together makes a collection in each sandbox. All of them wait until one connection is free, so that they go together.
func (c *crowd) together(status payments.Status) <-chan paid {
	c.T.Helper()
	var busy sync.WaitGroup
	var releases []func()
	for i, f := range c.busy {
		release := c.locked(f)
		defer release()
		releases = append(releases, release)
		busy.Go(func() {
			if _, err := c.pay(f, "busy", payments.Success); err != nil {
				c.T.Error(err)
			}
		})
		ledgertest.Eventually(c.T, func() bool { return c.blocked() == i+1 })
	}
	results := make(chan paid, len(c.all))
	for i, f := range c.all {
		go func() {
			t, err := c.pay(f, "together", status)
			results <- paid{i, t, err}
		}()
	}
	ledgertest.Eventually(c.T, func() bool { return c.api.SharedCommits().Waiting == len(c.all) })
	for i, release := range releases {
		release()
		if i == 0 {
			ledgertest.Eventually(c.T, func() bool { return c.api.SharedCommits().Waiting == 0 })
		}
	}
	busy.Wait()
	return results
}

// paid is a collection that the i-th sandbox of a crowd made.
type paid struct {
	sandbox     int
	transaction *payments.Transaction
	err         error
}

// recorded reports a collection that was not recorded, or not for its sandbox.
func (c *crowd) recorded(p paid) {
	c.T.Helper()
	if p.err != nil {
		c.T.Errorf("sandbox %d: %v", p.sandbox, p.err)
		return
	}
	stored, err := c.api.GetTransaction(c.T.Context(), c.all[p.sandbox].Sandbox.Tenant, p.transaction.ID)
	if err != nil {
		c.T.Errorf("sandbox %d, %s: %v", p.sandbox, p.transaction.Reference, err)
		return
	}
	if p.transaction.Status == payments.Pending { // it was settled meanwhile
		stored.Status, stored.CompletedAt = payments.Pending, nil
		stored.MerchantBalanceAfter, stored.SIMBalanceAfter = nil, nil
	}
	if diff := cmp.Diff(outcomeOf(stored), outcomeOf(p.transaction)); diff != "" {
		c.T.Errorf("sandbox %d, %s (-stored +told):\n%s", p.sandbox, p.transaction.Reference, diff)
	}
}

// outcomeOf are the fields of a transaction that the statement that records it returns, and its reference.
func outcomeOf(t *payments.Transaction) []any {
	return []any{t.ID, t.Reference, t.Status, t.CreatedAt, t.CompletedAt, t.MerchantBalanceAfter, t.SIMBalanceAfter}
}

// commits is how many database transactions recorded what the sandboxes have of a reference.
func (c *crowd) commits(reference string) int {
	c.T.Helper()
	return c.Count("select count(distinct xmin::text) from transactions where reference = $1", reference)
}

func (c *crowd) conserved() {
	c.T.Helper()
	for _, f := range c.all {
		f.Conserved()
	}
}

// What several sandboxes wait for is committed together, each in the scope of its own tenant.
func TestSharedCommit(t *testing.T) {
	for _, status := range []payments.Status{payments.Success, payments.Pending} {
		t.Run(string(status), func(t *testing.T) {
			c := newCrowd(t, 5, nil)
			before := read[time.Time](c.fixture, "select clock_timestamp()")
			results := c.together(status)
			for range c.all {
				c.recorded(<-results)
			}
			if n := c.commits("together"); n != 1 {
				t.Errorf("five sandboxes took %d commits", n)
			}
			for i, f := range c.all {
				if n := c.Count("select count(*) from transactions where tenant = $1", f.Sandbox.Tenant); n != 1 {
					t.Errorf("sandbox %d has %d transactions", i, n)
				}
				drawn := c.Count(`select count(*) from transactions t join native_requests n using (tenant, id)
					where tenant = $1 and provider_tx_id = 'drawn-' || $2 and sent->>'from' = $2`, f.Sandbox.Tenant, fmt.Sprint(i))
				if drawn != i%2 {
					t.Errorf("sandbox %d has its optional fields %d times", i, drawn)
				}
			}
			if n := c.Count("select count(*) from events where due_at < $1", before.Add(answerAfter)); n > 0 {
				t.Errorf("%d events are due before their answers", n)
			}
			c.conserved()
		})
	}
}

// More than sixteen sandboxes do not go together.
func TestSharedCommitIsBounded(t *testing.T) {
	c := newCrowd(t, 19, nil)
	results := c.together(payments.Success)
	for range c.all {
		c.recorded(<-results)
	}
	if sizes := c.api.SharedCommits().Sizes; c.commits("together") != 2 || sizes[16] != 1 || sizes[3] != 1 {
		t.Errorf("19 sandboxes took %d commits of these sizes: %v", c.commits("together"), sizes)
	}
	c.conserved()
}

// A sandbox whose float is full makes the commit fail that it shares. Each payment is recorded nevertheless, and once.
// The sandbox goes alone after that.
func TestSharedCommitFails(t *testing.T) {
	c := newCrowd(t, 5, nil)
	full := c.all[3]
	c.Exec("update floats set balance = $2 where tenant = $1", full.Sandbox.Tenant, payments.MaxBalance)
	results := c.together(payments.Success)
	for range c.all {
		c.recorded(<-results)
	}
	for i, f := range c.all {
		want := "SUCCESS"
		if f == full {
			want = "LIMIT_EXCEEDED"
		}
		got := read[string](f, "select string_agg(status::text, ' ') from transactions where tenant = $1", f.Sandbox.Tenant)
		if got != want {
			t.Errorf("sandbox %d has %s", i, got)
		}
	}
	counts := c.api.SharedCommits()
	if counts.Failed["constraint"] != 1 || counts.Alone["batch_failed"] != int64(len(c.all)) {
		t.Errorf("%+v", counts)
	}
	isolated := counts.Alone["isolated"]
	if _, err := c.pay(full, "again", payments.Success); err != nil {
		t.Error(err)
	}
	if n := c.api.SharedCommits().Alone["isolated"]; n <= isolated {
		t.Error("the sandbox that failed went with others")
	}
}

// A sandbox that waits for a lock holds up the others for a moment only, and by a bound of the database.
func TestSharedCommitDoesNotWaitForOneSandbox(t *testing.T) {
	c := newCrowd(t, 5, nil)
	const slow = 4
	release := c.locked(c.all[slow])
	defer release()
	results := c.together(payments.Success)
	for range len(c.all) - 1 {
		r := <-results
		c.recorded(r)
		if r.sandbox == slow {
			t.Error("the lock was not waited for")
		}
	}
	release()
	c.recorded(<-results)
	if counts := c.api.SharedCommits(); counts.Failed["lock"] != 1 {
		t.Errorf("%+v", counts)
	}
	c.conserved()
}

// Nobody knows what became of a commit whose answer was lost, so no statement of it is sent again.
func TestSharedCommitIsUncertain(t *testing.T) {
	var proxy *ledgertest.Proxy
	c := newCrowd(t, 5, func(url string) string {
		proxy, url = ledgertest.NewProxy(t, url)
		return ledgertest.WholeStatements(url)
	})
	if _, err := c.pay(c.busy[0], "first", payments.Success); err != nil {
		t.Fatal(err)
	}
	proxy.CutAnswer("100 - extract(milliseconds")
	results := c.together(payments.Success)
	for range c.all {
		if r := <-results; !errors.Is(r.err, postgres.ErrUncertain) {
			t.Errorf("sandbox %d: %v", r.sandbox, r.err)
		}
	}
	for i, f := range c.all {
		if n := c.Count("select count(*) from transactions where tenant = $1", f.Sandbox.Tenant); n > 1 {
			t.Errorf("sandbox %d has %d transactions", i, n)
		}
	}
	if counts := c.api.SharedCommits(); counts.Failed["unavailable"] != 1 || counts.Alone["batch_failed"] != 0 {
		t.Errorf("%+v", counts)
	}
	c.conserved()
}

// Whatever several sandboxes record and settle at once adds up, and each is told what it recorded.
func TestSharedCommitsAddUp(t *testing.T) {
	c := newCrowd(t, 8, nil)
	const each, callers = 40, 12
	var callersDone, settling sync.WaitGroup
	ctx, stop := context.WithCancel(t.Context())
	settling.Go(func() {
		for ctx.Err() == nil {
			due, err := c.TenantsToSettle(ctx)
			if err == nil {
				_, err = c.SettleDue(ctx, due, 50)
			}
			if err != nil && ctx.Err() == nil {
				t.Error(err)
				return
			}
		}
	})
	results := make(chan paid, each*callers)
	for caller := range callers {
		callersDone.Go(func() {
			chance := rand.New(rand.NewPCG(1, uint64(caller)))
			for n := range each {
				p := paid{sandbox: chance.IntN(len(c.all))}
				f, reference := c.all[p.sandbox], fmt.Sprintf("r%d-%d", caller, n)
				switch chance.IntN(3) {
				case 0:
					p.transaction, p.err = c.pay(f, reference, payments.Success)
				case 1:
					p.transaction, p.err = c.pay(f, reference, payments.Pending)
				case 2:
					d := f.Disbursement(reference, payments.Success, alice, 1+chance.Int64N(50))
					d.Unfollowed = true
					p.transaction, p.err = &d.Transaction, c.api.CreateDisbursement(t.Context(), f.Sandbox.Tenant, d)
				}
				results <- p
			}
		})
	}
	callersDone.Wait()
	stop()
	settling.Wait()
	close(results)
	recorded := map[int]int{}
	for p := range results {
		c.recorded(p)
		recorded[p.sandbox]++
	}
	for i, f := range c.all {
		if n := c.Count("select count(*) from transactions where tenant = $1", f.Sandbox.Tenant); n != recorded[i] {
			t.Errorf("sandbox %d has %d transactions, not %d", i, n, recorded[i])
		}
	}
	counts, shared := c.api.SharedCommits(), int64(0)
	for _, n := range counts.Sizes[2:] {
		shared += n
	}
	if shared == 0 {
		t.Error("no commit was shared")
	}
	c.conserved()
}
