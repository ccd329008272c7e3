package service_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	mathrand "math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/ledger/lists"
	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/payments/paymentstest"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/server/service"
)

type noMetrics struct{}

func (noMetrics) Recorded(string, string) {}
func (noMetrics) FaultApplied(string)     {}

// recorder records orders with all fields, and reads them back.
type recorder struct {
	*ledgertest.Fixture
	service *service.Service
	orders  int
	filled  *sync.Map // fields of a transaction that had a value in at least one way of recording
}

func newRecorder(w *ledgertest.Fixture, store *ledgertest.Store, filled *sync.Map) *recorder {
	w.T.Helper()
	directory := sandboxes.NewDirectory(store.DB)
	if err := directory.Refresh(w.T.Context()); err != nil {
		w.T.Fatal(err)
	}
	return &recorder{Fixture: w, filled: filled, service: service.New(service.Options{
		Ledger: store.Ledger, Books: store.Books, Sandboxes: store.Registry, Directory: directory, Now: time.Now,
		Draw: mathrand.Int64N, Random: rand.Reader, Metrics: noMetrics{},
	})}
}

// order returns an order in which each field has a value of its own.
func (r *recorder) order() payments.Order {
	r.orders++
	var o payments.Order
	paymentstest.Fill(&o, fmt.Sprintf("%s %d", r.Sandbox.Name, r.orders))
	o.Operator, o.Country, o.Currency, o.MSISDN = payments.MTN, payments.Rwanda, "RWF", ledgertest.Alice
	o.Reference, o.Store, o.Amount, o.Scenario, o.Parent = fmt.Sprint("reference-", r.orders), "second", 100+int64(r.orders), "", payments.ID{}
	return o
}

func orderOf(o payments.Order, call *service.OperatorCall) service.Order {
	return service.Order{Order: o, Call: call, Fingerprint: func(reference string) []byte {
		if call != nil {
			return ledger.NativeHash(call.Operation)
		}
		return []byte(strings.Repeat("x", 32-len(reference)) + reference)
	}}
}

func call() *service.OperatorCall {
	return &service.OperatorCall{Operation: "mtn requesttopay", Sent: json.RawMessage(`{"note": "sent"}`)}
}

type recordOrder func(context.Context, *service.Caller, service.Order) (service.Recorded, error)

func (r *recorder) record(do recordOrder, o payments.Order, call *service.OperatorCall) *payments.Transaction {
	r.T.Helper()
	recorded, err := do(r.T.Context(), &service.Caller{Key: r.Key, Sandbox: r.Sandbox}, orderOf(o, call))
	if err != nil {
		r.T.Errorf("%s: %v", o.Reference, err)
		return nil
	}
	return recorded.Transaction
}

// check compares a transaction with its order, and with what the ways of reading find. The order of a refund has
// only some fields; the others are those of the parent.
func (r *recorder) check(way string, o payments.Order, told *payments.Transaction, parent *payments.Transaction) {
	r.T.Helper()
	if told == nil {
		return
	}
	read, err := r.GetTransaction(r.T.Context(), r.Sandbox.Tenant, told.ID)
	if err != nil {
		r.T.Fatal(err)
	}
	r.sameOrder(way, o, read, parent)
	told.NativeCall, told.NativeSent = read.NativeCall, read.NativeSent // who answers has them from the request
	if diff := cmp.Diff(read, told); diff != "" {
		r.T.Errorf("%s: the answer is not what is recorded (-recorded +answered):\n%s", way, diff)
	}
	for name, found := range r.readings(read) {
		if diff := cmp.Diff(read, found); diff != "" {
			r.T.Errorf("%s: %s reads something else:\n%s", way, name, diff)
		}
	}
	v := reflect.ValueOf(*read)
	for _, field := range reflect.VisibleFields(v.Type()) {
		if !field.Anonymous && !v.FieldByIndex(field.Index).IsZero() {
			r.filled.Store(field.Name, true)
		}
	}
}

