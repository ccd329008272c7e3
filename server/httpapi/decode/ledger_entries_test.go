package decode

import (
	"net/http"
	"net/url"
	"strconv"
	"testing"

	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/proof"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

func TestWhoWantsCSV(t *testing.T) {
	t.Parallel()
	for accept, want := range map[string]bool{
		"": false, "*/*": false, "application/json": false, "text/csv": true, "Text/CSV; charset=utf-8": true, "text/csv;q=0": false,
		"text/html, text/csv;q=0.5, */*": true, "application/json, text/csv;q=0.5": false, "application/json;q=0.5, text/csv": true, ";": false,
		"text/csv;q=x": false, "text/*": false,
	} {
		if got := PrefersCSV(http.Header{"Accept": {accept}}); got != want {
			t.Errorf("Accept: %s prefers CSV: %t", accept, got)
		}
	}
}

// FuzzEntryQuery checks that a query of entries is refused for a reason that names a parameter, or is about one account and continues
// where its cursor says.
func FuzzEntryQuery(f *testing.F) {
	float := EntryQuery{Account: proof.Account{Currency: payments.RWF}}
	for _, seed := range []string{
		"", "currency=RWF", "msisdn=%2B250788123456&limit=1000", "currency=RWF&msisdn=%2B250788123456", "currency=USD", "currency=RWF&after=12",
		"currency=RWF&after=-1", "currency=RWF&limit=1001", "a;b", "%zz", "currency=RWF&cursor=" + float.Cursor(1, 12), "currency=XOF&cursor=" + float.Cursor(1, 12),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		q, err := ParseEntryQuery(http.Header{}, raw, &sandboxes.Sandbox{Tenant: 1})
		values, unreadable := url.ParseQuery(raw)
		if err != nil {
			refused(t, raw, err, "invalid_params")
			return
		}
		if unreadable != nil || values.Has("currency") && values.Has("msisdn") || q.Limit < 1 || q.Limit > wire.MaxEntries || q.After < 0 {
			t.Fatalf("%q is read as %+v", raw, q)
		}
		switch cursor := values.Get("cursor"); {
		case values.Has("cursor"):
			if q.Cursor(1, q.After) != cursor || q.Cursor(2, q.After) == cursor {
				t.Errorf("%q continues after %d", raw, q.After)
			}
		case strconv.FormatInt(q.After, 10) != values.Get("after") && values.Has("after"):
			t.Errorf("%q begins after %d", raw, q.After)
		}
	})
}

// A cursor is one of its account.
func TestCursorsOfEntries(t *testing.T) {
	t.Parallel()
	of := EntryQuery{Account: proof.Account{MSISDN: "+250788123456"}}
	cursor := of.Cursor(1, 12)
	if q, err := ParseEntryQuery(http.Header{}, "msisdn=%2B250788123456&cursor="+cursor, &sandboxes.Sandbox{Tenant: 1}); err != nil || q.After != 12 {
		t.Errorf("it continues after %d, %v", q.After, err)
	}
	for _, raw := range []string{"msisdn=%2B250788123457&cursor=" + cursor, "currency=RWF&cursor=" + cursor} {
		if _, err := ParseEntryQuery(http.Header{}, raw, &sandboxes.Sandbox{Tenant: 1}); err == nil {
			t.Errorf("%s is read", raw)
		}
	}
}
