package ledger_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/postgres/queries"
)

// A database that is new, or was emptied, has no statistics, and one of many small sandboxes has those of another shape than a large one's.
// Postgres keeps the plan of a prepared statement for as long as its connection lives. So no plan may depend on statistics: a statement
// reads what it needs and not what the sandbox has, from its first row to its last.

// kept are the statements whose plans are kept, since every payment sends them, or a process many times a second: see
// [postgres.DB.VersionChecked] and [postgres.DB.GenericPlans]. All others are planned each time.
var kept = []string{
	"BookCollection", "BookCollections", "RecordCollection", "RecordNativeCollection", "BookDisbursement", "BookDisbursements", "LookUp", "SetProviderTxID",
	"SetTransactionFaults", "RecordNativeRequest", "RecordCallbacks", "ConfirmNativeOrder", "TakeStamp",
	"TenantsToDeliver", "TenantsToSettle", "TenantsToForward", "TenantsToCallBack", "ClocksToAdvance", "QueuesInUse",
	"FindOrganization", "StoredCredentials",
	"OpenConsoleSessions", "OpenConsoleLinks", "KnownNativeSecrets",
	"ListEnvironments", "ListStores", "ListFloats", "ListKeys", "KeyOfAnother", "CountSIMs", "FinishAttempts",
}

// keptInTx are the statements whose plans are kept in database transactions: see [postgres.IdleLimitedKept].
var keptInTx = []string{"TakeProbes", "LockDueEvents", "PlanEachTime", "LeaseEvents", "KeepPlans", "NoteFingerprint", "BumpVersion", "RetireTenant"}

func all(string) bool { return true }

func isKept(name string) bool { return slices.Contains(kept, name) || slices.Contains(keptInTx, name) }

// inSnapshot are those of the verification.
var inSnapshot = []string{
	"FloatMovements", "FloatsToVerify", "ListAccountProofs", "SIMAdjustments", "SIMsToVerify", "VerificationTime",
}

// whole are the statements that read all that a sandbox has of something, with the reason.
var whole = map[string]string{
	"AddNativeToken":  "joins those that go with all of an operator, of which a sandbox keeps 1,000, and is sent after SortNothing, without which it sorts them",
	"OpenNativeOrder": "is sent after SortNothing, without which it sorts the orders of the sandbox", "AddNotice": "the same",
	"KeepNativeSetting": "a sandbox has 101 settings of an operator at most", "PurgeNativeSettings": "the same",
	"AdvanceCount": "counts what was recorded since it was counted last", "CountTransactions": "the same",
	"BrokenAccounts":  "the accounts whose ledger does not add up, for the status",
	"ChangedAccounts": "every three seconds, the balances of all sandboxes that changed: it has no index, which each payment would pay for",
	"CopySIMs":        "a reset",
	"CountRegistry":   "counts test clients when one is added, where their number is limited",
	"CountSIMs":       "counts test clients, for the status",
	"FindTestClient":  "counts the collections that wait for a payer: it goes through those of the sandbox that wait",
	"ListFiltered":    "filters by store and number, which no index does, as many as have the status",
	"ListPrompts":     "goes through the collections of the sandbox that wait",
	"ListTestClients": "the same, for a page", "OldestPrompts": "the same, for the phones of a page",
	"ForgetAccountProofs": "after a verification from the first movement on", "SIMsToVerify": "the test clients that changed, in a verification",
	"RequeueStuck":       "looks for what nothing else would come to, now and then",
	"PurgeAccountProofs": "removes what a sandbox that is gone has left", "PurgeNativeTokens": "the same", "PurgeNativeOrders": "the same",
	"PurgeAdjustments": "the same, in batches", "PurgeEventFaults": "the same",
	"ListLedgerAccounts": "without statistics it merges a page with all proofs of the sandbox",
	"SIMFingerprints":    "drift, every ten minutes",
	"AwaitingTenants":    "the events of a sandbox to which a fault applies at this moment", "DecidedEventFaults": "the same", "EndWaits": "the same",
	"RequestInFaults":   "which faults acted for a reference",
	"TenantsToVerify":   "one row of each sandbox",
	"TenantsToEvaluate": "one row of each open expectation, every second", "FailExpectationsOfResets": "the same",
	"LockExpectation":         "the open expectations of a sandbox",
	"NewestTransactionBefore": "the transactions since an expectation began, at its first evaluation",
	"CountOpenExpectations":   "the same",
	"CountExpectations":       "all of a sandbox, of which a day is kept", "ListExpectations": "the same",
	"ChangedExpectations": "those that changed in the last seconds, which are all in this test",
	"PurgeExpectations":   "removes what a sandbox that is gone has left",
	"TrimReceiverChecks":  "a sandbox has 21 checks at most",
	"PurgeReceiverChecks": "the same",
	"SandboxesDrifted":    "drift, every ten minutes",
}

