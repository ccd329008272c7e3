package ledger_test

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgerrcode"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/ledger/lists"
	"github.com/cauri-dev/cauri/server/ledger/observations"
	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
)

// statementsOf are the statements that each role of the database runs: those of queries/, by their names, and those that are
// put together in Go. A process runs as cauri_tenant what serves one sandbox, and everything else as itself.
var statementsOf = map[string][]string{
	"cauri_tenant":     tenantStatements,
	"cauri_api":        apiStatements,
	"cauri_worker":     workerStatements,
	"cauri_controller": controllerStatements,
}

var tenantStatements = []string{
	// payments and payouts
	"BookCollection",
	"BookDisbursement",
	"BookRefund",
	"FindReference",
	"FindSIM",
	"GetTransaction",
	"LookUp",
	"ListFiltered",
	"ListTransactions",
	"ListNewerTransactions",
	"QuotaUsed",
	"BookCollections",
	"BookDisbursements",
	"RecordCollection",
	"SetProviderTxID",
	"TakeStamp",
	// events and prompts
	"FindTestClient",
	"EndpointHealth",
	"GetAttempts",
	"GetEvent",
	"GetWebhook",
	"KeepEventBody",
	"ListAttempts",
	"ListEvents",
	"ListNewerEvents",
	"Observe",
	"LastOutcomes",
	"ListPrompts",
	"OldestPrompts",
	"ListTestClients",
	"LockPrompt",
	"ResendEvent",
	"LockBalances",
	"SettleTransactions",
	// test clients that are made through the API
	"ChangeTestClient",
	"CountRegistry",
	"CreateTestClient",
	"DeleteTestClient",
	"HoldRegistry",
	"InsertSIMAdjustment",
	"LockTestClient",
	"SetManual",

	"ResetByAPI",
	// faults
	"ActedFaults",
	"AddTransactionFault",
	"CountFaultRequest",
	"FirstAttempt", "FirstCallback",
	"RequestInFaults",
	"SetTransactionFaults",
	"UsedUpFaults",
	"CountFaults",
	"HoldFaultCounts",
	"NoteFaultActs",
	"ChangeFaults", "SetFaults",
	// clock
	"AdvanceState",
	"LockClock",
	"ReadClock",
	"SetClockTarget",
	"StartClock",
	// changes
	"ChangedAttempts", "ChangedEvents", "ChangedFloats", "ChangedSIMs", "ChangedTransactions",
	"ChangesFrom",
	"NextChanges",
	// request log
	"CountRefused",
	"ListRequests",
	"ListNewerRequests",
	"LogAllRequests",
	"FollowSandbox",
	// ledger
	"FirstFloat",
	"ListFloatEntries",
	"ListLedgerAccounts",
	"ListSIMEntries",
	"SIMBefore",
	// verification of the ledger
	"AskForPass",
	"PassedSince",
	// the operators' own APIs
	"AddNativeToken",
	"AddNotice",
	"AddNativeUser",
	"ConfirmNativeOrder",
	"EndNativeOrder",
	"FindNative",
	"FindNativeOrder", "ListOpenNativeOrders",
	"GetCallback",
	"GiveBackNativeOrderCode",
	"KeepCallbackBody",
	"ListCallbackAttempts",
	"ResendCallback",
	"FindNativeToken",
	"FindNativeUser",
	"FindNativeSetting", "KeepNativeSetting", "LockNativeSettings", "ListPaid",
	"LockNativeUsers",
	"RemoveEndedNativeUsers",
	"SortNothing",
	"FloatBalance",
	"ListSent",
	"OpenNativeOrder",
	"RecordCallbacks",
	"RecordNativeCollection",
	"RecordNativeRequest",
	"TryNativeOrderCode",
	"SetNativeUserSecret",
	// the console
	"AddConsoleLink",
	"AddConsoleSession",
	"DeliveryStates",
	"EndConsoleLinks",
	"EndConsoleSession",
	"EndConsoleSessions",
	"EndOldConsoleLinks",
	"EndOldConsoleSessions",
	"FaultCounts",
	"GrantedRequests",
	"ListConsoleSessions",
	"LockConsole",
	"NewestAttempts",
	"OrdersOf",
	"SandboxHealth",
	"UnacknowledgedCallbacks",
	"PartyNames",
	"SIMNames",
	"UseConsoleLink",
	// expectations
	"CountExpectations",
	"ListExpectations",
	// checks of receivers
	"GetReceiverCheck",
	"NewestReceiverCheck",
	"ReceiverCheckAllowedIn",
	"RequestReceiverCheck",
	"TrimReceiverChecks",
	// rate limit
	"LockRate",
	"ReturnRequests",
	"TakeRequests",
}

