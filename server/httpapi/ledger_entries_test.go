package httpapi_test

import (
	"encoding/csv"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// moved makes a few movements of the float, among them a collection with a reference that would be a formula.
func (f *fixture) moved() {
	f.t.Helper()
	f.client("alice", alice, 50_000)
	for _, reference := range []string{"=1+1", `say "a", b`, "plain"} {
		if made := f.call("POST", "/v1/payments", payment(reference, object{"scenario": "success"})); made.status != http.StatusCreated {
			f.t.Fatalf("%s: %s", reference, made.raw)
		}
	}
}

func TestEntriesOfTheAPI(t *testing.T) {
	f := newFixture(t)
	f.moved()
	entries := func(query string) response { return f.call("GET", "/v1/ledger/entries?"+query, nil) }
	var numbers []float64
	for cursor := ""; ; {
		page := entries("limit=3" + cursor)
		for _, e := range page.body["data"].([]any) {
			numbers = append(numbers, e.(object)["number"].(float64))
		}
		next, more := page.body["nextCursor"].(string)
		if !more {
			break
		}
		cursor = "&cursor=" + next
		if len(numbers) == 3 { // what is new comes behind the last page
			f.call("POST", "/v1/payments", payment("new", object{"scenario": "success"}))
		}
	}
	if diff := cmp.Diff([]float64{1, 2, 3, 4, 5}, numbers); diff != "" {
		t.Errorf("the pages (-want +got):\n%s", diff)
	}
	of := func(query string) string {
		got := entries(query)
		if got.status != http.StatusOK {
			return got.raw
		}
		e := got.body["data"].([]any)[0].(object)
		return strings.Join([]string{got.body["account"].(string), e["type"].(string)}, " ")
	}
	for query, want := range map[string]string{
		"": "float:RWF opening", "currency=XOF": "float:XOF opening", "currency=RWF&after=1": "float:RWF collection",
		"msisdn=" + url.QueryEscape(alice): "testClient:" + alice + " opening",
	} {
		if got := of(query); got != want {
			t.Errorf("%q: %s, want %s", query, got, want)
		}
	}
	for query, want := range map[string]int{
		"currency=USD": http.StatusBadRequest, "currency=RWF&msisdn=" + url.QueryEscape(alice): http.StatusBadRequest, "msisdn=" + alice: http.StatusBadRequest,
		"limit=1001": http.StatusBadRequest, "after=-1": http.StatusBadRequest, "cursor=x": http.StatusBadRequest,
		"msisdn=%2B250788999999": http.StatusNotFound,
	} {
		if got := entries(query); got.status != want || got.body["message"] == "" {
			t.Errorf("%s answered %d %s", query, got.status, got.raw)
		}
	}
}

// A table has the same as the JSON, and its pages are linked.
func TestEntriesAsTable(t *testing.T) {
	f := newFixture(t)
	f.moved()
	asTable := func(r *http.Request) { r.Header.Set("Accept", "text/csv") }
	path, pages := "/sandboxes/team/checkout/api/v1/ledger/entries?currency=RWF&limit=3", 0
	var rows [][]string
	for path != "" {
		page := f.call("GET", path, nil, asTable)
		if page.status != http.StatusOK || page.header.Get("Content-Type") != "text/csv; charset=utf-8; header=present" || page.header.Get("Vary") != "Accept" {
			t.Fatalf("answered %d %v", page.status, page.header)
		}
		pages++
		read, err := csv.NewReader(strings.NewReader(page.raw)).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		if len(read) == 0 || read[0][0] != "account" {
			t.Fatalf("a page without its header: %q", page.raw)
		}
		rows = append(rows, read[1:]...)
		path, _, _ = strings.Cut(strings.TrimPrefix(page.header.Get("Link"), "<"), ">")
	}
	var told []string
	for _, row := range rows {
		told = append(told, strings.Join([]string{row[1], row[3], row[5], row[8], row[9], row[10], row[11]}, " "))
	}
	if diff := cmp.Diff([]string{
		"1 opening  opening:RWF 1000 0 ", "1 opening  float:RWF 0 1000 1000",
		"2 collection '=1+1 testClient:" + alice + " 1000 0 ", "2 collection '=1+1 float:RWF 0 985 1985", "2 collection '=1+1 commission:RWF 0 15 ",
		`3 collection say "a", b testClient:` + alice + " 1000 0 ", `3 collection say "a", b float:RWF 0 985 2970`,
		`3 collection say "a", b commission:RWF 0 15 `,
		"4 collection plain testClient:" + alice + " 1000 0 ", "4 collection plain float:RWF 0 985 3955", "4 collection plain commission:RWF 0 15 ",
	}, told); diff != "" || pages != 2 {
		t.Errorf("%d pages (-want +got):\n%s", pages, diff)
	}
}
