package requests

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"log/slog"
	"math"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/postgres/sqlc"
)

const (
	// period is how often requests are written.
	period = time.Second
	// writeTimeout bounds the writing.
	writeTimeout = 5 * time.Second
	// maxWaiting and maxWaitingOfOne bound the bytes of requests that wait to be written: of all sandboxes, and of one
	// sandbox.
	maxWaiting      = 8 << 20
	maxWaitingOfOne = 1 << 20
)

// Reasons for which a request is not logged, for [Options.Dropped].
const (
	DroppedFull    = "full"    // too many requests wait to be written
	DroppedRefused = "refused" // the database refused to write it
)

// Log is the request log of all sandboxes in a database. Recording a request sends no statement: the recorded requests
// are written together, about every second. A Log is safe for concurrent use. A nil Log records nothing.
type Log struct {
	db      *postgres.DB
	dropped func(reason string, requests int)
	most    int // bytes that may wait
	ofOne   int

	mu       sync.Mutex
	waiting  []Entry
	bytes    int               // of the requests that wait or are being written
	byTenant map[int64]int     // bytes for each sandbox
	refused  map[stranger]bool // with a waiting request
}

// stranger is the sandbox of a request that anybody may send as often as he likes, and whether it is a guest's.
type stranger struct {
	tenant int64
	guest  bool
}

// Options are the settings of a [Log].
type Options struct {
	Dropped func(reason string, requests int) // counts requests that are not logged; nil: they are not counted
}

// New makes a log in a database.
func New(db *postgres.DB, o Options) *Log {
	l := &Log{db: db, dropped: o.Dropped, most: maxWaiting, ofOne: maxWaitingOfOne, byTenant: map[int64]int{}, refused: map[stranger]bool{}}
	if l.dropped == nil {
		l.dropped = func(string, int) {}
	}
	return l
}

// Add records a request that was just answered. In each round of writing, only a sandbox's first request without a
// valid key is recorded, and its first one of a guest who has sent too many.
func (l *Log) Add(e Entry) {
	if l == nil {
		return
	}
	var err error
	if e.ID, err = payments.NewID(l.db.Now(), rand.Reader); err != nil {
		return // the random numbers of the system never fail
	}
	if full := !l.add(e); full {
		l.dropped(DroppedFull, 1)
	}
}

// add adds a request, and reports whether there was room for it.
func (l *Log) add(e Entry) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e.Kind == Unauthenticated || e.Guest && e.Status == http.StatusTooManyRequests {
		from := stranger{e.Tenant, e.Guest}
		if l.refused[from] {
			return true
		}
		l.refused[from] = true
	}
	size := e.size()
	if l.bytes+size > l.most || l.byTenant[e.Tenant]+size > l.ofOne {
		return false
	}
	l.waiting = append(l.waiting, e)
	l.bytes += size
	l.byTenant[e.Tenant] += size
	return true
}

// take returns the waiting requests. Their bytes count until forget is called.
func (l *Log) take() []Entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	taken := l.waiting
	l.waiting = nil
	clear(l.refused)
	return taken
}

// wait returns requests of take to the beginning of the queue.
func (l *Log) wait(taken []Entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting = append(taken, l.waiting...)
}

// forget subtracts the bytes of requests of take.
func (l *Log) forget(taken []Entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range taken {
		tenant, size := taken[i].Tenant, taken[i].size()
		l.bytes -= size
		if l.byTenant[tenant] -= size; l.byTenant[tenant] == 0 {
			delete(l.byTenant, tenant)
		}
	}
}

// Run writes the recorded requests every second, and once more when ctx ends.
func (l *Log) Run(ctx context.Context) {
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	failing := false
	for {
		select {
		case <-ctx.Done():
			_ = l.Flush(context.WithoutCancel(ctx)) // there is no later round
			return
		case <-ticker.C:
		}
		err := l.Flush(ctx)
		if err != nil && !failing && ctx.Err() == nil {
			slog.WarnContext(ctx, "requests cannot be logged; as many as there is room for wait", "error", err)
		}
		failing = err != nil
	}
}

// Flush is one round of [Log.Run]. If the database is unavailable, the requests wait for the next round.
func (l *Log) Flush(ctx context.Context) error {
	taken := l.take()
	if len(taken) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	err := postgres.Classify(l.write(ctx, taken), "logging requests")
	if errors.Is(err, postgres.ErrUnavailable) {
		l.wait(taken)
		return err
	}
	l.forget(taken)
	if err != nil {
		l.dropped(DroppedRefused, len(taken))
	}
	return err
}

func (l *Log) write(ctx context.Context, entries []Entry) error {
	var rows sqlc.LogRequestsParams
	for i := range entries {
		e := &entries[i]
		rows.Tenants = append(rows.Tenants, e.Tenant)
		rows.Ids = append(rows.Ids, postgres.UUID(e.ID))
		rows.Kinds = append(rows.Kinds, e.stored())
		rows.Received = append(rows.Received, e.ReceivedAt)
		rows.Methods = append(rows.Methods, e.Method)
		rows.Paths = append(rows.Paths, e.Path)
		rows.Queries = append(rows.Queries, string(e.Query))
		rows.Statuses = append(rows.Statuses, int32(e.Status))
		rows.Errors = append(rows.Errors, e.Error)
		rows.Hints = append(rows.Hints, e.Hint)
		rows.RequestIds = append(rows.RequestIds, e.RequestID)
		rows.Faults = append(rows.Faults, e.Fault)
		rows.Actors = append(rows.Actors, e.Actor)
		rows.RequestBodies = append(rows.RequestBodies, string(e.RequestBody))
		rows.ResponseBodies = append(rows.ResponseBodies, string(e.ResponseBody))
		notKept := ""
		if len(e.NotKept) > 0 {
			notKept = string(encoded(e.NotKept))
		}
		rows.NotKept = append(rows.NotKept, notKept)
	}
	return l.db.InTx(ctx, postgres.IdleLimited, func(tx pgx.Tx) error {
		q := sqlc.New(tx)
		if err := q.LogRequests(ctx, rows); err != nil {
			return err
		}
		if err := q.LockRequestLog(ctx); err != nil {
			return err
		}
		return q.TrimRequests(ctx, sqlc.TrimRequestsParams{
			Tenants: rows.Tenants, Kinds: rows.Kinds, Unauthenticated: MostUnauthenticated, Guests: MostOfGuests, Others: MostKept,
		})
	})
}

