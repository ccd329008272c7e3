package sandboxes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"reflect"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/cauri-dev/cauri/server/egress"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/postgres/sqlc"
)

// ApplySandbox makes the rows of a sandbox equal to its resource, in one database transaction, and returns their state
// after it. It writes nothing if they are equal already. It returns [ErrStaleGeneration] for an older generation than
// the one that was applied last, [ErrNameTaken] if rows of another resource have the name, and [ErrClockAdvancing].
func (s *Registry) ApplySandbox(ctx context.Context, want Config) (SandboxState, error) {
	uid, err := parseUID(want.UID)
	if err != nil {
		return SandboxState{}, err
	}
	c := &sandboxChange{store: s, q: s.readOnlyQueries(), uid: uid, want: want}
	err = c.compare(ctx)
	if errors.Is(err, errToWrite) {
		err = s.inTx(ctx, func(q *sqlc.Queries) error {
			c = &sandboxChange{store: s, q: q, uid: uid, want: want}
			return c.apply(ctx)
		})
	}
	if err != nil {
		return SandboxState{}, postgres.Classify(err, "applying the sandbox to the database")
	}
	if c.clockAdvancing {
		return SandboxState{}, ErrClockAdvancing
	}
	return c.state, postgres.Classify(s.readCounts(ctx, c.tenant, want.MonthlyQuota != nil, &c.state), "reading the sandbox's counts")
}

// sandboxChange is one run of ApplySandbox.
type sandboxChange struct {
	store *Registry
	q     *sqlc.Queries
	uid   pgtype.UUID
	want  Config

	tenant  int64
	former  int64 // the tenant before a reset; 0: it was not reset
	changed bool
	state   SandboxState

	clockAdvancing bool // the clock's mode was not changed, since the clock is being advanced
}

// compare takes no lock, and compares the sandbox's rows with the resource. It returns errToWrite if anything has to be
// written.
func (c *sandboxChange) compare(ctx context.Context) error {
	row, err := c.q.FindOrganization(ctx, c.uid)
	if errors.Is(err, pgx.ErrNoRows) {
		return errToWrite
	}
	if err != nil {
		return err
	}
	if !row.Settled || row.Organization.Generation != c.want.Generation || c.wantsReset(row.Organization.Reset) {
		return errToWrite
	}
	if err := c.settings(ctx, row.Organization); err != nil {
		return err
	}
	return c.parts(ctx)
}

// apply locks the organization and writes the rows that differ.
func (c *sandboxChange) apply(ctx context.Context) error {
	if err := c.organization(ctx); err != nil {
		return err
	}
	if err := c.parts(ctx); err != nil {
		return err
	}
	if err := noteFingerprint(ctx, c.q, c.tenant); err != nil {
		return err
	}
	return c.announce(ctx) // last: every other change of a configuration waits for its lock
}

func noteFingerprint(ctx context.Context, q *sqlc.Queries, tenant int64) error {
	if err := q.KeepPlans(ctx); err != nil {
		return err
	}
	return q.NoteFingerprint(ctx, tenant)
}

