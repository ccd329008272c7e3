package ledger_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/ledger/clocks"
	"github.com/cauri-dev/cauri/server/ledger/faultcounts"
	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
)

// watched marks the sandbox as watched, and returns a reader of its changes.
func watched(w *fixture) *changeReader {
	w.T.Helper()
	from, err := w.WatchChanges(w.T.Context(), w.Sandbox.Tenant)
	if err != nil {
		w.T.Fatal(err)
	}
	w.Reload()
	return &changeReader{w, from}
}

// changeReader reads changes one page after the other.
type changeReader struct {
	*fixture
	at ledger.Position
}

// settled waits for the end of all that writes now, also in the databases of other tests: a reader reads up to what runs.
func (w *fixture) settled() {
	w.T.Helper()
	running := read[int64](w, "select pg_snapshot_xmax(pg_current_snapshot())::text::bigint")
	ledgertest.Eventually(w.T, func() bool {
		return read[int64](w, "select pg_snapshot_xmin(pg_current_snapshot())::text::bigint") >= running
	})
}

// next reads the next page, with all that was committed.
func (r *changeReader) next(limit int) ledger.Changes {
	r.T.Helper()
	r.settled()
	return r.now(limit)
}

// now reads the next page as far as it goes.
func (r *changeReader) now(limit int) ledger.Changes {
	r.T.Helper()
	page, err := r.ChangesAfter(r.T.Context(), r.Sandbox.Tenant, r.at, limit)
	if err != nil {
		r.T.Fatal(err)
	}
	r.at = page.Next
	return page
}

// told are the references of the transactions on the next page.
func (r *changeReader) told() (references []string) {
	r.T.Helper()
	for _, change := range r.next(1000).Changes {
		if change.Transaction != nil {
			references = append(references, change.Transaction.Reference)
		}
	}
	return references
}

// note records a transaction in a database transaction of its own, which the caller ends.
func (w *fixture) note(reference string) pgx.Tx {
	w.T.Helper()
	tx, err := ledgertest.Connect(w.T, w.URL).Begin(w.T.Context())
	if err != nil {
		w.T.Fatal(err)
	}
	if _, err := tx.Exec(w.T.Context(), `insert into transactions
		select (jsonb_populate_record(t, jsonb_build_object('id', gen_random_uuid(), 'reference', $1::text))).* from transactions t
		where reference = 'first'`, reference); err != nil {
		w.T.Fatal(err)
	}
	return tx
}

