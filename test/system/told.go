package system

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/cauri-dev/cauri/server/payments"
)

// Transaction is what clients remember of a transaction.
type Transaction struct {
	ID        string `json:"id"`
	Type      string `json:"type"`
	Status    string `json:"status"`
	Reference string `json:"reference"`
	MSISDN    string `json:"msisdn"`
	Amount    int64  `json:"amount"`
	NetAmount int64  `json:"netAmount"`
}

// differs describes the difference between a transaction and what a client was told. Only the status PENDING may have
// changed.
func (t Transaction) differs(now Transaction) string {
	if t.Status == string(payments.Pending) {
		t.Status = now.Status
	}
	if t != now {
		return fmt.Sprintf("%s is %+v now; its client was told %+v", t.Reference, now, t)
	}
	return ""
}

// AuditTold compares the database with what all clients of the sandbox were told, by reference, at a moment when no
// client waits for an answer. The database must have exactly these transactions, with that content.
func (s *Sandbox) AuditTold(ctx context.Context, told map[string]Transaction) (problems []string, err error) {
	rows, err := s.system.SQL.Query(ctx, `select id, type::text, status::text, reference, msisdn, amount, net_amount
		from transactions where tenant = $1`, s.Tenant)
	if err != nil {
		return nil, fmt.Errorf("reading the transactions of %s: %w", s.Config.Name, err)
	}
	var now Transaction
	var id [16]byte
	var all []Transaction
	_, err = pgx.ForEachRow(rows, []any{&id, &now.Type, &now.Status, &now.Reference, &now.MSISDN, &now.Amount, &now.NetAmount}, func() error {
		now.ID = payments.ID(id).String()
		all = append(all, now)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading the transactions of %s: %w", s.Config.Name, err)
	}
	return compare("the database", told, all), nil
}

// AuditTold is [Sandbox.AuditTold] through the public API, for transactions that were created after a moment. It reads
// all pages of the list.
func (c *Client) AuditTold(ctx context.Context, told map[string]Transaction, since time.Time) (problems []string, err error) {
	var all []Transaction
	filter := "/payments?limit=100&created_after=" + url.QueryEscape(since.UTC().Format(time.RFC3339Nano))
	for next := ""; ; {
		var page struct {
			Data       []Transaction `json:"data"`
			NextCursor *string       `json:"nextCursor"`
		}
		answer, err := c.InsistOnGet(ctx, filter+next)
		if err == nil {
			err = json.Unmarshal(answer.Body, &page)
		}
		if err != nil {
			return nil, fmt.Errorf("listing payments: %w", err)
		}
		all = append(all, page.Data...)
		if page.NextCursor == nil {
			break
		}
		next = "&cursor=" + *page.NextCursor
	}
	return compare("the list of payments", told, all), nil
}

// compare returns what is lost, doubled or changed in a place that should have all transactions of a sandbox.
func compare(where string, told map[string]Transaction, all []Transaction) (problems []string) {
	problem := func(format string, args ...any) {
		problems = append(problems, where+": "+fmt.Sprintf(format, args...))
	}
	seen := make(map[string]bool, len(all))
	for _, now := range all {
		was, known := told[now.Reference]
		switch different := was.differs(now); {
		case seen[now.Reference]:
			problem("%s is there twice", now.Reference)
		case !known:
			problem("nobody was told of %+v", now)
		case different != "":
			problem("%s", different)
		}
		seen[now.Reference] = true
	}
	for reference, was := range told {
		if !seen[reference] {
			problem("%s is lost; its client was told %+v", reference, was)
		}
	}
	return problems
}
