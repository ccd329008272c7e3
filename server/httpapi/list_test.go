package httpapi_test

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/payments"
)

// page asks for a page and fails unless it is one.
func (f *fixture) page(query string) response {
	f.t.Helper()
	got := f.call("GET", "/v1/payments?"+query, nil)
	if got.status != 200 {
		f.t.Fatalf("%s answered %d: %s", query, got.status, got.raw)
	}
	return got
}

// each returns one field of every item of a page.
func (r response) each(field string) []string {
	data, _ := r.body["data"].([]any)
	values := []string{}
	for _, item := range data {
		values = append(values, item.(object)[field].(string))
	}
	return values
}

// many adds n transactions like the one with a reference, at one millisecond each.
func (f *fixture) many(reference string, n int) {
	f.t.Helper()
	f.exec(`insert into transactions
		select (jsonb_populate_record(t, jsonb_build_object('id', gen_random_uuid(), 'reference', t.reference || '-' || i))).*
		from transactions t join organizations o using (tenant), generate_series(1, $2::int) i
		where o.name = 'checkout' and t.reference = $1`, reference, n)
}

// mixed makes transactions of every type in both sandboxes, a second apart.
func mixed(t *testing.T) *fixture {
	f := newFixture(t)
	f.config.Stores = []string{"shop", "kiosk"}
	f.config.OpeningFloat = map[payments.Currency]int64{payments.RWF: 10_000, payments.XOF: 1000}
	f.sandbox(f.config, key)
	f.client("alice", alice, 50_000)
	for _, k := range []string{key, otherKey} {
		made := f.call("POST", "/v1/payments", payment("a", object{"scenario": "success", "order_ref": "o 1/é"}), withKey(k))
		f.refund(made.body["id"].(string), object{"amount": 1, "reference": "b"}, withKey(k))
		f.call("POST", "/v1/payments", payment("c", object{"msisdn": "+2250700000001", "currency": "CFA"}), withKey(k))
		f.call("POST", "/v1/payments", payment("d", object{"scenario": "pin_invalid", "application": "kiosk"}), withKey(k))
		f.disburse(disbursement("e", object{"order_ref": "o 1/é"}), withKey(k))
		f.disburse(disbursement("f", object{"msisdn": "+2250700000002", "operator": "orange", "country": "CI", "currency": "XOF"}), withKey(k))
	}
	// Within a second the clock goes on below the milliseconds that callers see.
	f.exec(`update transactions set created_at = '2026-05-31T12:00:00.123456Z'::timestamptz + make_interval(secs => ascii(reference) - 97)`)
	return f
}