func commit(t *testing.T, tx pgx.Tx) {
	t.Helper()
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// A reader waits for every database transaction that began to write before: none commits behind its back.
func TestChangesOfTransactionsThatCommitOutOfOrder(t *testing.T) {
	w := newFixture(t)
	w.Create(w.Collection("first", payments.Success, ledgertest.Alice))
	r := watched(w)
	early := w.note("early")
	late := w.note("late")
	commit(t, late)
	if page := r.now(10); len(page.Changes) > 0 {
		t.Fatalf("%+v is told while a database transaction before it runs", page.Changes)
	}
	commit(t, early)
	if told := r.told(); !slices.Equal(told, []string{"early", "late"}) {
		t.Errorf("told is %v", told)
	}
	lost := w.note("lost")
	if err := lost.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if told := r.told(); len(told) > 0 {
		t.Errorf("%v is told, which was rolled back", told)
	}
}

// A large batch looks once whether a stream follows a sandbox, before the triggers do.
func TestChangesOfALargeBatch(t *testing.T) {
	const each = 30
	w := newFixture(t)
	w.Client("alice", ledgertest.Alice, 1_000_000)
	w.Multiply(w.Pending("unfollowed", ledgertest.Alice), each-1)
	if counts := w.Settle(); counts.Claimed != each {
		t.Fatalf("%d are settled, not %d", counts.Claimed, each)
	}
	if n := read[int](w, "select count(*) from changes"); n > 0 {
		t.Errorf("%d changes are noted, and nobody follows", n)
	}
	r := watched(w)
	w.Multiply(w.Pending("followed", ledgertest.Alice), each-1)
	r.next(1000)
	w.Settle()
	if told := r.told(); len(told) != each {
		t.Errorf("told are %d settlements, not %d", len(told), each)
	}
}

// A reader is ready when all are done who had not seen the mark: what they recorded is not told, and what is recorded later is.
func TestChangesAreAllNotedFromTheBeginning(t *testing.T) {
	w := newFixture(t)
	w.Create(w.Collection("first", payments.Success, ledgertest.Alice))
	unseen := w.note("unseen")
	r := watched(w)
	seen := w.note("seen")
	from := r.at
	if page := r.now(10); page.Below >= from.Xact || len(page.Changes) > 0 {
		t.Fatalf("the reader from %v is ready (below %d) while a database transaction runs that has not seen the mark", from, page.Below)
	}
	commit(t, unseen)
	commit(t, seen)
	page := r.next(10)
	if page.Below < from.Xact || len(page.Changes) == 0 || page.Changes[0].Transaction.Reference != "seen" {
		t.Errorf("the reader from %v goes to %d, and is told %+v", from, page.Below, page.Changes)
	}
}

// Nothing is noted by a request that was decided while nobody listened. Once somebody does, it is not recorded: it is decided again.
func TestUnfollowedRequestsAreDecidedAgain(t *testing.T) {
	w := newFixture(t)
	n := func(reference string) *ledger.NewCollection {
		collection := w.Collection(reference, payments.Success, ledgertest.Alice)
		collection.Unfollowed = w.Sandbox.Unfollowed(time.Now())
		return collection
	}
	before := n("before")
	if !before.Unfollowed {
		t.Fatal("the sandbox is watched")
	}
	w.Create(n("unfollowed"))
	r := watched(w)
	if err := w.CreateCollection(t.Context(), w.Sandbox.Tenant, before); !errors.Is(err, postgres.ErrConfigChanged) {
		t.Errorf("a request that was decided before is recorded: %v", err)
	}
	w.Create(n("after"))
	if told := r.told(); !slices.Equal(told, []string{"after"}) {
		t.Errorf("told is %v", told)
	}
	w.Exec("update organizations set followed_until = now() - interval '1 minute', version = 0")
	w.Reload()
	if n("late").Unfollowed {
		t.Error("a mark that has just ended counts no more, though the clock of a process may be ahead")
	}
}

// Everything that a sandbox shows is told when it changes, once for several changes.
func TestWhatIsToldOfAPayment(t *testing.T) {
	w := newFixture(t)
	w.Client("alice", ledgertest.Alice, 50_000)
	r := watched(w)
	pending := w.Pending("r1", ledgertest.Alice)
	kinds := func() (told []string) {
		for _, c := range r.next(1000).Changes {
			switch {
			case c.Transaction != nil:
				told = append(told, fmt.Sprint("transaction ", c.Transaction.Status))
			case c.Attempt != nil:
				told = append(told, fmt.Sprint("attempt ", c.Attempt.Number, " of ", c.Event.State))
			case c.Resent:
				told = append(told, fmt.Sprint("resent event ", c.Event.State))
			case c.Event != nil:
				told = append(told, fmt.Sprint("event ", c.Event.State))
			case c.Balance != nil:
				told = append(told, fmt.Sprint("balance ", c.Balance.MSISDN, " ", c.Balance.Balance))
			case c.Clock != nil:
				told = append(told, "clock")
			}
		}
		slices.Sort(told)
		return told
	}
	expect := func(what string, want ...string) {
		t.Helper()
		if got := kinds(); !slices.Equal(got, want) {
			t.Errorf("%s is told as %q, want %q", what, got, want)
		}
	}
	expect("a pending payment", "transaction PENDING")
	w.Settle()
	expect("its settlement", "balance  1985", "balance +250788000001 49000", "event queued", "transaction SUCCESS")
	leased := w.Lease(ledgertest.Body())
	expect("a lease")
	w.Finish(&leased[0], ledger.AttemptResult{State: ledger.EventQueued, RetryAfter: time.Hour})
	expect("an attempt", "attempt 1 of queued", "event queued")
	w.Due()
	for _, event := range w.Lease(ledgertest.Body()) {
		w.Finish(&event, ledger.AttemptResult{State: ledger.EventDelivered, ResponseStatus: 200})
	}
	if _, err := w.ResendEvent(t.Context(), w.Sandbox.Tenant, pending.ID); err != nil {
		t.Fatal(err)
	}
	expect("a delivery, and that it is to be sent again", "attempt 2 of queued", "event queued", "resent event queued")
	if _, err := w.Advance(t.Context(), w.Sandbox.Tenant, clocks.AdvanceTarget{By: new(time.Hour)}); err != nil {
		t.Fatal(err)
	}
	expect("an advance", "clock")
	w.Config.OpeningFloat[payments.RWF] += 500
	w.Apply()
	expect("a balance by the resource", "balance  1500")
}

// The faults are told when one is set, acts or is removed, and not when one that has a limit is only asked.
func TestWhatIsToldOfFaults(t *testing.T) {
	w := newFixture(t)
	w.Config.API.Faults = true
	w.Apply()
	set := func() {
		t.Helper()
		f := faultcounts.Setting{Name: "lost", Entry: []byte(`{"name":"lost","when":{"first":1},"api":{"dropConnection":"AfterCommit"}}`), By: "console"}
		if err := w.SetFault(t.Context(), w.Sandbox.Tenant, f); err != nil {
			t.Fatal(err)
		}
	}
	set()
	r := watched(w)
	expect := func(what, want string) {
		t.Helper()
		got := "nothing"
		for _, c := range r.next(1000).Changes {
			if c.Faults == nil {
				continue
			}
			got = "the faults"
			for i := range c.Faults.Set {
				f := &c.Faults.Set[i]
				got += fmt.Sprint(" ", f.Name, " by ", f.By, " acted ", c.Faults.Acts(&f.Fault).Acts)
			}
		}
		if got != want {
			t.Errorf("%s is told as %q, want %q", what, got, want)
		}
	}
	expect("what was set before", "nothing")
	set()
	expect("a setting", "the faults lost by console acted 0")
	now, err := w.FaultsNow(t.Context(), w.Sandbox.Tenant)
	if err != nil {
		t.Fatal(err)
	}
	declared := faults.Set{now.Set[0].Fault}
	if got := w.actsAt(declared, "a"); got != "lost" {
		t.Fatalf("%q acts", got)
	}
	expect("an act", "the faults lost by console acted 1")
	if got := w.actsAt(declared, "b"); got != "" {
		t.Fatalf("%q acts", got)
	}
	expect("a request on which it may not act", "nothing")
	if err := w.RemoveFaults(t.Context(), w.Sandbox.Tenant, ""); err != nil {
		t.Fatal(err)
	}
	expect("the removal", "the faults")
	w.Exec("update organizations set followed_until = now() - interval '1 minute', fault_changes = '{}'")
	set()
	if n := w.Count("select count(*) from changes where kind = 'faults'"); n != 3 {
		t.Errorf("%d changes are noted, and nobody follows", n)
	}
}

// A callback of an operator's own API is told as an event, with its attempt.
func TestWhatIsToldOfACallback(t *testing.T) {
	w := newFixture(t)
	r := watched(w)
	id := w.asked("r1", "https://shop.example/callbacks")
	var asked *payments.Transaction
	for _, c := range r.next(1000).Changes {
		if c.Transaction != nil {
			asked = c.Transaction
		}
	}
	if asked == nil || asked.ID != id || len(asked.NativeSent) == 0 {
		t.Errorf("told is %+v, want the transaction with what was sent", asked)
	}
	for _, c := range w.leaseCallbacks(1) {
		w.finishCallback(&c, ledger.AttemptResult{State: ledger.EventDelivered, ResponseStatus: 202})
	}
	var event *ledger.Event
	var attempt *ledger.AttemptRecord
	for _, c := range r.next(1000).Changes {
		if c.Attempt != nil {
			event, attempt = c.Event, c.Attempt
		}
	}
	if attempt == nil || *attempt.ResponseStatus != 202 || !event.Callback || event.ID != id || event.State != ledger.EventDelivered {
		t.Errorf("told is %+v of %+v", attempt, event)
	}
}

// Whoever goes on from an entry misses nothing, also where several entries have one place.
func TestResumingBetweenEntriesOfOnePlace(t *testing.T) {
	w := newFixture(t)
	w.Client("alice", ledgertest.Alice, 50_000)
	r := watched(w)
	from := r.at
	w.Create(w.Collection("r1", payments.Success, ledgertest.Alice))
	all := r.next(1000).Changes
	if len(all) != 4 {
		t.Fatalf("%d changes are told, want the transaction, its event and two balances", len(all))
	}
	for n, change := range all {
		r.at = change.Resume
		again := len(r.next(1000).Changes)
		if want := 4; n < 3 && again != want {
			t.Errorf("after entry %d of 4, %d are told, want all of its place", n+1, again)
		} else if n == 3 && again != 0 {
			t.Errorf("after the last entry %d are told", again)
		}
		if change.Resume.Compare(from) < 0 {
			t.Errorf("entry %d leads back before the beginning", n+1)
		}
	}
}

// Pages follow one another without a gap, also where one ends within a database transaction.
func TestChangesInPages(t *testing.T) {
	w := newFixture(t)
	first := w.Create(w.Collection("first", payments.Success, ledgertest.Alice))
	r := watched(w)
	w.Multiply(first, 20)
	told := map[string]bool{}
	for pages := 0; ; pages++ {
		page := r.next(3)
		for _, change := range page.Changes {
			if change.Transaction == nil {
				continue
			}
			if told[change.Transaction.Reference] {
				t.Errorf("%s is told twice", change.Transaction.Reference)
			}
			told[change.Transaction.Reference] = true
		}
		if !page.More {
			break
		}
		if pages > 20 {
			t.Fatal("there is no end")
		}
	}
	if len(told) != 20 {
		t.Errorf("%d of 20 are told", len(told))
	}
}

// Of what was removed, or happened while nobody listened, or before a reset, nothing is told: the reader learns that it is missing.
func TestChangesThatAreNotKnown(t *testing.T) {
	w := newFixture(t)
	first := w.Create(w.Collection("first", payments.Success, ledgertest.Alice))
	r := watched(w)
	begin := r.at
	known := func(at ledger.Position, want error) {
		t.Helper()
		w.settled()
		if _, err := w.ChangesAfter(t.Context(), w.Sandbox.Tenant, at, 10); !errors.Is(err, want) {
			t.Errorf("the changes after %v: %v, want %v", at, err, want)
		}
	}
	known(begin, nil)
	known(ledger.Position{Xact: read[int64](w, "select min(xact) from changes") - 1}, ledger.ErrChangesLost)
	known(ledger.Position{Xact: begin.Xact + 1_000_000}, ledger.ErrChangesLost)

	w.Multiply(first, 5)
	r.next(3)
	middle := r.at
	r.next(100)
	w.Multiply(w.Create(w.Collection("second", payments.Success, ledgertest.Alice)), 5)
	w.Exec("update changes set created_at = now() - interval '1 hour' where (xact, seq) <= ($1, $2)", r.at.Xact-1, 1_000_000)
	for range 2 {
		if err := w.RemoveAgedChanges(t.Context(), 10*time.Minute); err != nil {
			t.Fatal(err)
		}
	}
	if left := w.Count("select count(*) from changes where created_at < now() - interval '10 minutes'"); left != 1 {
		t.Errorf("%d old changes are left, want the last one", left)
	}
	known(begin, ledger.ErrChangesLost)
	known(middle, ledger.ErrChangesLost)
	known(r.at, nil)

	// The mark ended, and nobody noted anything until the next one.
	w.Exec("update organizations set followed_until = now() - interval '1 second'")
	before := r.at
	again := watched(w)
	known(before, ledger.ErrChangesLost)
	known(again.at, nil)

	// The mark is renewed in time.
	w.Exec("update organizations set followed_until = now() + interval '2 minutes'")
	_ = watched(w)
	known(again.at, nil)

	// Streams renew the mark once a minute, and one with less than a minute left counts as ended. So that a client has four
	// minutes to come back, a mark is extended while more than five are left.
	w.Exec("update organizations set followed_until = now() + interval '5 minutes 30 seconds'")
	_ = watched(w)
	if left := read[float64](w, "select extract(epoch from followed_until - now())::float8 from organizations"); left < 9*60 {
		t.Errorf("the mark is left with %.0f s", left)
	}

	w.Config.Reset = "empty"
	w.Apply()
	if _, err := w.ChangesAfter(t.Context(), w.Sandbox.Tenant, again.at, 10); !errors.Is(err, postgres.ErrConfigChanged) {
		t.Errorf("the changes of a tenant that was reset: %v", err)
	}
	w.Reload()
	known(again.at, ledger.ErrChangesLost)
	known(watched(w).at, nil)
}