// sameOrder reports fields of an order that were not recorded.
func (r *recorder) sameOrder(way string, o payments.Order, read, parent *payments.Transaction) {
	r.T.Helper()
	order, recorded := reflect.ValueOf(o), reflect.ValueOf(*read)
	for _, field := range reflect.VisibleFields(order.Type()) {
		if field.Anonymous {
			continue
		}
		name := field.Name
		if name == "Parent" {
			if parent != nil && (read.ParentID == nil || *read.ParentID != o.Parent) {
				r.T.Errorf("%s: the parent is not recorded", way)
			}
			continue
		}
		got := recorded.FieldByName(name)
		if !got.IsValid() {
			r.T.Errorf("a transaction has no field %s, which an order has", name)
			continue
		}
		want := order.FieldByIndex(field.Index)
		if parent != nil && !slices.Contains(ofRefunds, name) && name != "Scenario" { // nobody forces a refund
			want = reflect.ValueOf(*parent).FieldByName(name)
		}
		if diff := cmp.Diff(want.Interface(), got.Interface()); diff != "" {
			r.T.Errorf("%s: %s is not recorded (-order +transaction):\n%s", way, name, diff)
		}
	}
}

// ofRefunds are the fields that the order of a refund has. It takes the others from its collection.
var ofRefunds = []string{"Reference", "Amount", "Description"}

// readings are the other ways to read a transaction.
func (r *recorder) readings(t *payments.Transaction) map[string]*payments.Transaction {
	r.T.Helper()
	ctx := r.T.Context()
	batched, err := r.GetTransactionBatched(ctx, r.Sandbox, t.ID)
	if err != nil {
		r.T.Fatal(err)
	}
	byReference, _, err := r.FindReference(ctx, r.Sandbox.Tenant, t.Reference)
	if err != nil {
		r.T.Fatal(err)
	}
	page, err := r.ListTransactions(ctx, r.Sandbox.Tenant, lists.Filter{Reference: t.Reference}, nil, 1)
	if err != nil || len(page) != 1 {
		r.T.Fatal(err, len(page))
	}
	batched.NativeSent, byReference.NativeSent, page[0].NativeSent = t.NativeSent, t.NativeSent, t.NativeSent
	return map[string]*payments.Transaction{"the look-up": batched, "the reference": byReference, "the list": page[0]}
}

// everyWay records every kind of transaction alone, by /v1 and by an operator's own API.
func (r *recorder) everyWay(where string) {
	for name, call := range map[string]func() *service.OperatorCall{
		"by /v1": func() *service.OperatorCall { return nil }, "by an operator's API": call,
	} {
		way := func(kind string) string { return kind + " " + name + where }
		for _, scenario := range []payments.Scenario{"", payments.ScenarioBlocked, payments.ScenarioSuccess} {
			o := r.order()
			o.Scenario = scenario
			paid := r.record(r.service.Collect, o, call())
			r.check(way("a collection with the scenario '"+string(scenario)+"'"), o, paid, nil)
			if scenario != payments.ScenarioSuccess || paid == nil {
				continue
			}
			refund := payments.Order{Parent: paid.ID}
			all := r.order()
			refund.Reference, refund.Amount, refund.Description = all.Reference, 50, all.Description
			parent := *paid
			r.check(way("a refund"), refund, r.record(r.service.Refund, refund, call()), &parent)
		}
		o := r.order()
		r.check(way("a disbursement"), o, r.record(r.service.Disburse, o, call()), nil)
	}
}

// together records three orders in one statement: the first one waits for the float, and the others for the first one.
func (r *recorder) together(way string, do recordOrder, scenario payments.Scenario) {
	r.T.Helper()
	one := func() bool {
		release := r.lockFloat()
		defer release()
		var group sync.WaitGroup
		orders := make([]payments.Order, 4)
		told := make([]*payments.Transaction, len(orders))
		for i := range orders {
			orders[i] = r.order()
			orders[i].Scenario = scenario
		}
		for i, o := range orders {
			group.Go(func() { told[i] = r.record(do, o, nil) })
			if i == 0 {
				ledgertest.Eventually(r.T, func() bool { return r.blocked() == 1 })
			}
		}
		release()
		group.Wait()
		for i, o := range orders {
			r.check(way, o, told[i], nil)
		}
		return ledgertest.Read[bool](r.Fixture, `select exists (select from transactions where tenant = $1
			group by xmin::text having count(*) > 1)`, r.Sandbox.Tenant)
	}
	ledgertest.Eventually(r.T, one)
}