var apiStatements = []string{
	"ChangedOrganizations", "ConfigVersion", "EnvironmentsOf", "KeysOf", "RetiredTenants", "SetFaultsOf", "StoresOf",
	// on the way in the scope of a tenant
	"EnterTenant", "EnterTenantOnReplica",
	"NoteActivity",
	"LockRequestLog", "LogRequests", "TrimRequests",
	"OpenConsoleSessions", "OpenConsoleLinks", "KnownNativeSecrets",
}

var workerStatements = append([]string{
	"ConfigVersion", "QueuesInUse",
	// settlement
	"ClaimDueTransactions", "LockBalances", "ParkTransactions", "SkipNotes", "TenantsToSettle", "SettleTransactions", "RequeueStuck",
	// forwarding
	"BeginForwardAttempt", "DeferForward", "TenantsToForward", "GiveBackForwards", "LeaseForwards", "LockDueForwards", "SettleForward",
	// clocks
	"ClocksToAdvance", "DueUnderClock", "EndAdvance", "LeaseClock", "MoveClock", "ReleaseClock", "RenewClockLease",
	// delivery
	"TenantsToDeliver", "FinishAttempts", "GiveBackEvents", "LeaseEvents", "ListSentOfAll", "LockDueEvents",
	"PlanEachTime", "UnqueueEvents", "TakeProbes",
	// faults
	"ActedFaults", "AwaitingTenants", "CountFaults", "DecideEventFaults", "DecidedEventFaults", "DeclaredFaults", "EndWaits",
	"HoldFaultCounts", "NoteFaultActs", "NoteFaults", "PostponeEvents", "ReleaseAwaiting", "SendEventAgain",
	"DecideCallbackFaults", "NoteCopies", "PostponeCallbacks", "SendCallbackAgain",
	// callbacks of the operators' own APIs
	"FinishCallback", "GiveBackCallbacks", "LeaseCallbacks", "LockDueCallbacks", "TenantsToCallBack", "TransactionsOfCallbacks",
	// verification of the ledger
	"FinishProof", "FloatMovements", "FloatsToVerify", "ForgetAccountProofs", "KeepAccountProofs", "LeaseProof", "ListAccountProofs",
	"RenewProofLease", "SIMAdjustments", "SIMsToVerify", "TenantsToVerify", "VerificationTime",
	// retention
	"AgedTenants", "RemoveAgedConsoleLinks", "RemoveAgedConsoleSessions", "RemoveAgedEvents", "RemoveAgedFaultActs", "RemoveAgedFaultRequests", "RemoveAgedNativeOrders", "RemoveAgedNativeTokens", "RemoveAgedNotices", "RemoveAgedQuotaUsage",
	"RemoveAgedRateUsage",
	// metrics
	"CountConsoleSessions", "CountFailingEndpoints", "CountImbalances", "CountDueCallbacks", "CountDueEvents", "CountDueForwards", "CountDueSettlements",
	// changes
	"AgedChanges", "RemoveAgedChanges",
	// what fails in one sandbox alone
	"ClearSweepFailures", "NoteSweepFailure",
	// expectations
	"EnterToObserve", "FailExpectationsOfResets", "JudgeExpectation", "LockExpectation", "NewestTransactionBefore", "Observe", "ObserveLate",
	"RemoveAgedExpectations", "TenantsToEvaluate",
	// checks of receivers
	"ExpireReceiverChecks", "FinishReceiverCheck", "LeaseReceiverCheck", "OneReceiverCheckAtATime", "RenewReceiverCheck",
	// purge of what was retired
	"ForgetRetired", "MarkPurged", "TenantsToPurge",
	"NoteActivity",
}, purgeStatements...)

