package ledger

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/cauri-dev/cauri/server/ledger/ledgerdb"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/postgres/sqlc"
)

// Prompt is a pending collection that waits for its payer's answer.
type Prompt struct {
	ID            payments.ID
	Amount        int64
	CustomerTotal int64
	Currency      string // as sent
	Store         string // slug
	Reference     string
	Description   *string
	CreatedAt     time.Time
	ExpiresAt     time.Time // when it ends with the status TIMEOUT
}

// ListPrompts returns a page of at most limit prompts of the SIM with a number, oldest first. after is the id of the
// last prompt of the previous page, nil for the first page. It returns [ErrNotFound] for a number that the tenant's
// registry does not have.
func (l *Ledger) ListPrompts(ctx context.Context, tenant int64, msisdn string, after *payments.ID, limit int) ([]Prompt, error) {
	sim, err := l.FindSIM(ctx, tenant, msisdn)
	if err != nil {
		return nil, err
	}
	if sim == nil {
		return nil, ErrNotFound
	}
	var from pgtype.UUID
	if after != nil {
		from = postgres.UUID(*after)
	}
	rows, err := l.core.Tenant(tenant).ListPrompts(ctx, from, int32(limit), tenant, postgres.UUID(sim.ID))
	if err != nil {
		return nil, postgres.Classify(err, "listing the prompts")
	}
	prompts := make([]Prompt, len(rows))
	for i, row := range rows {
		prompts[i] = Prompt{
			ID: row.ID.Bytes, Amount: row.Amount, CustomerTotal: row.NetAmount + row.Commission, Currency: row.Currency, Store: row.Store,
			Reference: row.Reference, Description: row.Description, CreatedAt: row.CreatedAt, ExpiresAt: *row.ExpiresAt,
		}
	}
	return prompts, nil
}

// ErrPromptClosed is returned for an answer to a prompt that was answered or has expired.
type ErrPromptClosed struct {
	Transaction *payments.Transaction // in its current state
}

func (e *ErrPromptClosed) Error() string {
	return fmt.Sprintf("%s is %s already", e.Transaction.ID, e.Transaction.Status)
}

// AnswerPrompt gives a pending collection its payer's answer, whatever the payer's behavior, and returns the completed
// collection. It reads the SIM again, as settlement does: the SIM may be deleted or blocked, or its balance too low. It
// records the outcome, the moved money and the event in one database transaction.
//
// It returns [ErrNotFound] if the collection is no prompt of the SIM with this number, [*ErrPromptClosed] if the
// collection has another outcome or has just expired, and [postgres.ErrConfigChanged] if the sandbox is suspended. If
// the collection already has the outcome of this answer, AnswerPrompt returns it unchanged, and replayed is true.
func (l *Ledger) AnswerPrompt(
	ctx context.Context, tenant int64, msisdn string, id payments.ID, answer payments.Answer,
) (t *payments.Transaction, replayed bool, err error) {
	sim, err := l.FindSIM(ctx, tenant, msisdn)
	if err != nil {
		return nil, false, err
	}
	if sim == nil {
		return nil, false, ErrNotFound
	}
	var prompt sqlc.LockPromptRow
	err = l.core.InTenantTx(ctx, tenant, func(q *sqlc.Queries) error {
		if prompt, err = q.LockPrompt(ctx, tenant, postgres.UUID(id), postgres.UUID(sim.ID)); err != nil {
			return err
		}
		if prompt.Suspended {
			return postgres.ErrConfigChanged
		}
		if !prompt.Status.Terminal() {
			if err := answerPrompt(ctx, q, prompt, answer); err != nil {
				return err
			}
		}
		row, err := q.GetTransaction(ctx, tenant, postgres.UUID(id))
		if err != nil {
			return err
		}
		t = ledgerdb.TransactionOf(&row)
		return ledgerdb.AddSent(ctx, q, tenant, t)
	})
	if err == nil && !prompt.Status.Terminal() {
		l.core.Sandboxes.NoteActivity(tenant)
	}
	answered := !prompt.Status.Terminal() && !prompt.Expired
	replayed = prompt.Status == answer.Outcome()
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil, false, ErrNotFound
	case err != nil:
		return nil, false, postgres.ClassifyWrite(err, "answering the prompt")
	case !answered && !replayed:
		return nil, false, &ErrPromptClosed{Transaction: t}
	}
	return t, replayed, nil
}

// answerPrompt settles a locked prompt.
func answerPrompt(ctx context.Context, q *sqlc.Queries, p sqlc.LockPromptRow, answer payments.Answer) error {
	claimed := []sqlc.ClaimDueTransactionsRow{{
		Tenant: p.Tenant, ID: p.ID, Expired: p.Expired, FloatCurrency: p.FloatCurrency, SimID: p.SimID, NetAmount: p.NetAmount,
		Commission: p.Commission, Operator: p.Operator, Country: p.Country, RequestHash: p.RequestHash,
	}}
	held, err := lockBalances(ctx, q, claimed)
	if err != nil {
		return err
	}
	decisions, err := decideBatch(claimed, held, answer)
	if err != nil {
		return err
	}
	return decisions.writeBatch(ctx, q)
}
