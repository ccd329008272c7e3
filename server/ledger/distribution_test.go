package ledger_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/cauri-dev/cauri/server/ledgertest"
)

// shared are the tables with a tenant column that would be on every node of a distributed database: the directory of sandboxes,
// and what remembers the numbers that stand for nothing any more. All others would be distributed by it.
var shared = []string{"organizations", "retired_tenants"}

// undistributable tells what keeps tables from being distributed by their tenant.
const undistributable = `
with distributed as (
	select c.oid, c.relname, a.attnum, a.atttypid, a.attnotnull from pg_class c
	join pg_attribute a on a.attrelid = c.oid and a.attname = 'tenant' and not a.attisdropped
	where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and c.relname <> all ($1)
)
select format('%s: tenant is no bigint that is never null: rows of one tenant would not lie together', relname) from distributed
where atttypid <> 'bigint'::regtype or not attnotnull
union all
select format('%s has no primary key', relname) from distributed d
where not exists (select from pg_index i where i.indrelid = d.oid and i.indisprimary)
union all
select format('%s: the unique index %s has no tenant', d.relname, i.indexrelid::regclass) from distributed d
join pg_index i on i.indrelid = d.oid and i.indisunique and not d.attnum = any (i.indkey)
union all
select format('%s: the primary key does not begin with the tenant', d.relname) from distributed d
join pg_index i on i.indrelid = d.oid and i.indisprimary and i.indkey[0] <> d.attnum
union all
select format('%s: the foreign key %s does not go from tenant to tenant', d.relname, k.conname) from distributed d
join pg_constraint k on k.conrelid = d.oid and k.contype = 'f'
join pg_class other on other.oid = k.confrelid and other.relname <> all ($1)
where not exists (select from unnest(k.conkey, k.confkey) pair (own, theirs)
	join pg_attribute a on a.attrelid = k.confrelid and a.attnum = pair.theirs and a.attname = 'tenant' where pair.own = d.attnum)
union all
select format('%s: the foreign key %s is of a table that has no tenant', c.relname, k.conname) from pg_constraint k
join pg_class c on c.oid = k.conrelid
join distributed d on d.oid = k.confrelid and k.contype = 'f' and k.conrelid not in (select oid from distributed)
union all
select format('%s: the constraint %s excludes rows across tenants', d.relname, k.conname) from distributed d
join pg_constraint k on k.conrelid = d.oid and k.contype = 'x'
order by 1`