func TestListFilters(t *testing.T) {
	f := mixed(t)
	for query, want := range map[string]string{
		"":                               "fedcba",
		"country=RW":                     "edba",
		"country=CI":                     "fc",
		"country=TG":                     "",
		"operator=mtn":                   "edba",
		"operator=orange":                "fc",
		"operator=moov":                  "",
		"status=SUCCESS":                 "feba",
		"status=PENDING":                 "c",
		"status=PIN_INVALID":             "d",
		"status=TIMEOUT":                 "",
		"type=collection":                "dca",
		"type=refund":                    "b",
		"type=disbursement":              "fe",
		"order_ref=o+1%2F%C3%A9":         "eba",
		"order=o%201/%c3%a9":             "eba",
		"order=c":                        "c",
		"order=c&order_ref=c":            "c",
		"order=nothing":                  "",
		"application=kiosk":              "d",
		"application=none":               "",
		"reference=b":                    "b",
		"reference=z":                    "",
		"msisdn=%2B2250700000001":        "c",
		"msisdn=%2B250788000001":         "edba",
		"status=SUCCESS&type=collection": "a",
		"country=RW&operator=mtn&status=SUCCESS&type=refund&order=o+1%2F%C3%A9&application=shop&reference=b&msisdn=%2B250788000001": "b",
		"country=RW&operator=orange":                "",
		"unknown=1&=&&page=0&sort=amounts":          "fedcba",
		"limit=3":                                   "fed",
		"limit=100":                                 "fedcba",
		"limit=1&type=collection":                   "d",
		"limit=2&order=o+1%2F%C3%A9":                "eb",
		"created_after=2026-05-31T12:00:03Z":        "fed",
		"created_before=2026-05-31T12:00:03Z":       "cba",
		"created_after=2026-05-31T14:00:03%2B02:00": "fed",
		"created_after=2026-05-31T12:00:01Z&created_before=2026-05-31T12:00:04Z": "dcb",
		"created_after=2026-05-31T12:00:04Z&created_before=2026-05-31T12:00:01Z": "",
		"created_after=2026-05-31T12:00:03.122Z":                                 "fed",
		"created_after=2026-05-31T12:00:03.123Z":                                 "fed", // included, at the precision of createdAt
		"created_after=2026-05-31T12:00:03.124Z":                                 "fe",
		"created_after=2026-05-31T12:00:03.1229999Z":                             "fed",
		"created_after=2026-05-31T12:00:03.1230001Z":                             "fed",
		"created_after=2026-05-31T12:00:03.1239999Z":                             "fed", // as a clock shows it
		"created_before=2026-05-31T12:00:03.123Z":                                "cba",
		"created_before=2026-05-31T12:00:03.1239999Z":                            "cba",
		"created_before=2026-05-31T12:00:03.124Z":                                "dcba",
		"created_before=2026-05-31T12:00:03.122Z":                                "cba",
		"created_after=0000-01-01T00:00:00Z&created_before=9999-12-31T23:59:59Z": "fedcba",
		"created_after=0001-01-01T00:00:00Z":                                     "fedcba",
		"created_before=0001-01-01T00:00:00Z":                                    "",
		"created_before=0000-01-01T00:00:00Z":                                    "",
		"created_after=9999-12-31T23:59:59.999999999Z":                           "",
		"type=disbursement&created_before=2026-05-31T12:00:05Z&status=SUCCESS":   "e",
	} {
		t.Run(query, func(t *testing.T) {
			got := f.page(query)
			if diff := cmp.Diff(want, strings.Join(got.each("reference"), "")); diff != "" {
				t.Errorf("references (-want +got):\n%s", diff)
			}
			if !strings.HasPrefix(got.raw, `{"data":[`) || (got.body["nextCursor"] != nil) != got.body["hasMore"].(bool) {
				t.Errorf("answered %s", got.raw)
			}
		})
	}
}

func TestListedItemsAreWhatIsRead(t *testing.T) {
	f := mixed(t)
	data := f.page("").body["data"].([]any)
	for _, item := range data {
		id := item.(object)["id"].(string)
		if diff := cmp.Diff(f.call("GET", "/v1/payments/"+id, nil).body, item.(object)); diff != "" {
			t.Errorf("%s (-read +listed):\n%s", id, diff)
		}
	}
	if len(data) != 6 {
		t.Errorf("%d are listed", len(data))
	}
}

func TestEachSeesItsOwnTransactionsOnly(t *testing.T) {
	f := mixed(t)
	seen := map[string]bool{}
	for _, k := range []string{key, otherKey} {
		for _, id := range f.call("GET", "/v1/payments", nil, withKey(k)).each("id") {
			if seen[id] {
				t.Errorf("%s is seen by both", id)
			}
			seen[id] = true
		}
	}
	if len(seen) != 6+5 { // the other one has no store kiosk
		t.Errorf("%d are seen by either", len(seen))
	}
}