// planned is a sandbox whose tables grow, and the statements whose plans are looked at.
type planned struct {
	*fixture
	texts      map[string]string
	arguments  map[string]string
	parameters map[string][]string // of each statement, by its name
	literals   map[string]string   // of expressions
	rows       []string
}

// argument is what a parameter of a statement gets, by the statement's name and its own, by its own, or by its type.
func (p *planned) argument(statement, parameter, kind string) string {
	for _, key := range []string{statement + "." + parameter, parameter + " " + kind, parameter, kind} {
		if value, ok := p.arguments[key]; ok {
			return p.literal(fmt.Sprintf("(%s)::%s", strings.ReplaceAll(value, "$1", fmt.Sprint(p.Sandbox.Tenant)), kind))
		}
	}
	if element, ok := strings.CutSuffix(kind, "[]"); ok {
		return p.literal(fmt.Sprintf("array_fill(%s::%s, array[10])", p.argument(statement, parameter+" of one", element), element))
	}
	p.T.Fatalf("%s: which %s is %s? Write it into testdata/plans/arguments.txt", statement, kind, parameter)
	return ""
}

// literal is the value of an expression, as text.
func (p *planned) literal(expression string) string {
	if p.literals[expression] == "" {
		p.literals[expression] = read[string](p.fixture, "select quote_literal(("+expression+")::text)")
	}
	return p.literals[expression]
}

// planFunctions make the arguments of statements and the rows of the tables.
const planFunctions = `
create function plan_id(n bigint) returns uuid language sql immutable return lpad(to_hex(n), 32, '0')::uuid;
create function plan_msisdn(n bigint) returns text language sql immutable return '+25078' || lpad(n::text, 7, '0');
`

var queryParameter = regexp.MustCompile(`sqlc\.n?arg\(([a-z_0-9]+)\)`)

// parametersOf are the names of the parameters of all statements in queries/, in the order of their numbers.
func parametersOf(t *testing.T, texts map[string]string) map[string][]string {
	t.Helper()
	parameters := map[string][]string{
		"LookUp": {"tenants", "ids", "config_versions"}, "EnterTenant": {"tenant"}, "TakeStamp": {"tenant"},
		"EnterTenantOnReplica": {"lsn", "timeline", "tenant"},
		"ChangedTransactions":  {"tenant", "ids"}, "ChangedEvents": {"tenant", "ids"}, "ChangedAttempts": {"tenant", "ids", "attempts"},
		"ChangedFloats": {"tenant", "currencies", "ids"}, "ChangedSIMs": {"tenant", "ids", "ids"},
		"ListTransactions": {"tenant", "limit"}, "ListEvents": {"tenant", "limit"},
		"ListNewerTransactions": {"tenant", "id", "limit"}, "ListNewerEvents": {"tenant", "limit", "id", "id"},
		"ListFiltered": {"tenant", "limit", "statuses", "types", "operators", "countries", "store", "msisdn", "created"},
	}
	expanded, err := queries.Expanded(queries.Clocked)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range expanded {
		for _, query := range strings.Split(text, "-- name: ")[1:] {
			name := strings.Fields(query)[0]
			named, numbered := queryParameter.FindAllStringSubmatch(query, -1), parameter.FindAllStringSubmatch(texts[name], -1)
			if len(named) != len(numbered) {
				t.Fatalf("%s has %d parameters with a name and %d with a number", name, len(named), len(numbered))
			}
			parameters[name] = make([]string, len(named))
			for i := range named {
				n, _ := strconv.Atoi(numbered[i][1])
				parameters[name][n-1] = named[i][1]
			}
		}
	}
	return parameters
}

// planning is a connection of a role. The statements whose plans are kept are prepared.
type planning struct {
	*planned
	role     string
	conn     *pgx.Conn
	executes map[string]string
}