// lockFloat holds the lock of the sandbox's floats until the function that it returns is called.
func (r *recorder) lockFloat() (release func()) {
	r.T.Helper()
	tx, err := r.SQL.Begin(r.T.Context())
	if err == nil {
		_, err = tx.Exec(r.T.Context(), "select from floats where tenant = $1 for update", r.Sandbox.Tenant)
	}
	if err != nil {
		r.T.Fatal(err)
	}
	return sync.OnceFunc(func() { _ = tx.Rollback(context.Background()) })
}

func (r *recorder) blocked() int {
	return r.Count("select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'")
}

// ofNoOrder are fields of a transaction that a later moment fills: the answer of the API to which it was forwarded,
// the refunds, faults, and a number's behavior while nobody has its SIM.
var ofNoOrder = []string{"NativeID", "NativeRaw", "Refunded", "Faults", "TestBehavior"}

// Every field of an order is recorded in every way there is, and read in every way.
func TestEveryFieldOfAnOrderIsRecorded(t *testing.T) {
	seed := int64(7)
	w := ledgertest.NewFixture(t, func(c *sandboxes.Config) {
		c.Stores, c.OpeningFloat, c.Seed = []string{"shop", "second"}, map[payments.Currency]int64{payments.RWF: 1e6}, &seed
	})
	plain := w.Beside("plain", func(c *sandboxes.Config) { c.Seed = nil })
	filled := &sync.Map{}
	for _, f := range []*ledgertest.Fixture{w, plain} {
		f.Client("alice", ledgertest.Alice, 1e6)
		f.Reload()
	}
	r := newRecorder(w, w.Store, filled)
	r.everyWay("")
	alone := newRecorder(plain, w.Store, filled)
	alone.everyWay(" without a seed")
	alone.together("collections together", alone.service.Collect, payments.ScenarioSuccess)
	alone.together("disbursements together", alone.service.Disburse, "")
	inSharedCommit(w, filled)
	w.RunAhead(time.Hour)
	r = newRecorder(w, w.Store, filled)
	r.orders = 1000
	r.everyWay(" with a clock")
	for _, field := range reflect.VisibleFields(reflect.TypeFor[payments.Transaction]()) {
		if _, had := filled.Load(field.Name); !field.Anonymous && !had && !slices.Contains(ofNoOrder, field.Name) {
			t.Errorf("no way of recording gave %s a value", field.Name)
		}
	}
}

// inSharedCommit records collections of two sandboxes in one database transaction: an api with one connection is busy
// with a third one.
func inSharedCommit(w *ledgertest.Fixture, filled *sync.Map) {
	t := w.T
	t.Helper()
	api, err := ledgertest.OpenWith(w.URL, ledgertest.Options{Options: postgres.Options{MaxConns: 2}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(api.Close)
	var crowd []*recorder
	for i := range 4 {
		f := w.Beside(fmt.Sprint("shared", i), func(c *sandboxes.Config) { c.Seed = nil })
		f.Client("alice", ledgertest.Alice, 1e6)
		f.Reload()
		crowd = append(crowd, newRecorder(f, api, filled))
	}
	var group sync.WaitGroup
	pay := func(r *recorder) {
		o := r.order()
		o.Scenario = payments.ScenarioSuccess
		group.Go(func() {
			told := r.record(r.service.Collect, o, nil)
			if r == crowd[2] || r == crowd[3] {
				r.check("a collection in a shared commit", o, told, nil)
			}
		})
	}
	var releases []func()
	for i, busy := range crowd[:2] {
		release := busy.lockFloat()
		defer release()
		releases = append(releases, release)
		pay(busy)
		ledgertest.Eventually(t, func() bool { return busy.blocked() == i+1 })
	}
	pay(crowd[2])
	pay(crowd[3])
	ledgertest.Eventually(t, func() bool { return api.SharedCommits().Waiting == 2 })
	releases[0]()
	ledgertest.Eventually(t, func() bool { return api.SharedCommits().Waiting == 0 })
	releases[1]()
	group.Wait()
	n := w.Count("select count(distinct xmin::text) from transactions where tenant in ($1, $2)", crowd[2].Sandbox.Tenant, crowd[3].Sandbox.Tenant)
	if n != 1 {
		t.Errorf("two sandboxes took %d commits", n)
	}
}