var controllerStatements = append([]string{
	"ConfigVersion",
	// sandboxes
	"BumpVersion",
	"InsertOrganization",
	"LockOrganization",
	"OrganizationNamed",
	"RetireOrganization",
	"TakeGeneration",
	"UnpurgedTenants",
	"UpdateOrganization",
	"ForgetAcknowledgment",
	"ListEnvironments",
	"RemoveEnvironment",
	"UpsertEnvironment",
	"ListStores",
	"RemoveStore",
	"UpsertStore",
	"DeleteOperatorCredentials",
	"ListOperatorCredentials",
	"SetOperatorCredentials",
	// reset, retention, counts
	"AdvanceCount",
	"BrokenAccounts",
	"CopySIMs",
	"CountTransactions",
	"EndpointHealth",
	"FaultCounts",
	"LedgerProof",
	"MoveEnvironments",
	"MoveKeys",
	"MoveOperatorCredentials",
	"MoveOrganization",
	"MoveStores",
	"NewTenant",
	"PutClock",
	"QuotaUsed",
	"RecordedUntil",
	"RetainOrganization",
	"RetainedOrganizations",
	"RetireTenant",
	"RunClock",
	"ShownClock",
	"StopClock",
	"SweepFailures",
	// credentials
	"DeleteKey",
	"ExpireKey",
	"ForgetPreviousSecrets",
	"InsertKey",
	"KeyOfAnother",
	"ListKeys",
	"ReinstateKey",
	"SetNativeCredentials",
	"SetRotations",
	"SetSigningSecret",
	"StoredCredentials",
	// drift
	"FindOrganization",
	"FindRegisteredSIM",
	"KeepPlans",
	"NoteFingerprint",
	"SandboxesDrifted",
	"SIMFingerprints",
	// encryption keys
	"AccessSealedByOthers",
	"CountSealed",
	"ResealAccess",
	"ResealSecrets",
	"SecretsSealedByOthers",
	// accounts
	"ChangedAccounts",
	"CountRegistry",
	"CountSIMs",
	"DatabaseTime",
	"DeleteSIM",
	"DeleteTestClient",
	"HoldRegistry",
	"HoldTenantOfSIM",
	"InsertSIM",
	"InsertSIMAdjustment",
	"ListFloats",
	"LockSIM",
	"SIMHolder",
	"SetFloat",
	"TenantOf",
	"UpdateSIM",
	// expectations
	"ChangedExpectations",
	"CountOpenExpectations",
	"DeleteExpectation",
	"FindExpectation",
	"InsertExpectation",
}, purgeStatements...)

var purgeStatements = []string{
	"PurgeAccountProofs",
	"PurgeActivity",
	"PurgeAdjustments",
	"PurgeAttempts",
	"PurgeCallbackAttempts",
	"PurgeChanges",
	"PurgeClocks",
	"PurgeEndpointHealth",
	"PurgeEnvironments",
	"PurgeEventFaults",
	"PurgeEvents",
	"PurgeExpectations",
	"PurgeFaultActs",
	"PurgeFaultCounts",
	"PurgeSetFaults",
	"PurgeFaultRequests",
	"PurgeFloats",
	"PurgeKeys",
	"PurgeLedgerProofs",
	"PurgeNativeCallbacks",
	"PurgeNativeOrders",
	"PurgeNativeRequests",
	"PurgeNativeSettings",
	"PurgeNativeTokens",
	"PurgeNativeUsers",
	"PurgeOperatorCredentials",
	"PurgeQuotaUsage",
	"PurgeRateUsage",
	"PurgeReceiverChecks",
	"PurgeRequests",
	"PurgeSIMs",
	"PurgeStores",
	"PurgeSweepFailures",
	"PurgeTransactionCounts",
	"PurgeTransactions",
}

// TestRolesHaveWhatTheirStatementsNeed finds out, by taking one privilege after another away, what each role's statements
// need, and compares it with what the migrations grant: not less, and not more.
func TestRolesHaveWhatTheirStatementsNeed(t *testing.T) {
	texts := statements(t)
	for name := range texts {
		if !slices.ContainsFunc(slices.Collect(maps.Values(statementsOf)), func(names []string) bool { return slices.Contains(names, name) }) {
			t.Errorf("%s is in no list of statementsOf: write there which role runs it", name)
		}
	}
	for role, names := range statementsOf {
		t.Run(role, func(t *testing.T) {
			t.Parallel()
			url := ledgertest.URL(t)
			w := &fixture{&ledgertest.Fixture{T: t, URL: url, SQL: ledgertest.Pool(t, url)}}
			r := &rehearsal{fixture: w, role: role, texts: map[string]string{}}
			for _, name := range names {
				if r.texts[name] = texts[name]; texts[name] == "" {
					t.Fatalf("there is no statement %s any more: take it out of the list", name)
				}
			}
			granted, needed := r.granted(), r.needed()
			for _, privilege := range granted {
				if !slices.Contains(needed, privilege) {
					t.Errorf("%s has %s, and its statements do not need just that", role, privilege)
				}
			}
			for _, privilege := range needed {
				if !slices.Contains(granted, privilege) {
					t.Errorf("its statements need: grant %s to %s; -- see the section on roles in migrations/00001_schema.sql", privilege, role)
				}
			}
		})
	}
}