func (c *sandboxChange) parts(ctx context.Context) error {
	for _, step := range []func(context.Context) error{c.environments, c.stores, c.operators, c.floats, c.testClients} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// announce raises the configuration's version if the configuration changed, so that its readers load it.
func (c *sandboxChange) announce(ctx context.Context) error {
	switch {
	case c.former != 0:
		return c.q.RetireTenant(ctx, c.former, c.tenant)
	case c.changed:
		return c.q.BumpVersion(ctx, c.tenant)
	}
	return nil
}

func (c *sandboxChange) organization(ctx context.Context) error {
	row, err := c.q.LockOrganization(ctx, c.uid)
	if errors.Is(err, pgx.ErrNoRows) {
		return c.newOrganization(ctx)
	}
	if err != nil {
		return err
	}
	if err := c.takeGeneration(ctx, row); err != nil {
		return err
	}
	if c.wantsReset(row.Reset) {
		if err := c.reset(ctx, row.Tenant); err != nil {
			return err
		}
		row.Tenant, row.Reset = c.tenant, c.want.Reset
	}
	return c.settings(ctx, row)
}

// takeGeneration records which generation of the resource is applied. It returns [ErrStaleGeneration] for an earlier
// generation than the last one, which would undo later changes and repeat an old reset.
func (c *sandboxChange) takeGeneration(ctx context.Context, row sqlc.Organization) error {
	if row.Generation == c.want.Generation {
		return nil
	}
	taken, err := c.q.TakeGeneration(ctx, c.want.Generation, row.Tenant, c.want.RolledBack)
	if err == nil && taken == 0 {
		err = ErrStaleGeneration{Applied: row.Generation}
	}
	return err
}

// settings makes the settings of an organization equal to those of the resource.
func (c *sandboxChange) settings(ctx context.Context, row sqlc.Organization) error {
	c.tenant, c.state.OrganizationID, c.state.Reset = row.Tenant, row.OrgID, row.Reset
	wanted := row
	c.setSettings(&wanted)
	if err := c.clock(ctx, row, &wanted); err != nil {
		return err
	}
	if err := c.updateOrganization(ctx, row, wanted); err != nil {
		return err
	}
	if err := c.observeClock(ctx, wanted); err != nil {
		return err
	}
	return c.observeFaults(ctx, wanted)
}

func (c *sandboxChange) updateOrganization(ctx context.Context, row, wanted sqlc.Organization) error {
	if reflect.DeepEqual(row, wanted) { // compares all columns, so that none is forgotten
		return nil
	}
	c.changed = true
	if !reflect.DeepEqual(row.WebhookURL, wanted.WebhookURL) {
		if err := c.q.ForgetAcknowledgment(ctx, wanted.Tenant); err != nil {
			return err
		}
	}
	return c.q.UpdateOrganization(ctx, sqlc.UpdateOrganizationParams{
		Namespace: wanted.Namespace, Name: wanted.Name,
		LatencyPercent: wanted.LatencyPercent, MonthlyQuota: wanted.MonthlyQuota, RateLimit: wanted.RateLimit,
		WebhookURL: wanted.WebhookURL, WebhookMaxRetries: wanted.WebhookMaxRetries,
		WebhookInitialDelayMs: wanted.WebhookInitialDelayMs, WebhookFactor: wanted.WebhookFactor,
		WebhookMaxDelayMs: wanted.WebhookMaxDelayMs, WebhookTypes: wanted.WebhookTypes,
		PendingTimeoutMs: wanted.PendingTimeoutMs, TestNumbers: wanted.TestNumbers, Suspended: wanted.Suspended, Tenant: wanted.Tenant,
		APITestClients: wanted.APITestClients, APIReset: wanted.APIReset, APIFaults: wanted.APIFaults,
		MaxTestClients: wanted.MaxTestClients,
		Clocked:        wanted.Clocked, ClockMode: wanted.ClockMode, ClockStart: wanted.ClockStart, Seed: wanted.Seed, Faults: wanted.Faults,
		CallbackHosts: wanted.CallbackHosts, WebhookHost: wanted.WebhookHost, WebhookRefusal: wanted.WebhookRefusal,
	})
}

func (c *sandboxChange) newOrganization(ctx context.Context) error {
	if err := c.takeName(ctx); err != nil {
		return err
	}
	code, err := c.store.newCode()
	if err != nil {
		return err
	}
	var row sqlc.Organization
	c.setSettings(&row)
	row, err = c.q.InsertOrganization(ctx, sqlc.InsertOrganizationParams{
		OrgID: "org_" + code, ResourceUid: c.uid, Generation: c.want.Generation, Namespace: c.want.Namespace, Name: c.want.Name,
		LatencyPercent: row.LatencyPercent, MonthlyQuota: row.MonthlyQuota, RateLimit: row.RateLimit,
		WebhookURL: row.WebhookURL, WebhookMaxRetries: row.WebhookMaxRetries,
		WebhookInitialDelayMs: row.WebhookInitialDelayMs, WebhookFactor: row.WebhookFactor,
		WebhookMaxDelayMs: row.WebhookMaxDelayMs, WebhookTypes: row.WebhookTypes,
		PendingTimeoutMs: row.PendingTimeoutMs, TestNumbers: row.TestNumbers, Suspended: row.Suspended, Reset: c.want.Reset,
		APITestClients: row.APITestClients, APIReset: row.APIReset, APIFaults: row.APIFaults, MaxTestClients: row.MaxTestClients,
		Clocked: ClockMode(row.ClockMode) == ManualClock, ClockMode: row.ClockMode, ClockStart: row.ClockStart,
		Seed: row.Seed, Faults: row.Faults, CallbackHosts: row.CallbackHosts, WebhookHost: row.WebhookHost, WebhookRefusal: row.WebhookRefusal,
	})
	if err != nil {
		return err
	}
	c.tenant, c.state.OrganizationID, c.state.Reset, c.changed = row.Tenant, row.OrgID, row.Reset, true
	if err := c.startClock(ctx, row); err != nil {
		return err
	}
	for _, testClient := range c.want.TestClients {
		sim, err := parseUID(testClient.UID)
		if err == nil {
			err = insertSIM(ctx, c.q, c.tenant, sim, testClient)
		}
		if err != nil {
			return err
		}
	}
	return c.observeClock(ctx, row)
}

// takeName retains the rows of an earlier resource of the same name whose deletion the controller never saw: somebody
// removed its finalizer, or the database was restored. They are retained because the deletionPolicy is no longer known.
// It returns [ErrNameTaken] if the caller does not know that the earlier resource is gone.
func (c *sandboxChange) takeName(ctx context.Context) error {
	former, err := c.q.OrganizationNamed(ctx, c.want.Namespace, c.want.Name)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil
	case err != nil:
		return err
	case former.String() != c.want.Replaces:
		return ErrNameTaken{UID: former.String()}
	}
	return retain(ctx, c.q, former)
}

