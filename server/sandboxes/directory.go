package sandboxes

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/postgres/sqlc"
)

// Sandbox is the configuration of a sandbox in the api. It is immutable: a changed configuration is a new Sandbox.
type Sandbox struct {
	Tenant              int64
	OrganizationID      string
	Namespace           string
	Name                string
	ConfigVersion       int64
	LatencyPercent      int
	RateLimit           int           // requests in a minute, 0 for no limit
	PendingTimeout      time.Duration // how long a pending collection waits for its payer
	TestNumbers         payments.TestNumberSet
	Suspended           bool // no call is served
	API                 APIAccess
	Clocked             bool // it has a clock, from which records take their times
	ClockMode           ClockMode
	Seed                *int64     // of random draws; nil: each draw is random
	Faults              faults.Set // those that were set, the newest first, then those of its resource
	Environments        map[Market]Environment
	Markets             []Market        // of the environments, in the order of the resource
	Known               *payments.Known // the operators and countries that the sandbox knows
	Stores              map[string]bool // slugs
	RequestsLoggedUntil time.Time       // end of the mark that logs all requests; zero: never marked
	FollowedUntil       time.Time       // end of the mark of a followed sandbox; zero: never marked
	FirstStore          string          // of the resource
	CallbackHosts       []string        // patterns; nil: the default
	WebhookHost         string          // with its port; empty: none
}

// RequestsLogged reports whether all requests of the sandbox are logged, not only those that failed.
func (s *Sandbox) RequestsLogged(now time.Time) bool {
	return !s.RequestsLoggedUntil.IsZero() && now.Before(s.RequestsLoggedUntil)
}

// Has reports whether the sandbox has an enabled environment of an operator.
func (s *Sandbox) Has(operator payments.Operator) bool {
	return slices.ContainsFunc(s.Markets, func(m Market) bool { return m.Operator == operator && s.Environments[m].Enabled })
}

// unfollowedAfter is the clock skew that [Sandbox.Unfollowed] tolerates: the clock of this process may be that much
// ahead of the database's clock, by which the mark of a followed sandbox ends.
const unfollowedAfter = 10 * time.Minute

// Unfollowed reports whether it is certain that nobody follows the sandbox, by this version of its configuration.
func (s *Sandbox) Unfollowed(now time.Time) bool {
	return s.FollowedUntil.IsZero() || now.After(s.FollowedUntil.Add(unfollowedAfter))
}

// name is the name of a sandbox's resource.
type name struct{ namespace, name string }

// Market is an operator in a country.
type Market struct {
	Operator payments.Operator
	Country  payments.Country
}

// Environment is the configuration of one market of a sandbox.
type Environment struct {
	ID            string
	Currency      payments.Currency
	Enabled       bool
	Terms         payments.Terms
	UnknownPolicy payments.UnknownPolicy
	MaxAmount     *int64
	Vague         bool            // the operator's own API hides the reasons of failures
	Quirks        map[string]bool // that the resource sets
	CallbackURL   string          // of an operator whose requests name none; empty for none
	CallbackHash  bool            // callbacks to CallbackURL are signed
}

// KeyHash is the SHA-256 of an API key.
type KeyHash [32]byte

// Directory holds the configuration of every sandbox in memory, so that a request is authenticated without a round
// trip. It follows the database by polling one row.
type Directory struct {
	db *postgres.DB

	loads postgres.SharedLoad[struct{}]

	state     atomic.Pointer[DirectoryState]
	mu        sync.RWMutex
	readAt    time.Time // when the database was read last; only the one running load uses it
	version   int64
	sandboxes map[int64]*entry
	byKey     map[KeyHash]keyHolder
	byName    map[name]*Sandbox
	byCode    map[string]*Sandbox // by [HostCode]
	byNative  map[nativeKey]NativeHolder
}

type entry struct {
	sandbox *Sandbox
	keys    []KeyHash
	native  []nativeKey
}

// keyHolder is the sandbox of a key, and the key's end.
type keyHolder struct {
	sandbox *Sandbox
	until   time.Time // by the clock of this process; zero: without an end
}

// The version nothing is lower than every other version.
const nothing = -1

