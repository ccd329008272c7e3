package console

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/cauri-dev/cauri/server/english"
	"github.com/cauri-dev/cauri/server/httpfront"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/proof"
)

const (
	// entriesOnPage is how many movements a page of an account has.
	entriesOnPage = 25
	// entriesInPiece is how many movements are read at a time for an export.
	entriesInPiece = 500
)

// account is a balance with a page of its movements.
type account struct {
	*proof.AccountProof
	names        map[string]string      // of the account's SIM, by number
	then         map[payments.ID]string // of the SIMs in the entries, by transaction
	entries      []proof.Entry          // newest first
	newer, older string                 // addresses of the pages beside it; empty: there is none
}

// account shows a float or a SIM with its movements.
func (c *Console) account(v *visit) (page, error) {
	a, err := c.readAccount(v)
	if err != nil {
		return page{}, err
	}
	p := page{
		title: nameOf(v, a.Account, a.names), body: accountPage(v, a), live: []string{"proof", "accounts"}, every: proofEvery,
	}
	if a.newer == "" { // rows on a later page stay where they are
		p.live = append(p.live, "entries")
	}
	return p, nil
}

// findAccount returns the account in the path.
func (c *Console) findAccount(v *visit) (*proof.AccountProof, error) {
	of, ok := accountOf(chi.URLParam(v.request, "account"))
	if !ok {
		return nil, errNotFound
	}
	a, err := c.Books.FindAccount(v.ctx(), v.who.Sandbox.Tenant, of)
	if errors.Is(err, ledger.ErrNotFound) {
		return nil, newProblem(http.StatusNotFound, v.Text("There is no such account"),
			strings.TrimSpace(v.Text("The sandbox has no float in this currency, or no test client with this number.")+" "+v.lengthOf(of.MSISDN)),
			"not_found")
	}
	return a, err
}

func (c *Console) readAccount(v *visit) (*account, error) {
	found, err := c.findAccount(v)
	if err != nil {
		return nil, err
	}
	a := &account{AccountProof: found}
	// Numbers have no gaps, so the number of the newest movement on a page says where the page begins.
	newest := found.Movements
	if asked, err := strconv.ParseInt(v.request.URL.Query().Get("to"), 10, 64); err == nil && asked > 0 && asked < newest {
		newest = asked
		a.newer = a.page(newest + entriesOnPage)
	}
	before := max(0, newest-entriesOnPage)
	if before > 0 {
		a.older = a.page(before)
	}
	tenant := v.who.Sandbox.Tenant
	_, a.entries, err = c.Books.ListEntries(v.ctx(), tenant, found.Account, before, int(newest-before))
	if err != nil {
		return nil, err
	}
	slices.Reverse(a.entries)
	if a.names, err = c.Ledger.SIMNames(v.ctx(), tenant, []string{found.MSISDN}); err != nil {
		return nil, err
	}
	var ids []payments.ID
	for _, e := range a.entries {
		if e.Transaction != nil {
			ids = append(ids, *e.Transaction)
		}
	}
	a.then, err = c.Ledger.PartyNames(v.ctx(), tenant, ids)
	return a, err
}

// page returns the address of the page on which the movement with this number is the newest.
func (a *account) page(newest int64) string {
	if newest >= a.Movements {
		return accountPath(a.Account)
	}
	return pathWith(accountPath(a.Account), url.Values{"to": {strconv.FormatInt(newest, 10)}})
}

// balanceChange returns by how much an entry changed the balance.
func (a *account) balanceChange(e *proof.Entry) (change int64) {
	for _, p := range e.Postings {
		if p.Account == a.String() {
			change += p.Credit - p.Debit
		}
	}
	return change
}

// side returns the postings of an entry on one side: the debits, or the credits.
func side(e *proof.Entry, debit bool) []proof.Posting {
	return slices.DeleteFunc(slices.Clone(e.Postings), func(p proof.Posting) bool { return debit != (p.Debit > 0) })
}