func TestBadListParameters(t *testing.T) {
	f := newFixture(t)
	f.paid("p1")
	f.paid("p2")
	cursor := f.page("limit=1").body["nextCursor"].(string)
	long := strings.Repeat("%C3%A9", 121)
	for query, wrong := range map[string]string{ // the parameters that are wrong
		"limit=0": "limit", "limit=101": "limit", "limit=-1": "limit", "limit=abc": "limit", "limit=+5": "limit", "limit=%2B5": "limit",
		"limit=05": "limit", "limit=": "limit", "limit": "limit", "limit=5.0": "limit", "limit=1e1": "limit", "limit=0x5": "limit",
		"limit=99999999999999999999": "limit", "limit=5&limit=5": "limit", "limit=5%00": "limit", "limit=%205": "limit", "limit=%D9%A5": "limit",
		"limit=5;": "limit", "limit=%zz": "limit", "limit=5&status=%": "status", "%zz=1": "query",
		"status=success": "status", "status=DONE": "status", "status=": "status", "status=SUCCESS,PENDING": "status", "status=SUCCESS&status=PENDING": "status",
		"status=SUCCESS%00": "status", "operator=MTN": "operator", "operator=vodafone": "operator", "operator=": "operator", "country=rw": "country",
		"country=FR": "country", "country=": "country", "country=RWA": "country", "type=payment": "type", "type=": "type", "type=Refund": "type",
		"order_ref=": "order_ref", "order=": "order", "order_ref=" + long: "order_ref", "order=" + long: "order", "order_ref=a%00": "order_ref",
		"order_ref=%FF": "order_ref", "order=a&order_ref=b": "order", "order=a&order=a": "order", "application=": "application",
		"application=" + long: "application", "application=a%00b": "application", "reference=": "reference", "reference=" + long: "reference",
		"reference=%00": "reference", "reference=%C3": "reference", "msisdn=": "msisdn", "msisdn=250788000001": "msisdn",
		"msisdn=+250788000001": "msisdn", "msisdn=%2B0250788000001": "msisdn", "msisdn=%2B250788000001%0A": "msisdn",
		"created_after=": "created_after", "created_after=yesterday": "created_after", "created_after=2026-05-31": "created_after",
		"created_after=2026-05-31T12:00:00": "created_after", "created_after=2026-02-30T12:00:00Z": "created_after",
		"created_after=2026-05-31T12:00:00+02:00": "created_after", "created_after=2026-05-31T1:00:00Z": "created_after",
		"created_after=2026-05-31T12:00:00,5Z": "created_after", "created_after=2026-05-31T12:00:00%2B24:00": "created_after",
		"created_after=1780228800": "created_after", "created_after=2026-05-31T24:00:00Z": "created_after",
		"created_after=12026-05-31T12:00:00Z": "created_after", "created_after=2026-05-31T12:00:00Z%00": "created_after",
		"created_before=": "created_before", "created_before=2026-05-31%2012:00:00Z": "created_before", "created_before=-1-05-31T12:00:00Z": "created_before",
		"created_before=2026-05-31T12:00:00Z&created_before=2026-05-31T12:00:00Z": "created_before",
		"cursor=": "cursor", "cursor=x": "cursor", "cursor=" + cursor + "=": "cursor", "cursor=" + cursor + "%0A": "cursor", "cursor=%0D" + cursor: "cursor",
		"cursor=" + cursor[:31]: "cursor", "cursor=" + cursor + "A": "cursor", "cursor=" + cursor + cursor: "cursor", "cursor=null": "cursor",
		"cursor=" + cursor + "&cursor=" + cursor: "cursor", "cursor=" + strings.ToLower(cursor): "cursor", "cursor=%20" + cursor: "cursor",
		"cursor=TX_00000000000000000000000000": "cursor", "cursor=" + strings.Repeat("A", 32): "cursor",
		"limit=0&status=x&type=y&operator=z&country=&msisdn=1&created_after=a&cursor=c&reference=": "country created_after cursor limit msisdn operator reference status type",
	} {
		t.Run(query, func(t *testing.T) {
			got := f.call("GET", "/v1/payments?"+query, nil)
			got.is(t, 400, "invalid_params")
			if diff := cmp.Diff(wrong, strings.Join(got.wrongFields(), " ")); diff != "" {
				t.Errorf("wrong parameters (-want +got):\n%s", diff)
			}
			if got.body["message"] == "" {
				t.Error("there is no message")
			}
		})
	}
}