// statements are all that the store sends, by their names.
func statements(t *testing.T) map[string]string {
	t.Helper()
	list, _ := lists.Statement(1, lists.Filter{}, nil, nil, 1)
	events, _ := ledger.EventsStatement(1, ledger.EventFilter{}, nil, nil, 1)
	newer, _ := lists.Statement(1, lists.Filter{}, nil, new(payments.ID), 1)
	newerEvents, _ := ledger.EventsStatement(1, ledger.EventFilter{}, nil, new(payments.EventID), 1)
	all := lists.Filter{Status: payments.Success, Store: "s", MSISDN: "m", CreatedAfter: new(time.Time)}
	filtered, _ := lists.Statement(1, all, nil, nil, 1)
	observe, _ := observations.Statement(1, allLines(t), new(payments.ID), nil)
	observeLate, _ := observations.Statement(1, allLines(t), new(payments.ID), &observations.PastTime{Clocked: true, Changed: true})
	texts := map[string]string{
		"Observe": observe, "ObserveLate": observeLate,
		"ListNewerTransactions": newer, "ListNewerEvents": newerEvents,
		"ListTransactions": list, "ListFiltered": filtered, "ListEvents": events, "LookUp": ledger.LookUpStatement,
		"EnterTenant": postgres.EnterTenant, "EnterTenantOnReplica": postgres.EnterTenantOnReplica,
		"TakeStamp": postgres.TakeStamp,
	}
	maps.Copy(texts, ledger.ChangedStatements)
	files, _ := filepath.Glob("../postgres/sqlc/*.sql.go")
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			literal, ok := n.(*ast.BasicLit)
			if !ok || literal.Kind != token.STRING {
				return true
			}
			text, _ := strconv.Unquote(literal.Value)
			if name, found := strings.CutPrefix(text, "-- name: "); found {
				texts[strings.Fields(name)[0]] = text
			}
			return true
		})
	}
	if len(texts) < 50 {
		t.Fatalf("only %d statements were found", len(texts))
	}
	return texts
}

// rehearsal plans the statements of a role, which finds out whether it may run them, without running them.
type rehearsal struct {
	*fixture
	role  string
	texts map[string]string
	conn  *pgx.Conn
}

var kinds = []string{"select", "insert", "update", "delete"}

// relations are the tables and views.
func (r *rehearsal) relations() []string {
	return append(r.Tables(), read[[]string](r.fixture, `select array_agg(table_name::text order by table_name) from information_schema.tables
		where table_schema = 'public' and table_type = 'VIEW'`)...)
}

// granted are the privileges that the role has, one line for each table and kind.
func (r *rehearsal) granted() (lines []string) {
	for _, table := range r.relations() {
		for _, kind := range kinds {
			lines = append(lines, line(kind, table, r.columns(table), mayAs(r.fixture, r.role, kind, table))...)
		}
	}
	return lines
}

// mayAs lists the columns of a table that a role has a privilege on; for DELETE, "*".
func mayAs(w *fixture, role, privilege, table string) []string {
	if privilege == "delete" {
		return read[[]string](w, "select case when has_table_privilege($1::text, $2::text, 'delete') then array['*'] end", role, table)
	}
	return read[[]string](w, `select array_agg(attname::text order by attnum) from pg_attribute
		where attrelid = $2::text::regclass and attnum > 0 and not attisdropped and has_column_privilege($1::text, attrelid, attnum, $3)`, role, table, privilege)
}

func line(kind, table string, all, columns []string) []string {
	switch {
	case len(columns) == 0:
		return nil
	case kind == "delete" || len(columns) == len(all):
		return []string{kind + " on " + table}
	}
	return []string{kind + " (" + strings.Join(columns, ", ") + ") on " + table}
}