// NewDirectory makes an empty directory; the first [Directory.Refresh] fills it.
func NewDirectory(db *postgres.DB) *Directory {
	d := &Directory{
		db: db, version: nothing, sandboxes: map[int64]*entry{}, byKey: map[KeyHash]keyHolder{}, byName: map[name]*Sandbox{},
		byCode: map[string]*Sandbox{}, byNative: map[nativeKey]NativeHolder{},
	}
	d.loads = postgres.SharedLoad[struct{}]{
		Timeout: loadTimeout,
		Run:     func(ctx context.Context) (struct{}, error) { return struct{}{}, d.load(ctx) },
	}
	return d
}

// loadTimeout bounds one load.
const loadTimeout = 5 * time.Second

// ByKey returns the sandbox of an API key. It returns false for an unknown key, and for a replaced key after its end.
func (d *Directory) ByKey(hash KeyHash) (*Sandbox, bool) {
	d.mu.RLock()
	holder, ok := d.byKey[hash]
	d.mu.RUnlock()
	if !ok || !holder.until.IsZero() && !d.db.Now().Before(holder.until) {
		return nil, false
	}
	return holder.sandbox, true
}

// ByName returns the sandbox of a resource.
func (d *Directory) ByName(namespace, named string) (*Sandbox, bool) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	sandbox, ok := d.byName[name{namespace, named}]
	return sandbox, ok
}

// Only returns the only sandbox; nil if there is none, or another one.
func (d *Directory) Only() *Sandbox {
	d.mu.RLock()
	defer d.mu.RUnlock()
	if len(d.byName) != 1 {
		return nil
	}
	for _, sandbox := range d.byName {
		return sandbox
	}
	return nil
}

// ByHostCode returns the sandbox whose organization has a [HostCode].
func (d *Directory) ByHostCode(code string) (*Sandbox, bool) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	sandbox, ok := d.byCode[code]
	return sandbox, ok
}

// ByTenant returns the sandbox with a tenant number.
func (d *Directory) ByTenant(tenant int64) (*Sandbox, bool) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	e, ok := d.sandboxes[tenant]
	if !ok {
		return nil, false
	}
	return e.sandbox, true
}