func TestCursorsThatWereChanged(t *testing.T) {
	f := newFixture(t)
	for i := range 3 {
		f.paid(fmt.Sprint("payment-", i))
		f.call("POST", "/v1/payments", payment(fmt.Sprint("p", i), object{"scenario": "success"}), withKey(otherKey))
	}
	cursor := f.page("limit=1").body["nextCursor"].(string)
	if got := f.page("cursor=" + cursor).each("reference"); !slices.Equal(got, []string{"payment-1", "payment-0"}) {
		t.Fatalf("after the cursor come %v", got)
	}
	for i := range cursor {
		for _, c := range "Aa0_-" {
			if byte(c) == cursor[i] {
				continue
			}
			changed := cursor[:i] + string(c) + cursor[i+1:]
			f.call("GET", "/v1/payments?cursor="+changed, nil).is(t, 400, "invalid_params")
		}
	}
	f.call("GET", "/v1/payments?cursor="+cursor, nil, withKey(otherKey)).is(t, 400, "invalid_params")
	raw, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil || strings.Contains(string(raw), "payment") {
		t.Errorf("the cursor holds %q, %v", raw, err)
	}
}

func TestListWalkIsCompleteAndStable(t *testing.T) {
	f := newFixture(t)
	for i := range 23 {
		f.paid(fmt.Sprint("p", i))
	}
	var want []string
	for i := 22; i >= 0; i-- {
		want = append(want, fmt.Sprint("p", i))
	}
	for _, limit := range []int{1, 5, 7, 22, 23, 24} {
		var got []string
		query, pages := url.Values{"limit": {fmt.Sprint(limit)}, "status": {"SUCCESS"}, "created_before": {"2999-01-01T00:00:00Z"}}, 0
		for more := true; more; {
			page := f.page(query.Encode())
			references := page.each("reference")
			if pages++; pages == 1 { // what is new since the last walk comes first, and is not part of this one
				references = slices.DeleteFunc(references, func(r string) bool { return strings.HasPrefix(r, "new") })
			}
			if got = append(got, references...); pages > 100 {
				t.Fatal("the walk does not end")
			}
			f.paid(fmt.Sprint("new ", limit, " ", pages))
			f.exec("update transactions set refunded = amount where reference = 'p11'") // nor does a change move anything
			if more = page.body["hasMore"].(bool); more {
				query.Set("cursor", page.body["nextCursor"].(string))
			}
		}
		got = slices.DeleteFunc(got, func(r string) bool { return strings.HasPrefix(r, "new") })
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("in pages of %d (-want +got):\n%s", limit, diff)
		}
		f.exec("delete from transactions where reference like 'new%'")
	}
}

func TestPageSizes(t *testing.T) {
	f := newFixture(t)
	if got := f.page(""); got.raw != `{"data":[],"nextCursor":null,"hasMore":false,"previousCursor":null}`+"\n" {
		t.Errorf("an empty list is %s", got.raw)
	}
	f.paid("p")
	have := 1
	for _, c := range []struct {
		rows  int
		query string
		first int
		more  bool
	}{
		{1, "limit=1", 1, false}, {2, "limit=1", 1, true}, {2, "limit=2", 2, false}, {19, "", 19, false}, {20, "", 20, false},
		{21, "", 20, true}, {99, "limit=100", 99, false}, {100, "limit=100", 100, false}, {101, "limit=100", 100, true}, {101, "limit=99", 99, true},
	} {
		if c.rows > have {
			f.exec("delete from transactions where reference <> 'p'")
			f.many("p", c.rows-1)
			have = c.rows
		}
		got := f.page(c.query)
		if n := len(got.each("id")); n != c.first || got.body["hasMore"] != c.more || (got.body["nextCursor"] != nil) != c.more {
			t.Errorf("of %d, %q gives %d, %v, %v", c.rows, c.query, n, got.body["hasMore"], got.body["nextCursor"])
		}
		if c.more {
			rest := f.page(c.query + "&cursor=" + got.body["nextCursor"].(string))
			if n := len(rest.each("id")); n != c.rows-c.first || rest.body["hasMore"] != false {
				t.Errorf("of %d, %q gives then %d, %v", c.rows, c.query, n, rest.body["hasMore"])
			}
		}
	}
}