// setSettings sets the settings of the resource in a row.
func (c *sandboxChange) setSettings(row *sqlc.Organization) {
	row.Namespace, row.Name = c.want.Namespace, c.want.Name
	row.LatencyPercent = int32(c.want.LatencyPercent)
	row.MonthlyQuota, row.RateLimit = c.want.MonthlyQuota, c.want.RateLimit
	row.PendingTimeoutMs, row.Suspended = cmp.Or(c.want.PendingTimeout, DefaultPendingTimeout).Milliseconds(), c.want.Suspended
	row.TestNumbers = string(cmp.Or(c.want.TestNumbers, payments.NoTestNumbers))
	c.setClock(row)
	row.APITestClients, row.APIReset, row.APIFaults = c.want.API.TestClients, c.want.API.Reset, c.want.API.Faults
	row.MaxTestClients = c.want.API.MaxTestClients
	row.CallbackHosts = c.want.CallbackHosts
	webhook := c.want.Webhook
	if webhook == nil {
		webhook = &WebhookConfig{Retry: DefaultRetryPolicy}
		row.WebhookURL, row.WebhookHost, row.WebhookRefusal = nil, "", ""
	} else {
		row.WebhookURL, row.WebhookHost, row.WebhookRefusal = &webhook.URL, webhook.Host(), webhook.Refusal
	}
	row.WebhookMaxRetries = int32(webhook.Retry.MaxRetries)
	row.WebhookInitialDelayMs = webhook.Retry.InitialDelay.Milliseconds()
	row.WebhookFactor = webhook.Retry.Factor
	row.WebhookMaxDelayMs = webhook.Retry.MaxDelay.Milliseconds()
	row.WebhookTypes = []string{}
	types := webhook.Types
	if types == nil {
		types = payments.Types
	}
	for _, t := range types {
		row.WebhookTypes = append(row.WebhookTypes, string(t))
	}
}

// Host returns the host of the URL with its port, such as shop.example:443, and "" for a URL without a host that can be
// compared.
func (w *WebhookConfig) Host() string {
	u, err := url.Parse(w.URL)
	if err != nil {
		return ""
	}
	return egress.HostPortOf(u)
}

func (c *sandboxChange) environments(ctx context.Context) error {
	rows, err := c.q.ListEnvironments(ctx, c.tenant)
	if err != nil {
		return err
	}
	type market struct{ operator, country string }
	present := map[market]sqlc.Environment{}
	for _, row := range rows {
		present[market{row.Operator, row.Country}] = row
	}
	for place, e := range c.want.Environments {
		at := market{string(e.Operator), string(e.Country)}
		row, exists := present[at]
		delete(present, at)
		id, err := c.environment(ctx, e, place, row, exists)
		if err != nil {
			return err
		}
		currency, _ := e.Country.Currency()
		c.state.Environments = append(c.state.Environments, EnvironmentState{
			ID: id, Operator: e.Operator, Country: e.Country, Currency: currency, Enabled: e.Enabled,
		})
	}
	for _, row := range present {
		if row.Removed {
			continue
		}
		c.changed = true
		if err := c.q.RemoveEnvironment(ctx, c.tenant, row.EnvID); err != nil {
			return err
		}
	}
	return nil
}