func (p *planned) connect(role string, wanted func(name string) bool) *planning {
	p.T.Helper()
	c := &planning{planned: p, role: role, conn: ledgertest.Connect(p.T, p.URL), executes: map[string]string{}}
	c.do("set statement_timeout = '3min'") // what reads everything for each row would take hours
	for _, name := range statementsOf[role] {
		if name == "EnterTenantOnReplica" || p.parameters[name] == nil || !wanted(name) {
			continue
		}
		c.do(fmt.Sprintf("prepare \"%s\" as %s", name, p.texts[name]))
		var kinds []string
		err := c.conn.QueryRow(p.T.Context(), "select array(select t::text from unnest(parameter_types) t) from pg_prepared_statements where name = $1", name).Scan(&kinds)
		if err != nil {
			p.T.Fatal(err)
		}
		arguments := make([]string, len(kinds))
		for i, kind := range kinds {
			if i >= len(p.parameters[name]) {
				p.T.Fatalf("%s has %d parameters: %v", name, len(kinds), p.parameters[name])
			}
			arguments[i] = p.argument(name, p.parameters[name][i], kind)
		}
		c.executes[name] = fmt.Sprintf("execute \"%s\"", name)
		if len(arguments) > 0 {
			c.executes[name] += "(" + strings.Join(arguments, ", ") + ")"
		}
	}
	return c
}

func (c *planning) do(sql string) {
	c.T.Helper()
	if _, err := c.conn.PgConn().Exec(c.T.Context(), sql).ReadAll(); err != nil {
		c.T.Fatalf("%s: %v", sql, err)
	}
}

// scoped runs f as the process does, and leaves nothing behind.
func (c *planning) scoped(name string, f func(ctx context.Context) error) (ok bool) {
	c.T.Helper()
	begin := postgres.LockLimited.BeginQuery
	switch {
	case slices.Contains(inSnapshot, name):
		begin = postgres.Snapshot.BeginQuery
	case slices.Contains(keptInTx, name):
		begin = postgres.IdleLimitedKept.BeginQuery
	}
	enter := "set local role " + c.role
	if c.role == "cauri_tenant" {
		enter = postgres.EnterTenant
		if slices.Contains(kept, name) {
			enter = postgres.EnterVersionChecked
		}
		if !slices.Contains(workerStatements, name) {
			begin = "begin" // it is alone in its pipeline
		}
	} else if slices.Contains(kept, name) {
		begin, enter = "begin", enter+"; "+postgres.EnterByIndex
	}
	c.do(begin)
	c.do(strings.ReplaceAll(enter, "$1", fmt.Sprint(c.Sandbox.Tenant)))
	err := f(c.T.Context())
	if err != nil {
		c.T.Errorf("%s: %v", name, err)
	}
	c.do("rollback")
	return err == nil
}

// execute executes each statement whose plan is kept, which makes the plan.
func (c *planning) execute() {
	c.T.Helper()
	for _, name := range slices.Sorted(maps.Keys(c.executes)) {
		if isKept(name) && !c.scoped(name, func(ctx context.Context) error {
			_, err := c.conn.PgConn().Exec(ctx, c.executes[name]).ReadAll()
			return err
		}) {
			delete(c.executes, name)
		}
	}
}

type planNode struct {
	Hit   int        `json:"Shared Hit Blocks"`
	Read  int        `json:"Shared Read Blocks"`
	Type  string     `json:"Node Type"`
	Index string     `json:"Index Name"`
	Plans []planNode `json:"Plans"`
}

// buffers are those of the node that read most: parts of a statement that write are not counted in the root.
func (n *planNode) buffers() int {
	most := n.Hit + n.Read
	for _, below := range n.Plans {
		most = max(most, below.buffers())
	}
	return most
}

// buffers are what each statement reads; all, or only those whose plans are kept.
func (c *planning) buffers(all bool) map[string]int {
	c.T.Helper()
	read := map[string]int{}
	for _, name := range slices.Sorted(maps.Keys(c.executes)) {
		if !all && !isKept(name) {
			continue
		}
		if !isKept(name) { // what has no parameters would keep its plan otherwise
			c.do(fmt.Sprintf("deallocate %q", name))
			c.do(fmt.Sprintf("prepare \"%s\" as %s", name, c.texts[name]))
		}
		_ = c.scoped(name, func(ctx context.Context) error {
			var explained []byte
			err := c.conn.QueryRow(ctx, "explain (analyze, buffers, timing off, format json) "+c.executes[name], pgx.QueryExecModeSimpleProtocol).Scan(&explained)
			if err != nil {
				return err
			}
			var plans []struct{ Plan planNode }
			if err := json.Unmarshal(explained, &plans); err != nil {
				return err
			}
			read[name] = plans[0].Plan.buffers()
			return nil
		})
	}
	return read
}

