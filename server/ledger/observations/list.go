package observations

import (
	"context"
	"encoding/json"
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/cauri-dev/cauri/server/expectations"
	"github.com/cauri-dev/cauri/server/postgres"
)

// Expectation is what a resource expects of its sandbox, with its latest results. All times are real times.
type Expectation struct {
	UID       string // of the resource
	Name      string // of the resource
	Lines     []expectations.Line
	BeganAt   time.Time
	Deadline  time.Time
	DueAt     *time.Time // the next evaluation even if nothing changes; nil: it is decided
	ChangedAt time.Time  // when the verdict or a line changed last
	Verdict   expectations.Verdict
	Reason    string
	Results   []expectations.Dated // one for each line; empty: it was not evaluated yet
}

// ExpectationList is a page of the expectations of a sandbox.
type ExpectationList struct {
	Expectations      []Expectation // the newest first
	Open, Met, Failed int64         // numbers of all expectations of the sandbox
	Now               time.Time     // by the database's clock
}

// ListExpectations returns at most limit expectations of a sandbox, newest first: those that are older than the
// expectation with the UID after. If after is not a UID, it returns the newest ones.
func (o *Observer) ListExpectations(ctx context.Context, tenant int64, after string, limit int) (ExpectationList, error) {
	var from pgtype.UUID
	if from.Scan(after) != nil {
		from = pgtype.UUID{}
	}
	list := ExpectationList{Now: time.Now()}
	count, err := o.core.Tenant(tenant).CountExpectations(ctx, tenant)
	if err != nil {
		return list, postgres.Classify(err, "counting expectations")
	}
	list.Open, list.Met, list.Failed = count.Open, count.Met, count.Failed
	rows, err := o.core.Tenant(tenant).ListExpectations(ctx, tenant, from, int32(limit))
	if err != nil {
		return list, postgres.Classify(err, "listing expectations")
	}
	for _, row := range rows {
		list.Now = row.Now
		e := Expectation{
			UID: row.Uid.String(), Name: row.Name, BeganAt: row.BeganAt, Deadline: row.Deadline, DueAt: row.DueAt, ChangedAt: row.ChangedAt,
			Verdict: expectations.Verdict(row.Verdict), Reason: row.Reason,
		}
		if e.Lines, err = expectations.Parse(row.Lines); err != nil {
			return list, err
		}
		if err := json.Unmarshal(row.Results, &e.Results); err != nil {
			return list, err
		}
		list.Expectations = append(list.Expectations, e)
	}
	return list, nil
}