// A list that is read to its end and back again has the same pages, whatever is added meanwhile.
func TestListsLeadBack(t *testing.T) {
	f := newFixture(t)
	f.client("alice", alice, 50_000)
	for i := range 23 {
		f.call("POST", "/v1/payments", payment(fmt.Sprint("p", i), object{"scenario": []string{"success", "timeout"}[i%2]}))
		f.call("POST", "/v1/payments", object{"reference": fmt.Sprint("refused", i)})
	}
	f.logged()
	added := 0
	for _, list := range []string{
		"/v1/payments?", "/v1/payments?status=SUCCESS", "/v1/payments?type=collection&operator=mtn", "/v1/payments?msisdn=%2B250788000001",
		"/v1/payments?created_after=2000-01-01T00:00:00Z", "/v1/payments?status=PENDING",
		"/v1/events?", "/v1/events?event=payment.completed", "/v1/events?state=recorded", "/v1/events?state=failed",
		"/v1/requests?", "/v1/requests?error=invalid_body", "/v1/requests?error=none",
		"/v1/ledger/entries?currency=RWF", "/v1/ledger/entries?after=4", "/v1/ledger/entries?msisdn=%2B250788000001",
	} {
		for _, limit := range []int{2, 7, 50} {
			page := func(place string) (rows []any, next, previous any) {
				got := f.call("GET", fmt.Sprintf("%s&limit=%d%s", list, limit, place), nil)
				if got.status != 200 || got.body["hasMore"] != (got.body["nextCursor"] != nil) {
					t.Fatalf("%s%s answered %d: %s", list, place, got.status, got.raw)
				}
				if added++; added%5 == 0 {
					f.call("POST", "/v1/payments", payment(fmt.Sprint("new", added), object{"scenario": "success"}))
					f.call("POST", "/v1/payments", object{"reference": fmt.Sprint("new", added)})
					f.logged()
				}
				return got.body["data"].([]any), got.body["nextCursor"], got.body["previousCursor"]
			}
			var there [][]any
			rows, next, previous := page("")
			if after := strings.Contains(list, "after=4"); previous != nil != after {
				t.Errorf("%s: the first page has the previousCursor %v", list, previous)
			}
			there = append(there, rows)
			for next != nil && len(there) < 8 {
				rows, next, previous = page(fmt.Sprint("&cursor=", next))
				there = append(there, rows)
			}
			for i := len(there) - 2; i >= 0; i-- {
				rows, next, previous = page(fmt.Sprint("&before=", previous))
				if diff := cmp.Diff(there[i], rows); diff != "" || next == nil {
					t.Fatalf("%s in pages of %d, page %d has the nextCursor %v (-there +back):\n%s", list, limit, i, next, diff)
				}
			}
			if len(there) > 2 { // the last page of the ledger grows
				if rows, _, _ = page(fmt.Sprint("&cursor=", next)); cmp.Diff(there[1], rows) != "" {
					t.Errorf("%s in pages of %d: from there the list does not go on: %s", list, limit, cmp.Diff(there[1], rows))
				}
			}
		}
	}
}

func TestPlacesThatAreNone(t *testing.T) {
	f := newFixture(t)
	for i := range 3 {
		f.paid(fmt.Sprint("p", i))
	}
	first := f.page("limit=1")
	next := first.body["nextCursor"].(string)
	previous := f.page("limit=1&cursor=" + next).body["previousCursor"].(string)
	if got := f.page("before=" + previous); !slices.Equal(got.each("reference"), []string{"p2"}) || got.body["previousCursor"] != nil {
		t.Errorf("before the second transaction is %s", got.raw)
	}
	for _, query := range []string{"before=" + next, "cursor=" + previous, "before=" + previous + "&cursor=" + next, "before=", "before=x"} {
		f.call("GET", "/v1/payments?"+query, nil).is(t, 400, "invalid_params")
	}
	for _, list := range []string{"/v1/events", "/v1/requests", "/v1/ledger/entries"} {
		f.call("GET", list+"?before="+previous, nil).is(t, 400, "invalid_params")
	}
	f.call("GET", "/v1/payments?before="+previous, nil, withKey(otherKey)).is(t, 400, "invalid_params")
}

// A callback is an event that is always delivered somewhere, so none is only recorded.
func TestNoCallbackIsOnlyRecorded(t *testing.T) {
	f := newFixture(t)
	if got := f.call("GET", "/v1/events?event=operator.callback&state=recorded", nil); got.status != 200 || len(got.body["data"].([]any)) != 0 {
		t.Errorf("answered %d: %s", got.status, got.raw)
	}
}