// Run polls the database until ctx ends. It sees a change after about one interval.
func (d *Directory) Run(ctx context.Context, interval time.Duration) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	var failing bool
	for {
		err := d.Refresh(ctx)
		switch {
		case err == nil && failing:
			slog.InfoContext(ctx, "the sandboxes' configuration is read again")
		case err == nil || failing || ctx.Err() != nil:
		case d.State().ReadAt.IsZero():
			slog.InfoContext(ctx, "waiting for the database: the sandboxes' configuration cannot be read yet", "because", err)
		default:
			slog.WarnContext(ctx, "the sandboxes' configuration cannot be read; the one that was read last is served", "error", err)
		}
		failing = err != nil
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// Refresh returns once the directory holds everything that was committed before the call. Calls that wait for the same
// load share its result. Refresh returns [postgres.ErrUnavailable] if the database cannot be read, and the error of ctx
// if ctx ends first.
func (d *Directory) Refresh(ctx context.Context) error {
	_, err := d.loads.Do(ctx)
	return postgres.Classify(err, "reading the sandboxes' configuration")
}

// changes are the rows that a load has read, in one snapshot.
type changes struct {
	readAt        time.Time // by the clock of this process, not after the snapshot
	since         int64     // the rows changed after this version; all rows for the version nothing
	version       int64
	organizations []sqlc.ChangedOrganizationsRow
	environments  []sqlc.Environment
	stores        []sqlc.StoresOfRow
	keys          []sqlc.KeysOfRow
	setFaults     []sqlc.SetFaultsOfRow
	retired       []int64
}

func (d *Directory) load(ctx context.Context) error {
	if err := d.db.CheckSchema(ctx); err != nil {
		return err
	}
	version, err := sqlc.New(d.db.Unscoped()).ConfigVersion(ctx)
	if err != nil {
		return err
	}
	now, since := d.db.Now(), d.version
	if now.Sub(d.readAt) > retiredKept/2 {
		since = nothing // tenants that were retired since then may be forgotten by now
	}
	if version == since {
		d.noteRead(now)
		return nil
	}
	c := changes{readAt: now, since: since}
	err = d.db.InTx(ctx, postgres.Snapshot, func(tx pgx.Tx) error { return c.read(ctx, sqlc.New(tx)) })
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.apply(&c)
	d.noteRead(now)
	return nil
}

// DirectoryState is the state of a directory.
type DirectoryState struct {
	Version   int64     // of the configuration
	Sandboxes int       // number of sandboxes in the directory
	ReadAt    time.Time // when the directory was last known to be equal to the database; zero: never
}

// State returns what was loaded last, and when. It does not wait for a load, and returns the zero value before the
// first one.
func (d *Directory) State() DirectoryState {
	if state := d.state.Load(); state != nil {
		return *state
	}
	return DirectoryState{}
}

// noteRead records that the directory was the same as the database at a time.
func (d *Directory) noteRead(at time.Time) {
	d.readAt = at
	d.state.Store(&DirectoryState{Version: d.version, Sandboxes: len(d.sandboxes), ReadAt: at})
}

func (c *changes) read(ctx context.Context, q *sqlc.Queries) (err error) {
	if c.version, err = q.ConfigVersion(ctx); err != nil {
		return err
	}
	if c.version < c.since {
		c.since = nothing // the database was restored from a backup: all rows are read again
	}
	if c.organizations, err = q.ChangedOrganizations(ctx, c.since); err != nil {
		return err
	}
	if c.since != nothing {
		if c.retired, err = q.RetiredTenants(ctx, c.since); err != nil {
			return err
		}
	}
	tenants := make([]int64, len(c.organizations))
	for i, o := range c.organizations {
		tenants[i] = o.Tenant
	}
	if c.environments, err = q.EnvironmentsOf(ctx, tenants); err != nil {
		return err
	}
	if c.stores, err = q.StoresOf(ctx, tenants); err != nil {
		return err
	}
	if c.setFaults, err = q.SetFaultsOf(ctx, tenants); err != nil {
		return err
	}
	c.keys, err = q.KeysOf(ctx, tenants)
	return err
}

// apply replaces the entries of the sandboxes that have changed.
func (d *Directory) apply(c *changes) {
	changed := c.entries()
	until, natives := c.addKeys(changed)
	if c.since == nothing {
		clear(d.sandboxes)
		clear(d.byKey)
		clear(d.byName)
		clear(d.byCode)
		clear(d.byNative)
	}
	for _, tenant := range c.retired {
		d.remove(tenant)
	}
	for tenant := range changed {
		d.remove(tenant) // before any sandbox is added, since a key may have moved between sandboxes
	}
	for tenant, e := range changed {
		d.add(tenant, e, until)
	}
	for _, holder := range natives {
		d.byNative[holder.key] = holder
	}
	d.version = c.version
}

// entries returns the changed sandboxes by their tenants, with their environments and stores.
func (c *changes) entries() map[int64]*entry {
	changed := map[int64]*entry{}
	for _, o := range c.organizations {
		changed[o.Tenant] = &entry{sandbox: sandboxOf(&o)}
	}
	for tenant, set := range c.faultsSet() {
		sandbox := changed[tenant].sandbox
		sandbox.Faults = append(set, sandbox.Faults...)
	}
	named := map[int64]map[Market]bool{}
	for _, e := range c.environments {
		at := Market{payments.Operator(e.Operator), payments.Country(e.Country)}
		if named[e.Tenant] == nil {
			named[e.Tenant] = map[Market]bool{}
		}
		named[e.Tenant][at] = true
		if !e.Removed {
			sandbox := changed[e.Tenant].sandbox
			sandbox.Environments[at], sandbox.Markets = environmentOf(e), append(sandbox.Markets, at)
		}
	}
	for tenant, e := range changed {
		e.sandbox.Known = payments.KnownWith(func(o payments.Operator, c payments.Country) bool { return named[tenant][Market{o, c}] })
	}
	for _, s := range c.stores {
		sandbox := changed[s.Tenant].sandbox
		sandbox.Stores[s.Slug], sandbox.FirstStore = true, cmp.Or(sandbox.FirstStore, s.Slug)
	}
	return changed
}

// faultsSet returns the faults that were set in the changed sandboxes. They end by the clock of this process.
func (c *changes) faultsSet() map[int64]faults.Set {
	set := map[int64]faults.Set{}
	for _, row := range c.setFaults {
		var ends time.Time
		if row.EndsInMs > 0 {
			ends = c.readAt.Add(time.Duration(row.EndsInMs) * time.Millisecond)
		}
		fault, err := faults.ParseSet(row.Number, row.Entry, ends)
		if err != nil {
			slog.Error("a fault that was set is ignored", "tenant", row.Tenant, "error", err)
			continue
		}
		set[row.Tenant] = append(set[row.Tenant], fault)
	}
	return set
}

// addKeys adds the keys to the changed sandboxes. It returns the time at which each key with an end expires, and the
// holders of credentials of the operators' own APIs.
func (c *changes) addKeys(changed map[int64]*entry) (until map[KeyHash]time.Time, natives []NativeHolder) {
	until = map[KeyHash]time.Time{}
	for _, k := range c.keys {
		key := KeyHash(k.Hash)
		changed[k.Tenant].keys = append(changed[k.Tenant].keys, key)
		if k.ExpiresInMs > 0 {
			until[key] = c.readAt.Add(time.Duration(k.ExpiresInMs) * time.Millisecond)
		}
		natives = append(natives, nativeHolders(changed[k.Tenant], key, k.Native)...)
	}
	return until, natives
}

func sandboxOf(o *sqlc.ChangedOrganizationsRow) *Sandbox {
	declared, err := faults.Parse(o.Faults)
	if err != nil {
		slog.Error("the faults of a sandbox are ignored", "organization", o.OrgID, "error", err)
	}
	sandbox := &Sandbox{
		Tenant: o.Tenant, OrganizationID: o.OrgID, Namespace: o.Namespace, Name: o.Name, ConfigVersion: o.Version,
		LatencyPercent: int(o.LatencyPercent), RateLimit: limitOf(o.RateLimit),
		PendingTimeout: time.Duration(o.PendingTimeoutMs) * time.Millisecond,
		TestNumbers:    payments.TestNumberSet(o.TestNumbers), Suspended: o.Suspended,
		API:     APIAccess{TestClients: o.APITestClients, Reset: o.APIReset, Faults: o.APIFaults, MaxTestClients: o.MaxTestClients},
		Clocked: o.Clocked, ClockMode: ClockMode(o.ClockMode), Seed: o.Seed, Faults: declared,
		Environments: map[Market]Environment{}, Stores: map[string]bool{},
		CallbackHosts: o.CallbackHosts, WebhookHost: o.WebhookHost,
	}
	if o.FollowedUntil != nil {
		sandbox.FollowedUntil = *o.FollowedUntil
	}
	if o.RequestsLoggedUntil != nil {
		sandbox.RequestsLoggedUntil = *o.RequestsLoggedUntil
	}
	return sandbox
}

func (d *Directory) add(tenant int64, e *entry, until map[KeyHash]time.Time) {
	d.sandboxes[tenant] = e
	d.byName[name{e.sandbox.Namespace, e.sandbox.Name}] = e.sandbox
	d.byCode[HostCode(e.sandbox.OrganizationID)] = e.sandbox
	for _, key := range e.keys {
		d.byKey[key] = keyHolder{sandbox: e.sandbox, until: until[key]}
	}
}

func (d *Directory) remove(tenant int64) {
	if e := d.sandboxes[tenant]; e != nil {
		for _, key := range e.keys {
			delete(d.byKey, key)
		}
		delete(d.byName, name{e.sandbox.Namespace, e.sandbox.Name})
		delete(d.byCode, HostCode(e.sandbox.OrganizationID))
		for _, key := range e.native {
			delete(d.byNative, key)
		}
		delete(d.sandboxes, tenant)
	}
}

func limitOf(limit *int32) int {
	if limit == nil {
		return 0
	}
	return int(*limit)
}

func environmentOf(e sqlc.Environment) Environment {
	return Environment{
		ID: e.EnvID, Currency: payments.Currency(e.Currency), Enabled: e.Enabled,
		Terms:         payments.Terms{CommissionBPS: int(e.CommissionBps), AbsorptionPct: int(e.AbsorptionPct)},
		UnknownPolicy: payments.UnknownPolicy(e.UnknownPolicy), MaxAmount: e.MaxAmount,
		Vague: e.Vague, Quirks: quirksIn(e.Quirks), CallbackURL: e.CallbackURL, CallbackHash: e.CallbackHash,
	}
}