// List returns a page of up to limit requests of a sandbox, in the order of their answers, newest first. The parameter
// after is the id of the last request of the previous page; nil for the first page.
func (l *Log) List(ctx context.Context, tenant int64, f Filter, after *payments.ID, limit int) ([]Entry, error) {
	asked := sqlc.ListRequestsParams{
		Tenant: tenant, Succeeded: f.Succeeded, Status: int32(f.Status), Error: f.Error, Path: f.Path, OfApis: f.OfAPIs, Most: int32(limit),
		Before: pgtype.UUID{Bytes: [16]byte(slices.Repeat([]byte{math.MaxUint8}, 16)), Valid: true},
	}
	if after != nil {
		asked.Before = postgres.UUID(*after)
	}
	return l.list(ctx, tenant, func(ctx context.Context, q *sqlc.Queries) ([]sqlc.ListRequestsRow, error) {
		return q.ListRequests(ctx, asked)
	})
}

// ListNewer returns the page of [Log.List] that ends before the request than, of up to limit requests, newest first.
func (l *Log) ListNewer(ctx context.Context, tenant int64, f Filter, than payments.ID, limit int) ([]Entry, error) {
	return l.list(ctx, tenant, func(ctx context.Context, q *sqlc.Queries) ([]sqlc.ListRequestsRow, error) {
		found, err := q.ListNewerRequests(ctx, sqlc.ListNewerRequestsParams{
			Tenant: tenant, Succeeded: f.Succeeded, Status: int32(f.Status), Error: f.Error, Path: f.Path,
			OfApis: f.OfAPIs, After: postgres.UUID(than), Most: int32(limit),
		})
		rows := make([]sqlc.ListRequestsRow, len(found))
		for i := range found {
			rows[len(found)-1-i] = sqlc.ListRequestsRow(found[i])
		}
		return rows, err
	})
}

func (l *Log) list(
	ctx context.Context, tenant int64, read func(context.Context, *sqlc.Queries) ([]sqlc.ListRequestsRow, error),
) ([]Entry, error) {
	var rows []sqlc.ListRequestsRow
	err := l.db.List(ctx, tenant, func(ctx context.Context, scope postgres.DBTX) (err error) {
		rows, err = read(ctx, sqlc.New(scope))
		return err
	})
	if err != nil {
		return nil, postgres.Classify(err, "listing requests")
	}
	entries := make([]Entry, len(rows))
	for i := range rows {
		if entries[i], err = entryOf(tenant, &rows[i]); err != nil {
			return nil, err
		}
	}
	return entries, nil
}

// Find returns a request of a sandbox by its id; nil if the log does not have it.
func (l *Log) Find(ctx context.Context, tenant int64, id payments.ID) (*Entry, error) {
	following := id
	for i := len(following) - 1; i >= 0; i-- { // the id after it, since a page begins after an id
		if following[i]++; following[i] != 0 {
			break
		}
	}
	found, err := l.List(ctx, tenant, Filter{Succeeded: true}, &following, 1)
	if err != nil || len(found) == 0 || found[0].ID != id {
		return nil, err
	}
	return &found[0], nil
}

// CountRefused returns how many requests to the APIs of a sandbox since a time were refused or had no answer, as far as the log has
// them.
func (l *Log) CountRefused(ctx context.Context, tenant int64, since time.Time) (int, error) {
	n, err := sqlc.New(l.db.Tenant(tenant)).CountRefused(ctx, tenant, since)
	return int(n), postgres.Classify(err, "counting refused requests")
}

func entryOf(tenant int64, r *sqlc.ListRequestsRow) (Entry, error) {
	kind, guest := strings.CutPrefix(r.Kind, guestPrefix)
	e := Entry{
		ID: payments.ID(r.ID.Bytes), Tenant: tenant, Kind: Kind(kind), Guest: guest, ReceivedAt: r.ReceivedAt, Method: r.Method,
		Path: r.Path, Query: r.Query, Status: int(valueOf(r.Status)), Error: valueOf(r.Error), Hint: valueOf(r.Hint),
		RequestID: valueOf(r.RequestID), Fault: valueOf(r.Fault), Actor: valueOf(r.Actor),
		RequestBody: r.RequestBody, ResponseBody: r.ResponseBody,
	}
	if r.NotKept == nil {
		return e, nil
	}
	return e, json.Unmarshal(r.NotKept, &e.NotKept)
}

func valueOf[T any](v *T) (value T) {
	if v != nil {
		value = *v
	}
	return value
}

// LogAll makes all processes log all requests of a sandbox for the next ten minutes, from their next read of the
// configuration on. It returns [postgres.ErrConfigChanged] for a tenant that was reset or deleted.
func (l *Log) LogAll(ctx context.Context, tenant int64) error {
	marked, err := sqlc.New(l.db.Tenant(tenant)).LogAllRequests(ctx)
	if err == nil && !marked {
		err = postgres.ErrConfigChanged
	}
	return postgres.Classify(err, "watching the sandbox")
}