// party returns the text for a posting's account. person is true if the text is the name of a person.
func (a *account) party(e *proof.Entry, p proof.Posting) (text string, person bool) {
	number, ok := strings.CutPrefix(p.Account, proof.TestClientAccount+":")
	name := a.names[number]
	if e.Transaction != nil {
		name = a.then[*e.Transaction]
	}
	if ok && name != "" {
		return name, true
	}
	return p.Account, false
}

// entryTitle returns the title of an entry: the order or the reference of its transaction, or else the type of the
// entry.
func entryTitle(v *visit, e *proof.Entry) string {
	switch {
	case e.OrderRef != "":
		return e.OrderRef
	case e.Reference != "":
		return e.Reference
	}
	return v.Text(entryKinds[e.Type])
}

// entryKinds are the texts for the types of entries.
var entryKinds = map[proof.EntryType]english.Text{
	proof.EntryOpening: "opening", proof.EntryAdjustment: "adjustment", "collection": "collection", "refund": "refund",
	"disbursement": "disbursement",
}

// verifiedFrom reports whether an entry is the newest verified one, and newer ones wait to be verified.
func (a *account) verifiedFrom(e *proof.Entry) bool {
	return a.VerifiedAt != nil && e.Number == a.VerifiedUpTo && a.VerifiedUpTo < a.Movements && a.Imbalance == nil
}

// breaksAfter reports whether the movements and the balance stop matching after an entry.
func (a *account) breaksAfter(e *proof.Entry) bool {
	return a.Imbalance != nil && e.Number == a.Imbalance.After
}

// lead returns the balance, and how many of its movements are verified, as a text.
func (a *account) lead(v *visit) string {
	text := v.Money(string(a.Currency), a.Balance) + ". "
	switch {
	case a.Imbalance != nil:
		return text + v.Text("The balance does not follow from its movements.")
	case a.VerifiedAt == nil:
		return text + v.Count(a.Movements, "1 movement, not proven yet.", "%s movements, not proven yet.")
	}
	ago := v.Duration(time.Since(*a.VerifiedAt).Truncate(time.Second))
	return text + v.Count(a.VerifiedUpTo, "1 of %s movements proven, %s ago.", "%s of %s movements proven, %s ago.", v.Number(a.Movements), ago)
}

// exportEntries sends all movements of an account as CSV.
func (c *Console) exportEntries(v *visit) (httpfront.Answer, error) {
	var found *proof.AccountProof
	err := c.renewing(v, func() (err error) {
		found, err = c.findAccount(v)
		return err
	})
	if err != nil {
		return httpfront.Answer{}, err
	}
	header := secure.Clone()
	header.Set("Content-Disposition", `attachment; filename="`+exportName(v, found.Account)+`"`)
	return httpfront.Answer{Status: http.StatusOK, Header: header, Body: &export{
		books: c.Books, tenant: v.who.Sandbox.Tenant, of: found.Account, last: found.Movements,
	}}, nil
}

// export is a body with the movements of an account, in the order of their numbers. It ends with the movement that was
// the last one when the export began.
type export struct {
	books       *proof.Books
	tenant      int64
	of          proof.Account
	after, last int64 // numbers of the last movement that was sent, and of the last one to send
}

// ContentType implements [httpfront.Body].
func (*export) ContentType() string { return "text/csv; charset=utf-8; header=present" }

// Append implements [httpfront.Body]. It appends nothing: [export.Next] does.
func (*export) Append(text []byte) ([]byte, error) { return text, nil }

// Next implements [httpfront.Pieces].
func (e *export) Next(ctx context.Context, text []byte) ([]byte, error) {
	_, entries, err := e.books.ListEntries(ctx, e.tenant, e.of, e.after, int(min(entriesInPiece, max(1, e.last-e.after))))
	if err != nil {
		return text, err
	}
	text = append(text, proof.EntriesCSV(e.of, entries, e.after == 0)...)
	if len(entries) == 0 {
		return text, io.EOF
	}
	if e.after = entries[len(entries)-1].Number; e.after >= e.last {
		return text, io.EOF
	}
	return text, nil
}
