package ledgercsv_test

import (
	"bytes"
	"encoding/csv"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/ledgercsv"
)

func TestEntriesAsCSV(t *testing.T) {
	t.Parallel()
	entries := []ledgercsv.Entry{
		{
			Number: 7, Time: "2026-05-31T12:00:00Z", Type: "collection", TxID: "TX_1", Reference: `=HYPERLINK("http://x","y")`,
			OrderRef: "order 1", Currency: "RWF", Balance: 1985,
			Postings: []ledgercsv.Posting{{"testClient:+250788123456", 1000, 0}, {"float:RWF", 0, 985}, {"commission:RWF", 0, 15}},
		},
		{Number: 8, Time: "2026-05-31T12:00:01Z", Type: "adjustment", Currency: "RWF", Postings: []ledgercsv.Posting{{"adjustment:RWF", 15, 0}, {"float:RWF", 0, 15}}, Balance: 2000},
	}
	want := "account,number,time,type,txId,reference,orderRef,currency,posting,debit,credit,balance\r\n" +
		`float:RWF,7,2026-05-31T12:00:00Z,collection,TX_1,"'=HYPERLINK(""http://x"",""y"")",order 1,RWF,testClient:+250788123456,1000,0,` + "\r\n" +
		`float:RWF,7,2026-05-31T12:00:00Z,collection,TX_1,"'=HYPERLINK(""http://x"",""y"")",order 1,RWF,float:RWF,0,985,1985` + "\r\n" +
		`float:RWF,7,2026-05-31T12:00:00Z,collection,TX_1,"'=HYPERLINK(""http://x"",""y"")",order 1,RWF,commission:RWF,0,15,` + "\r\n" +
		"float:RWF,8,2026-05-31T12:00:01Z,adjustment,,,,RWF,adjustment:RWF,15,0,\r\n" +
		"float:RWF,8,2026-05-31T12:00:01Z,adjustment,,,,RWF,float:RWF,0,15,2000\r\n"
	lines := ledgercsv.AppendHeader(nil)
	for i := range entries {
		lines = ledgercsv.AppendEntry(lines, "float:RWF", &entries[i])
	}
	if diff := cmp.Diff(want, string(lines)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// cellsOf has the cells of a line in a spreadsheet that separates by another character and at line breaks: there a quotation
// mark within a cell means nothing.
func cellsOf(line []byte, separator string) []string {
	return strings.FieldsFunc(string(line), func(r rune) bool { return strings.ContainsRune(separator+"\r\n", r) })
}

// restored is a text as a program reads it back: one apostrophe less at each place where a cell may begin.
var restored = regexp.MustCompile(`(^|[;\t\r\n])'`)

// FuzzEntryAsCSV checks that a reference is one field of its line, is no formula whichever separator a spreadsheet takes, and can
// be read back.
func FuzzEntryAsCSV(f *testing.F) {
	for _, seed := range []string{"", "SHOP-PAY-1", "=1+1", "+250788123456", "-1", "@SUM(A1)", "'quoted'", `a "b", c`, "two\nlines", "\ttab", "é",
		"a;=1+1", "a\t@SUM(A1)", "a;'b", `";=1+1`, "a;;-1", "a\n+1", "x;\t=1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, reference string) {
		if !utf8.ValidString(reference) || strings.Contains(reference, "\r") {
			return // the reader of encoding/csv takes \r\n for \n
		}
		entry := ledgercsv.Entry{Reference: reference, Postings: []ledgercsv.Posting{{Account: "float:RWF"}}}
		line := ledgercsv.AppendEntry(nil, "float:RWF", &entry)
		for _, separator := range []string{";", "\t", ";\t"} {
			for _, cell := range cellsOf(line, separator) {
				if strings.ContainsAny(cell[:1], "=+-@") {
					t.Errorf("%q: separated by %q, it has the formula %q", reference, separator, cell)
				}
			}
		}
		records, err := csv.NewReader(bytes.NewReader(line)).ReadAll()
		if err != nil || len(records) != 1 || len(records[0]) != len(ledgercsv.Columns) {
			t.Fatalf("%q is written as %q, %v", reference, records, err)
		}
		got := records[0][5]
		if got != "" && strings.ContainsAny(got[:1], "=+-@\t\r\n") {
			t.Errorf("%q is written as the formula %q", reference, got)
		}
		if restored.ReplaceAllString(got, "$1") != reference {
			t.Errorf("%q is written as %q", reference, got)
		}
	})
}
