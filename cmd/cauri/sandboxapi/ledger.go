package sandboxapi

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"github.com/cauri-dev/cauri/server/httpapi/wire"
)

// Ledger returns the proofs of at most limit balances. Its field Balanced covers all balances.
func (c *Client) Ledger(ctx context.Context, limit int) (all wire.LedgerAccountList, err error) {
	all.Balanced, all.Data = true, []wire.LedgerAccount{}
	asked := url.Values{}
	for {
		asked.Set("limit", strconv.Itoa(min(limit-len(all.Data), wire.MaxLimit)))
		var next wire.LedgerAccountList
		if err := c.call(ctx, http.MethodGet, "/ledger?"+asked.Encode(), nil, &next); err != nil {
			return all, err
		}
		all.Balanced = all.Balanced && next.Balanced
		all.Data = append(all.Data, next.Data...)
		all.NextCursor, all.HasMore = next.NextCursor, next.HasMore
		if !next.HasMore || len(all.Data) >= limit {
			return all, nil
		}
		asked.Set("cursor", *next.NextCursor)
	}
}

// VerifyLedger requests a verification of the ledger from the first movement, and waits for its end.
func (c *Client) VerifyLedger(ctx context.Context) error {
	return c.call(ctx, http.MethodGet, "/ledger?limit=1&verify="+wire.VerifyFull, nil, &wire.LedgerAccountList{})
}

// LedgerEntries reads the entries of an account whose numbers are greater than the parameter after. It calls the
// parameter each with every page, until the last page or until that returns false. The last page includes entries that
// were added during the call.
func (c *Client) LedgerEntries(
	ctx context.Context, account *wire.LedgerAccount, after int64, limit int, each func(page *wire.LedgerEntryList) (more bool, err error),
) error {
	asked := url.Values{"limit": {strconv.Itoa(limit)}, "after": {strconv.FormatInt(after, 10)}}
	if account.MSISDN != nil {
		asked.Set("msisdn", *account.MSISDN)
	} else {
		asked.Set("currency", account.Currency)
	}
	for {
		var next wire.LedgerEntryList
		if err := c.call(ctx, http.MethodGet, "/ledger/entries?"+asked.Encode(), nil, &next); err != nil {
			return err
		}
		if more, err := each(&next); err != nil || !more || next.NextCursor == nil {
			return err
		}
		asked.Del("after")
		asked.Set("cursor", *next.NextCursor)
	}
}
