package wire

import (
	"encoding/csv"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/proof"
)

func TestEntriesAsCSV(t *testing.T) {
	t.Parallel()
	page := LedgerEntryList{Account: "float:RWF", Data: []LedgerEntry{
		{
			Number: 7, Time: "2026-05-31T12:00:00Z", Type: "collection", TxID: new("TX_1"), Reference: new(`=HYPERLINK("http://x","y")`),
			OrderRef: new("order 1"), Currency: "RWF", Balance: 1985,
			Postings: []Posting{{"testClient:+250788123456", 1000, 0}, {"float:RWF", 0, 985}, {"commission:RWF", 0, 15}},
		},
		{Number: 8, Time: "2026-05-31T12:00:01Z", Type: "adjustment", Currency: "RWF", Postings: []Posting{{"adjustment:RWF", 15, 0}, {"float:RWF", 0, 15}}, Balance: 2000},
	}}
	want := "account,number,time,type,txId,reference,orderRef,currency,posting,debit,credit,balance\r\n" +
		`float:RWF,7,2026-05-31T12:00:00Z,collection,TX_1,"'=HYPERLINK(""http://x"",""y"")",order 1,RWF,testClient:+250788123456,1000,0,` + "\r\n" +
		`float:RWF,7,2026-05-31T12:00:00Z,collection,TX_1,"'=HYPERLINK(""http://x"",""y"")",order 1,RWF,float:RWF,0,985,1985` + "\r\n" +
		`float:RWF,7,2026-05-31T12:00:00Z,collection,TX_1,"'=HYPERLINK(""http://x"",""y"")",order 1,RWF,commission:RWF,0,15,` + "\r\n" +
		"float:RWF,8,2026-05-31T12:00:01Z,adjustment,,,,RWF,adjustment:RWF,15,0,\r\n" +
		"float:RWF,8,2026-05-31T12:00:01Z,adjustment,,,,RWF,float:RWF,0,15,2000\r\n"
	if diff := cmp.Diff(want, string(append(CSVHeader(), page.CSV()...))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// FuzzEntryAsCSV checks that a reference is one field of its line, is no formula, and can be read back.
func FuzzEntryAsCSV(f *testing.F) {
	for _, seed := range []string{"", "SHOP-PAY-1", "=1+1", "+250788123456", "-1", "@SUM(A1)", "'quoted'", `a "b", c`, "two\nlines", "\ttab", "é"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, reference string) {
		if !utf8.ValidString(reference) || strings.Contains(reference, "\r") {
			return // the reader of encoding/csv takes \r\n for \n
		}
		page := LedgerEntryList{Account: "float:RWF", Data: []LedgerEntry{{Reference: &reference, Postings: []Posting{{Account: "float:RWF"}}}}}
		records, err := csv.NewReader(strings.NewReader(string(page.CSV()))).ReadAll()
		if err != nil || len(records) != 1 || len(records[0]) != len(CSVColumns) {
			t.Fatalf("%q is written as %q, %v", reference, records, err)
		}
		got := records[0][5]
		if got != "" && strings.ContainsAny(got[:1], "=+-@\t\r\n") {
			t.Errorf("%q is written as the formula %q", reference, got)
		}
		if strings.TrimPrefix(got, "'") != reference { // one apostrophe less is the reference
			t.Errorf("%q is written as %q", reference, got)
		}
	})
}

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
		q, err := ParseEntryQuery(http.Header{}, raw, 1)
		values, unreadable := url.ParseQuery(raw)
		if err != nil {
			refused(t, raw, err, "invalid_params")
			return
		}
		if unreadable != nil || values.Has("currency") && values.Has("msisdn") || q.Limit < 1 || q.Limit > MaxEntries || q.After < 0 {
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
	if q, err := ParseEntryQuery(http.Header{}, "msisdn=%2B250788123456&cursor="+cursor, 1); err != nil || q.After != 12 {
		t.Errorf("it continues after %d, %v", q.After, err)
	}
	for _, raw := range []string{"msisdn=%2B250788123457&cursor=" + cursor, "currency=RWF&cursor=" + cursor} {
		if _, err := ParseEntryQuery(http.Header{}, raw, 1); err == nil {
			t.Errorf("%s is read", raw)
		}
	}
}