func TestTablesCanBeDistributedByTenant(t *testing.T) {
	w := newFixture(t)
	problems := func() []string {
		rows, err := w.SQL.Query(t.Context(), undistributable, shared)
		if err != nil {
			t.Fatal(err)
		}
		found, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	for _, problem := range problems() {
		t.Error(problem)
	}
	for _, breach := range []string{
		"create table b (tenant bigint, id uuid, primary key (id, tenant))",
		"create table b (tenant bigint not null, id uuid not null)",
		"create table b (tenant integer, id uuid, primary key (tenant, id))",
		"create table b (tenant bigint primary key, id uuid unique)",
		"create table b (tenant bigint primary key, id uuid); create unique index on b (id) where id is not null",
		"create table b (tenant bigint primary key, sandbox bigint, currency text, foreign key (sandbox, currency) references floats)",
		"create table b (id uuid primary key, sandbox bigint, currency text, foreign key (sandbox, currency) references floats)",
		"create table b (tenant bigint primary key, x int, exclude using btree (x with =))",
	} {
		w.Exec(breach)
		if len(problems()) == 0 {
			t.Errorf("nothing is said of: %s", breach)
		}
		w.Exec("drop table b")
	}
}

// spanning are the statements that are about more than one tenant, with the reason why that is no obstacle to payments. Every
// other statement touches rows of the one tenant that it is given, and a distributed database sends it to one node.
var spanning = map[string]string{
	// The api, outside of the path of a request: its copy of the configuration, read when something has changed.
	"EnvironmentsOf": "the configuration of the sandboxes that have changed",
	"StoresOf":       "the configuration of the sandboxes that have changed",
	"SetFaultsOf":    "the configuration of the sandboxes that have changed",
	"KeysOf":         "the configuration of the sandboxes that have changed",
	"NoteActivity":   "the sandboxes in which something happened, every two seconds",
	"LogRequests":    "the requests of all sandboxes that are to be logged, every second",
	"TrimRequests":   "the sandboxes of which requests were logged, every second",

	"KnownNativeSecrets":  "the tokens and orders that requests of strangers name, several at once",
	"OpenConsoleSessions": "the same, of sessions: the tenant is found by the organization",

	// The worker: what is due in all sandboxes. It skips from one sandbox to the next in an index that holds only what is due.
	"QueuesInUse":     "which queues have a row at all",
	"TenantsToSettle": "the sandboxes that have something to settle", "ClaimDueTransactions": "of a batch",
	"LockBalances": "of a batch", "ParkTransactions": "of a batch", "SettleTransactions": "of a batch", "ClearSweepFailures": "of a batch",
	"AgedChanges":      "the sandboxes that have old changes, every minute",
	"RequeueStuck":     "a look at what nothing else would come to, now and then",
	"TenantsToVerify":  "the sandboxes in which something happened, every five seconds",
	"CountImbalances":  "for the metrics, every ten seconds",
	"ClocksToAdvance":  "the sandboxes whose clocks are to be advanced",
	"TenantsToForward": "the sandboxes that have something to forward", "LockDueForwards": "of a batch", "LeaseForwards": "of a batch",
	"TenantsToEvaluate": "the sandboxes with open expectations, every second", "FailExpectationsOfResets": "the same",
	"RemoveAgedExpectations": "retention, every hour",
	"ExpireReceiverChecks":   "the checks of receivers that were asked for", "LeaseReceiverCheck": "the same",
	"GiveBackForwards": "of a batch",
	"TenantsToDeliver": "the sandboxes that have events to send", "TakeProbes": "of a batch", "LockDueEvents": "of a batch",
	"LeaseEvents": "of a batch", "ListSentOfAll": "of a batch", "TransactionsOfCallbacks": "of a batch", "UnqueueEvents": "of a batch", "GiveBackEvents": "of a batch", "FinishAttempts": "of a batch",
	"TenantsToCallBack": "the sandboxes that have callbacks to send", "LockDueCallbacks": "of a batch", "LeaseCallbacks": "of a batch",
	"GiveBackCallbacks": "of a batch",
	"ActedFaults":       "of a batch", "AwaitingTenants": "of a batch", "CountFaults": "of a batch", "DecideEventFaults": "of a batch", "DeclaredFaults": "of a batch",
	"DecidedEventFaults": "of a batch", "EndWaits": "of a batch", "NoteCopies": "of a batch", "NoteFaults": "of a batch",
	"DecideCallbackFaults": "of a batch", "PostponeCallbacks": "of a batch",
	"PostponeEvents": "of a batch", "ReleaseAwaiting": "of a batch",
	"SendEventAgain":      "its event_faults are found by the event that it updates",
	"CountDueSettlements": "a metric, every ten seconds", "CountDueForwards": "a metric, every ten seconds",
	"CountDueCallbacks": "a metric, every ten seconds", "CountDueEvents": "a metric, every ten seconds",
	"CountFailingEndpoints": "a metric, every ten seconds",
	"AgedTenants":           "retention, every hour", "AgedOperatorTenants": "retention, every hour", "RemoveAgedRateUsage": "retention, every hour",
	"RemoveAgedQuotaUsage": "retention, every hour", "RemoveAgedNativeTokens": "retention, every hour",
	"RemoveAgedNativeOrders": "retention, every hour", "RemoveAgedNotices": "the same",
	"RemoveAgedFaultActs": "retention, every hour", "RemoveAgedFaultRequests": "retention, every hour",

	// The controller.
	"ChangedAccounts":  "the sandboxes and SIMs whose status follows, every three seconds",
	"SandboxesDrifted": "drift, every ten minutes", "SIMFingerprints": "drift, every ten minutes",
	"AccessSealedByOthers": "a new encryption key", "CountSealed": "a new encryption key",
	"KeyOfAnother":    "a key that is given by its owner must be nobody else's",
	"HoldTenantOfSIM": "a TestClient whose sandbox is gone is found by its UID", "DeleteSIM": "the same",
	"ChangedExpectations": "the expectations that the controller has to show, every second",
	"FindExpectation":     "an Expectation is found by its UID, also after a reset", "DeleteExpectation": "the same",
	"InsertExpectation": "the tenant is found by the UID of the sandbox", "CountOpenExpectations": "the same",
	"CopySIMs": "a reset, from the old tenant to the new one", "MoveEnvironments": "a reset", "MoveStores": "a reset", "MoveKeys": "a reset",
	"MoveOperatorCredentials": "a reset", "FindRegisteredSIM": "the tenant is found by the UID of the sandbox",
	"FindOrganization":  "the tenant is found by the UID of the sandbox",
	"StoredCredentials": "the tenant is found by the UID of the sandbox",
}

// TestStatementsStayWithinATenant plans every statement outside the tenant scope, which would hide what is missing.
func TestStatementsStayWithinATenant(t *testing.T) {
	d := &distribution{fixture: newFixture(t), texts: statements(t)}
	d.tables = read[[]string](
		d.fixture,
		`select array_agg(c.relname::text) from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'tenant'
		where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and c.relname <> all ($1)`,
		shared,
	)
	for _, name := range slices.Sorted(maps.Keys(d.texts)) {
		strays := d.strays(name)
		_, listed := spanning[name]
		hot := slices.Contains(tenantStatements, name) && !slices.Contains(workerStatements, name)
		switch {
		case len(strays) > 0 && hot:
			t.Errorf("%s serves one sandbox and is not bound to its tenant: %s", name, strings.Join(strays, "; "))
		case len(strays) > 0 && !listed:
			t.Errorf("%s is not bound to one tenant, say in `spanning` why it has to be so: %s", name, strings.Join(strays, "; "))
		case len(strays) == 0 && listed:
			t.Errorf("%s is bound to one tenant: take it out of `spanning`", name)
		}
	}
	d.texts["forgetful"] = "select * from transactions where tenant = $1 and id in (select id from events where state = 'failed')"
	d.texts["elsewhere"] = "insert into stores (tenant, slug) select tenant + 1, slug from stores where tenant = $1"
	for _, name := range []string{"forgetful", "elsewhere"} {
		if len(d.strays(name)) == 0 {
			t.Errorf("nothing is said of: %s", d.texts[name])
		}
	}
}

type distribution struct {
	*fixture
	texts  map[string]string
	tables []string
}

// node is a node of a plan in words.
type node struct {
	NodeType    string   `json:"Node Type"`
	Role        string   `json:"Parent Relationship"`
	Operation   string   `json:"Operation"`
	Relation    string   `json:"Relation Name"`
	IndexCond   string   `json:"Index Cond"`
	RecheckCond string   `json:"Recheck Cond"`
	Filter      string   `json:"Filter"`
	Output      []string `json:"Output"`
	Plans       []node
}

// ofTenant is the number that stands for the tenant that a statement is given.
const ofTenant = "4242"

var (
	tenantParameter = regexp.MustCompile(`(?i)\btenant = \$(\d+)|\binsert into \w+ \(tenant\b[^)]*\)\s*(?:values \(|select )\$(\d+)`)
	// The views of the schema are bound to the tenant of the scope. LookUp enters the scope of each tenant that it reads.
	boundToTenant = regexp.MustCompile(`\btenant = '?` + ofTenant + `\b|\btenant = \(+set_config\('cauri.tenant'|\btenant IS DISTINCT FROM \(+NULLIF\(current_setting\('cauri.tenant'`)
	isTenant      = regexp.MustCompile(`^\(?'?` + ofTenant + `'?(::bigint)?\)?$`)
)

// strays are the places where a statement reads or writes rows of distributed tables that are not those of the tenant that it is
// given.
func (d *distribution) strays(name string) (found []string) {
	d.T.Helper()
	conn := ledgertest.Connect(d.T, d.URL)
	exec := func(sql string) string {
		d.T.Helper()
		results, err := conn.PgConn().Exec(d.T.Context(), sql).ReadAll()
		if err != nil {
			d.T.Fatalf("%s: %s: %v", name, sql, err)
		}
		if last := results[len(results)-1]; len(last.Rows) > 0 {
			return string(last.Rows[0][0])
		}
		return ""
	}
	text, count := d.given(name)
	exec("set plan_cache_mode = force_generic_plan")
	exec("prepare planned as " + text)
	execute := "explain (verbose, format json) execute planned"
	if count > 0 {
		execute += "(" + strings.TrimSuffix(strings.Repeat("null,", count), ",") + ")"
	}
	var plans []struct{ Plan node }
	if err := json.Unmarshal([]byte(exec(execute)), &plans); err != nil || len(plans) != 1 {
		d.T.Fatalf("%s: %v", name, err)
	}
	d.look(plans[0].Plan, &found)
	return found
}

// given is a statement with its tenant written into it, and how many parameters it has beside.
func (d *distribution) given(name string) (text string, count int) {
	text = d.texts[name]
	tenant := 0
	if match := tenantParameter.FindStringSubmatch(text); match != nil {
		tenant, _ = strconv.Atoi(match[1] + match[2])
	}
	text = parameter.ReplaceAllStringFunc(text, func(p string) string {
		n, _ := strconv.Atoi(p[1:])
		switch {
		case n == tenant:
			return ofTenant + "::bigint"
		case tenant > 0 && n > tenant:
			n--
		}
		count = max(count, n)
		return "$" + strconv.Itoa(n)
	})
	return text, count
}

func (d *distribution) look(n node, found *[]string) {
	switch {
	case !slices.Contains(d.tables, n.Relation):
	case n.NodeType == "ModifyTable" && n.Operation == "Insert":
		if !d.inserts(n) {
			*found = append(*found, fmt.Sprintf("rows of another tenant may be inserted into %s", n.Relation))
		}
	case n.NodeType == "ModifyTable": // of rows that a scan below has found
	case !boundToTenant.MatchString(n.IndexCond + n.RecheckCond + n.Filter):
		*found = append(*found, fmt.Sprintf("%s of %s by %q", n.NodeType, n.Relation, n.IndexCond+n.RecheckCond+n.Filter))
	}
	for _, child := range n.Plans {
		d.look(child, found)
	}
}

// inserts reports whether the rows that a node inserts are of the tenant: by what is written there, or by what was read of it.
func (d *distribution) inserts(n node) bool {
	place := read[int](
		d.fixture,
		"select attnum::int from pg_attribute where attrelid = $1::text::regclass and attname = 'tenant'",
		n.Relation,
	) - 1
	return slices.ContainsFunc(n.Plans, func(from node) bool { return from.Role == "Outer" && isOfTenant(from, place) })
}

func isOfTenant(n node, place int) bool {
	switch {
	case place >= len(n.Output):
		return false
	case isTenant.MatchString(n.Output[place]):
		return true
	case strings.HasSuffix(n.Output[place], ".tenant"): // of a row: where every table below is bound, it is the tenant's
		return n.bound()
	case n.NodeType != "Append" && n.NodeType != "Subquery Scan":
		return false
	}
	return len(n.Plans) > 0 && !slices.ContainsFunc(n.Plans, func(child node) bool { return !isOfTenant(child, place) })
}

func (n node) bound() bool {
	if n.Relation != "" && !boundToTenant.MatchString(n.IndexCond+n.RecheckCond+n.Filter) {
		return false
	}
	return !slices.ContainsFunc(n.Plans, func(child node) bool { return !child.bound() })
}