// environment writes one environment if it differs from its row, and returns its id. An environment that was removed
// from the resource keeps its id.
func (c *sandboxChange) environment(
	ctx context.Context, e EnvironmentConfig, place int, row sqlc.Environment, exists bool,
) (id string, err error) {
	currency, known := e.Country.Currency()
	if !known {
		return "", fmt.Errorf("%s is no market", e.Country)
	}
	wanted := sqlc.Environment{
		Tenant: c.tenant, EnvID: row.EnvID, Operator: string(e.Operator), Country: string(e.Country),
		Currency: string(currency), Enabled: e.Enabled, CommissionBps: int32(e.Terms.CommissionBPS),
		AbsorptionPct: int32(e.Terms.AbsorptionPct), UnknownPolicy: string(e.UnknownPolicy), MaxAmount: e.MaxAmount,
		Place: int32(place), Vague: e.Vague, Quirks: quirksOf(e),
		CallbackURL: e.CallbackURL, CallbackHash: e.CallbackHash,
	}
	if exists && reflect.DeepEqual(row, wanted) {
		return row.EnvID, nil
	}
	if !exists {
		code, err := c.store.newCode()
		if err != nil {
			return "", err
		}
		wanted.EnvID = "env_" + code
	}
	c.changed = true
	return wanted.EnvID, c.q.UpsertEnvironment(ctx, sqlc.UpsertEnvironmentParams{
		Tenant: wanted.Tenant, EnvID: wanted.EnvID, Operator: wanted.Operator, Country: wanted.Country,
		Currency: wanted.Currency, Enabled: wanted.Enabled, CommissionBps: wanted.CommissionBps,
		AbsorptionPct: wanted.AbsorptionPct, UnknownPolicy: wanted.UnknownPolicy, MaxAmount: wanted.MaxAmount,
		Place: wanted.Place, Vague: wanted.Vague, Quirks: wanted.Quirks,
		CallbackURL: wanted.CallbackURL, CallbackHash: wanted.CallbackHash,
	})
}

// quirksOf returns the quirks of an environment as JSON in the form in which Postgres returns it.
func quirksOf(e EnvironmentConfig) []byte {
	text := []byte("{")
	byLength := func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) }
	for i, name := range slices.SortedFunc(maps.Keys(e.Quirks), byLength) {
		if i > 0 {
			text = append(text, ", "...)
		}
		text = fmt.Appendf(text, "%q: %t", name, e.Quirks[name])
	}
	return append(text, '}')
}

func (c *sandboxChange) stores(ctx context.Context) error {
	rows, err := c.q.ListStores(ctx, c.tenant)
	if err != nil {
		return err
	}
	present := map[string]bool{} // false: removed from the resource
	places := map[string]int32{}
	for _, row := range rows {
		present[row.Slug], places[row.Slug] = !row.Removed, row.Place
	}
	for place, slug := range c.want.Stores {
		if present[slug] && places[slug] == int32(place) {
			continue
		}
		c.changed = true
		if err := c.q.UpsertStore(ctx, c.tenant, slug, int32(place)); err != nil {
			return err
		}
	}
	for slug, used := range present {
		if !used || slices.Contains(c.want.Stores, slug) {
			continue
		}
		c.changed = true
		if err := c.q.RemoveStore(ctx, c.tenant, slug); err != nil {
			return err
		}
	}
	return nil
}

// floats makes a float for every currency that an environment or an opening amount has. An opening amount that differs
// from the resource's last one sets the live balance.
func (c *sandboxChange) floats(ctx context.Context) error {
	rows, err := c.q.ListFloats(ctx, c.tenant)
	if err != nil {
		return err
	}
	c.state.Balances = map[payments.Currency]int64{}
	opened := map[payments.Currency]int64{} // the resource's last opening amounts
	for _, row := range rows {
		c.state.Balances[payments.Currency(row.Currency)] = row.Balance
		opened[payments.Currency(row.Currency)] = row.Opening
	}
	for _, currency := range c.currencies(opened) {
		opening := c.want.OpeningFloat[currency]
		if last, exists := opened[currency]; exists && last == opening {
			continue
		}
		c.changed = true
		if err := c.q.SetFloat(ctx, c.tenant, string(currency), opening); err != nil {
			return err
		}
		c.state.Balances[currency] = opening
	}
	return nil
}

// currencies returns all currencies that the sandbox has or had, each once, in a fixed order.
func (c *sandboxChange) currencies(had map[payments.Currency]int64) []payments.Currency {
	var all []payments.Currency
	for currency := range had {
		all = append(all, currency)
	}
	for currency := range c.want.OpeningFloat {
		all = append(all, currency)
	}
	for _, e := range c.state.Environments {
		all = append(all, e.Currency)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func (c *sandboxChange) testClients(ctx context.Context) error {
	count, err := c.q.CountSIMs(ctx, c.tenant)
	c.state.TestClients = int(count)
	return err
}

func parseUID(uid string) (pgtype.UUID, error) {
	var id pgtype.UUID
	if err := id.Scan(uid); err != nil {
		return id, fmt.Errorf("the UID %q of a resource is not a UUID", uid)
	}
	return id, nil
}
