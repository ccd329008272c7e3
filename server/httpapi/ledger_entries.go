package httpapi

import (
	"net/http"
	"net/url"
	"strconv"

	"github.com/cauri-dev/cauri/server/httpapi/decode"
	"github.com/cauri-dev/cauri/server/httpapi/view"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/httpfront"
	"github.com/cauri-dev/cauri/server/proof"
	"github.com/cauri-dev/cauri/server/service"
)

// listEntries answers in JSON or in CSV. In CSV, the header Link has the URL of the next page.
func (a *API) listEntries(w http.ResponseWriter, r *http.Request, who *service.Caller) (httpfront.Answer, error) {
	tenant := who.Sandbox.Tenant
	q, err := decode.ParseEntryQuery(w.Header(), r.URL.RawQuery, who.Sandbox)
	if err != nil {
		return httpfront.Answer{}, err
	}
	account, found, err := a.books.ListEntries(r.Context(), tenant, q.Account, q.After, q.Limit+1)
	if err != nil {
		return httpfront.Answer{}, orMissing(err, view.NoSuchAccount(who.Sandbox, q.Account))
	}
	page := wire.LedgerEntryList{Account: account.String(), Data: []wire.LedgerEntry{}, HasMore: len(found) > q.Limit}
	for i := range found[:min(len(found), q.Limit)] {
		page.Data = append(page.Data, view.LedgerEntryOf(&found[i]))
	}
	if page.HasMore {
		page.NextCursor = new(q.Cursor(tenant, found[q.Limit-1].Number))
	}
	if len(found) > 0 && q.After > 0 {
		page.PreviousCursor = new(q.Previous(tenant, found[0].Number))
	}
	answer := answered(http.StatusOK, page)
	answer.Header = http.Header{"Vary": {"Accept"}}
	if !decode.PrefersCSV(r.Header) {
		return answer, nil
	}
	answer.Body = csvBody(proof.EntriesCSV(account, found[:min(len(found), q.Limit)], true))
	if page.HasMore {
		answer.Header.Set("Link", "<"+nextEntries(r, q.Limit, *page.NextCursor)+`>; rel="next"`)
	}
	return answer, nil
}

// nextEntries returns the path and query of the page after a cursor.
func nextEntries(r *http.Request, limit int, cursor string) string {
	query := url.Values{"limit": {strconv.Itoa(limit)}, "cursor": {cursor}}
	for _, name := range []string{"currency", "msisdn"} {
		if value := r.URL.Query().Get(name); value != "" {
			query.Set(name, value)
		}
	}
	return httpfront.PathTo(r, "/v1/ledger/entries") + "?" + query.Encode()
}
