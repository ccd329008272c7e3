package httpapi

import (
	"context"
	"net/http"

	"github.com/cauri-dev/cauri/server/httpapi/decode"
	"github.com/cauri-dev/cauri/server/httpapi/view"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/httpfront"
	"github.com/cauri-dev/cauri/server/service"
)

func (a *API) listAccounts(w http.ResponseWriter, r *http.Request, who *service.Caller) (httpfront.Answer, error) {
	tenant := who.Sandbox.Tenant
	q := decode.LedgerQuery{Limit: wire.DefaultLimit}
	if _, wrong := decode.LedgerParameters.Read(w.Header(), r.URL.RawQuery, tenant, &q); len(wrong) > 0 {
		return httpfront.Answer{}, view.InvalidParams(wrong)
	}
	if !q.Verify {
		return a.accounts(r.Context(), tenant, &q)
	}
	return httpfront.Answer{Await: func(ctx context.Context) (page httpfront.Answer, err error) {
		if err := a.service.VerifyLedger(ctx, who); err != nil {
			return httpfront.Answer{}, err
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), httpfront.AnswerTimeout)
		defer cancel()
		err = a.service.Renewing(ctx, who, func(ctx context.Context) (err error) {
			page, err = a.accounts(ctx, who.Sandbox.Tenant, &q)
			return err
		})
		return page, err
	}}, nil
}

// accounts returns a page of the accounts.
func (a *API) accounts(ctx context.Context, tenant int64, q *decode.LedgerQuery) (httpfront.Answer, error) {
	found, balanced, err := a.books.ListAccounts(ctx, tenant, q.Account(), q.Limit+1)
	if err != nil {
		return httpfront.Answer{}, err
	}
	page := wire.LedgerAccountList{Balanced: balanced, Data: []wire.LedgerAccount{}, HasMore: len(found) > q.Limit}
	for i := range found[:min(len(found), q.Limit)] {
		page.Data = append(page.Data, view.LedgerAccountOf(&found[i]))
	}
	if page.HasMore {
		page.NextCursor = new(decode.LedgerCursors.After(tenant, decode.AccountCursor(found[q.Limit-1].Account)))
	}
	return answered(http.StatusOK, page), nil
}
