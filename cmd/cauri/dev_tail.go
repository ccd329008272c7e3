package main

import (
	"context"
	"fmt"
	"time"

	"github.com/cauri-dev/cauri/cmd/cauri/cli"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/payments"
)

// tailPoll is how often new transactions, events and attempts are looked for.
const tailPoll = 300 * time.Millisecond

// tailPage is how many transactions and events are read at a time.
const tailPage = 100

// tailMemory bounds what a tail remembers, in transactions.
const tailMemory = 10_000

// tailSource is what is read; [ledger.Ledger] has it.
type tailSource interface {
	ListTransactions(ctx context.Context, tenant int64, f ledger.Filter, after *payments.ID, limit int) ([]*payments.Transaction, error)
	ListEvents(ctx context.Context, tenant int64, f ledger.EventFilter, after *payments.EventID, limit int) ([]ledger.Event, error)
}

// tail follows the transactions, events and attempts of one tenant.
type tail struct {
	source tailSource
	tenant int64
	print  func(at time.Time, line string)
	seen   map[payments.EventID]*tailed // what is no callback: the transaction and its event
	begun  bool
}

// tailed is what was printed of a transaction.
type tailed struct {
	attempts int
	event    bool
	open     bool // more is to come
}

func newTail(source tailSource, tenant int64, printLine func(time.Time, string)) *tail {
	return &tail{source: source, tenant: tenant, print: printLine, seen: map[payments.EventID]*tailed{}}
}

// poll prints what is new. The first call prints nothing: what is older than the tail is known. Events are read first, so that the
// transaction of each is read too.
func (t *tail) poll(ctx context.Context) error {
	events, err := t.source.ListEvents(ctx, t.tenant, ledger.EventFilter{}, nil, tailPage)
	if err != nil {
		return err
	}
	fresh, err := t.newTransactions(ctx)
	if err != nil {
		return err
	}
	for i := len(fresh) - 1; i >= 0 && t.begun; i-- { // oldest first
		t.print(fresh[i].CreatedAt, transactionLine(fresh[i]))
	}
	for i := len(events) - 1; i >= 0; i-- {
		t.follow(&events[i])
	}
	if err := t.followOld(ctx, events); err != nil {
		return err
	}
	t.forget()
	t.begun = true
	return nil
}

// newTransactions are those that were not seen, newest first. They may be committed in another order than that of their ids, so that
// one page is always read.
func (t *tail) newTransactions(ctx context.Context) (fresh []*payments.Transaction, err error) {
	var after *payments.ID
	for {
		page, err := t.source.ListTransactions(ctx, t.tenant, ledger.Filter{}, after, tailPage)
		if err != nil {
			return nil, err
		}
		before := len(fresh)
		for _, found := range page {
			if id := (payments.EventID{Transaction: found.ID}); t.seen[id] == nil {
				t.seen[id] = &tailed{open: true}
				fresh = append(fresh, found)
			}
		}
		if !t.begun || len(page) < tailPage || len(fresh)-before < len(page) {
			return fresh, nil
		}
		after = &page[len(page)-1].ID
	}
}

// follow prints what is new of an event.
func (t *tail) follow(e *ledger.Event) {
	known := t.seen[e.EventID()]
	if known == nil {
		known = &tailed{}
		t.seen[e.EventID()] = known
	}
	if t.begun && !known.event {
		t.print(time.Now(), eventLine(e))
	}
	if t.begun && e.Attempts > known.attempts {
		t.print(time.Now(), attemptLine(e))
	}
	known.event, known.attempts, known.open = true, e.Attempts, e.State == ledger.EventQueued
}

// followOld looks for events of transactions that are not on the first page.
func (t *tail) followOld(ctx context.Context, page []ledger.Event) error {
	if len(page) < tailPage {
		return nil
	}
	looked := 0
	for id, known := range t.seen {
		if !known.open || id.Transaction.Code() > page[len(page)-1].ID.Code() {
			continue
		}
		if looked++; looked > tailPage {
			return nil // the next poll begins with others
		}
		events, err := t.source.ListEvents(ctx, t.tenant, ledger.EventFilter{Transaction: &id.Transaction, Callback: &id.Callback}, nil, 1)
		if err != nil {
			return err
		}
		if len(events) > 0 {
			t.follow(&events[0])
		}
	}
	return nil
}

// forget drops what is final if there is too much of it.
func (t *tail) forget() {
	if len(t.seen) < tailMemory {
		return
	}
	t.begun = false // the next poll learns the newest again
	for id, known := range t.seen {
		if !known.open {
			delete(t.seen, id)
		}
	}
}

// transactionLine, eventLine and attemptLine are the formats of `cauri dev`. The first part of each has the same width.
func transactionLine(p *payments.Transaction) string {
	return cli.PaymentLine{
		What: string(p.Type), ID: p.ID.String(), Status: string(p.Status), Amount: fmt.Sprint(p.Amount), Currency: p.Currency,
		Operator: string(p.Operator), Country: string(p.Country), MSISDN: p.MSISDN, Reference: p.Reference,
	}.String()
}

func eventLine(e *ledger.Event) string {
	return fmt.Sprintf("%-22s  %s  %s", e.Name(), e.ID, e.Status)
}

func attemptLine(e *ledger.Event) string {
	what := "attempt"
	if e.Callback {
		what = "callback attempt"
	}
	line := fmt.Sprintf("%-22s  %s  ", fmt.Sprintf("%s %d", what, e.Attempts), e.ID)
	if e.LastStatus != nil {
		line += fmt.Sprintf("answered %d", *e.LastStatus)
	}
	switch {
	case e.State == ledger.EventDelivered:
		line += ", delivered"
	case e.LastError != nil && e.LastStatus == nil:
		line += *e.LastError
	}
	switch {
	case e.State == ledger.EventFailed:
		line += ", given up"
	case e.State == ledger.EventQueued && e.NextAttemptAt != nil:
		line += ", the next one at " + e.NextAttemptAt.Local().Format(time.TimeOnly)
	}
	return cli.Printable(line)
}