func (r *rehearsal) columns(table string) []string {
	return read[[]string](r.fixture, `select array_agg(attname::text order by attnum) from pg_attribute
		where attrelid = $1::text::regclass and attnum > 0 and not attisdropped`, table)
}

// needed are the privileges without which a statement of the role is refused.
func (r *rehearsal) needed() (lines []string) {
	r.T.Helper()
	r.prepare()
	tables := r.relations()
	r.do("revoke all on all tables in schema public from " + r.role)
	for _, table := range tables {
		r.do(fmt.Sprintf("grant select, insert, update, delete on %s to %s", table, r.role))
	}
	if refused := r.refused(slices.Sorted(maps.Keys(r.texts))); refused != nil {
		r.T.Fatalf("refused to %s though it has every privilege on tables: %v", r.role, refused)
	}
	for _, table := range tables {
		for _, kind := range kinds {
			lines = append(lines, r.neededOn(table, kind)...)
		}
	}
	return lines
}

// neededOn leaves the role with no more of one kind of privilege on a table than it needs.
func (r *rehearsal) neededOn(table, kind string) []string {
	r.do(fmt.Sprintf("revoke %s on %s from %s", kind, table, r.role))
	users := r.refused(r.mentioning(table))
	if len(users) == 0 {
		return nil
	}
	if kind == "delete" {
		r.do(fmt.Sprintf("grant delete on %s to %s", table, r.role))
		return line(kind, table, nil, []string{"*"})
	}
	all := r.columns(table)
	r.do(fmt.Sprintf("grant %s (%s) on %s to %s", kind, strings.Join(all, ", "), table, r.role))
	var columns []string
	for _, column := range slices.Backward(all) {
		r.do(fmt.Sprintf("revoke %s (%s) on %s from %s", kind, column, table, r.role))
		if r.refused(users) != nil {
			columns = append(columns, column)
			r.do(fmt.Sprintf("grant %s (%s) on %s to %s", kind, column, table, r.role))
		}
	}
	slices.Reverse(columns)
	return line(kind, table, all, columns)
}

// mentioning are the statements that may need a privilege on a table. Policies read retired_tenants, and those of the console
// organizations.
func (r *rehearsal) mentioning(table string) (names []string) {
	word := regexp.MustCompile(`\b` + table + `\b`)
	for name, text := range r.texts {
		if table == "retired_tenants" || table == "organizations" && strings.Contains(text, "console_") || word.MatchString(text) {
			names = append(names, name)
		}
	}
	return names
}

// prepare opens a database transaction, which is never committed, with all statements prepared.
func (r *rehearsal) prepare() {
	r.T.Helper()
	r.conn = ledgertest.Connect(r.T, r.URL)
	r.do("begin")
	r.do("set plan_cache_mode = force_generic_plan")
	for name, text := range r.texts {
		r.do(fmt.Sprintf("prepare \"%s\" as %s", name, text))
	}
}

func (r *rehearsal) do(sql string) {
	r.T.Helper()
	if _, err := r.conn.PgConn().Exec(r.T.Context(), sql).ReadAll(); err != nil {
		r.T.Fatalf("%s: %v", sql, err)
	}
}

var parameter = regexp.MustCompile(`\$(\d+)`)

// refused are those of the statements that the role may not run.
func (r *rehearsal) refused(names []string) (refused []string) {
	r.T.Helper()
	r.do("set local role " + r.role)
	defer r.do("reset role")
	for _, name := range names {
		count := 0
		for _, match := range parameter.FindAllStringSubmatch(r.texts[name], -1) {
			n, _ := strconv.Atoi(match[1])
			count = max(count, n)
		}
		execute := fmt.Sprintf("explain execute %q", name)
		if count > 0 {
			execute += "(" + strings.TrimSuffix(strings.Repeat("null,", count), ",") + ")"
		}
		r.do("savepoint planned")
		if _, err := r.conn.PgConn().Exec(r.T.Context(), execute).ReadAll(); err != nil {
			r.do("rollback to planned")
			if !isRefusal(err) {
				r.T.Fatalf("%s: %v", name, err)
			}
			refused = append(refused, name)
		}
		r.do("release planned")
	}
	return refused
}

func isRefusal(err error) bool {
	var answer *pgconn.PgError
	return errors.As(err, &answer) && answer.Code == pgerrcode.InsufficientPrivilege
}