func TestPlansHold(t *testing.T) {
	for name, analyzed := range map[string]func(p *planned){
		"analyzed while empty": func(p *planned) { p.Exec("analyze") },
		"never analyzed":       func(*planned) {},
		"analyzed with the data of small sandboxes": func(p *planned) {
			for tenant := range 300 {
				p.grow(int64(100_000+tenant), 1, 10)
			}
			p.Exec("analyze")
		},
	} {
		t.Run(name, func(t *testing.T) { planned := newPlanned(t); planned.hold(analyzed) })
	}
}

func newPlanned(t *testing.T) *planned {
	p := &planned{fixture: newFixture(t), texts: statements(t), arguments: map[string]string{}, literals: map[string]string{}}
	p.parameters = parametersOf(t, p.texts)
	for line := range strings.Lines(readFile(t, "testdata/plans/arguments.txt")) {
		if key, value, ok := strings.Cut(strings.TrimSpace(line), " = "); ok && !strings.HasPrefix(key, "#") {
			p.arguments[key] = value
		}
	}
	p.rows = strings.Split(strings.TrimSuffix(readFile(t, "testdata/plans/rows.sql"), ";\n"), ";\n")
	for _, table := range p.Tables() {
		p.Exec("alter table " + table + " set (autovacuum_enabled = false)")
	}
	// Whether a page has room for the new version of a transaction, an organization or a SIM is chance, and decides
	// whether an update writes into all indexes. An index of whole rows, even without entries, has each update do so:
	// then what is read tells of the plan alone.
	p.Exec("create index on transactions ((transactions.* is null)) where false")
	p.Exec("create index on organizations ((organizations.* is null)) where false")
	p.Exec("create index on sims ((sims.* is null)) where false")
	p.Exec(planFunctions)
	return p
}

// hold fails for each statement whose plan does not hold: at 20,000 rows it reads more than twice what it reads with statistics, or at
// 2,000.
func (p *planned) hold(analyze func(*planned)) {
	p.T.Helper()
	analyze(p)
	conns := map[string][]*planning{}
	from := 1
	for _, rows := range []int{0, 10, 100, 1000} { // a plan that is kept may be made at any of these
		p.grow(p.Sandbox.Tenant, from, rows)
		from = rows + 1
		for role := range statementsOf {
			c := p.connect(role, all)
			c.execute()
			if role == "cauri_tenant" || rows == 0 {
				conns[role] = append(conns[role], c)
			}
		}
	}
	measure := func() map[string]int {
		most := map[string]int{}
		for role, all := range conns {
			for i, c := range all {
				for name, read := range c.buffers(i == 0) {
					most[role+" "+name] = max(most[role+" "+name], read)
				}
			}
		}
		return most
	}
	p.grow(p.Sandbox.Tenant, 1001, 2000)
	few := measure()
	p.grow(p.Sandbox.Tenant, 2001, 20000)
	many := measure()
	p.Exec("analyze")
	for role := range statementsOf {
		known := p.connect(role, all).buffers(true)
		for _, name := range slices.Sorted(maps.Keys(known)) {
			read := many[role+" "+name]
			if _, listed := whole[name]; !listed && (read > 2*known[name]+10 || read > 2*few[role+" "+name]+10) {
				p.T.Errorf("%s of %s reads %d blocks at 2,000 rows, %d at 20,000, and %d with statistics",
					name, role, few[role+" "+name], read, known[name])
			}
		}
	}
}

// grow writes rows of a sandbox into every table that grows with one.
func (p *planned) grow(tenant int64, from, to int) {
	p.T.Helper()
	tx, err := p.SQL.Begin(p.T.Context())
	if err != nil {
		p.T.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.Background()) }()
	for _, statement := range append([]string{"set local session_replication_role = replica"}, p.rows...) {
		for i, value := range []any{tenant, from, to} {
			statement = strings.ReplaceAll(statement, fmt.Sprint("$", i+1), fmt.Sprint(value))
		}
		if _, err := tx.Exec(p.T.Context(), statement); err != nil {
			p.T.Fatalf("%s: %v", statement, err)
		}
	}
	if err := tx.Commit(p.T.Context()); err != nil {
		p.T.Fatal(err)
	}
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
