package cli

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/payments"
)

// screen is a terminal of a width.
type screen struct {
	bytes.Buffer
	width int
}

func (s *screen) Width() int { return s.width }

// widest is the width of the longest line.
func widest(text string) (most int) {
	for line := range strings.Lines(text) {
		most = max(most, utf8.RuneCountInString(strings.TrimRight(line, "\n")))
	}
	return most
}

const (
	longID   = "01JCC5H2M4Q7ZXW3V8R6T9B0YE"
	longTime = "2026-11-24T12:00:00.123Z"
	longText = "a reference, or another text, that somebody wrote without a thought for the width of a terminal"
)

// printedTable is a table of a command, and what must be in it at every width.
type printedTable struct {
	print func(io.Writer)
	whole []string
}

// printedTables are the tables of the commands with all columns in use.
func printedTables() map[string]printedTable {
	status, code, large := 422, "invalid_body", int64(1_000_000_000_000)
	event := wire.EventSummary{
		ID: "evt_" + longID, CreatedAt: longTime, Event: "disbursement.completed", Status: "INSUFFICIENT_FUNDS", State: eventQueued, AttemptCount: 12,
		LastResponseStatus: &status, NextAttemptAt: new(longTime), LastEffects: []string{"twice: sent 2 times, 10 min apart"},
	}
	prompt := wire.Prompt{ID: "TX_" + longID, CustomerTotal: large, Currency: "RWF", Reference: longText, ExpiresAt: longTime}
	one := payer{TestClient: wire.TestClient{
		MSISDN: alice, Name: longText, Operator: "vodacom", Country: "TZ", State: "Suspended", Behavior: "ApproveWithoutCallback", Balance: large,
		Currency: "RWF", PendingPrompts: 1,
	}, Prompts: []wire.Prompt{prompt}}
	account := wire.LedgerAccount{
		Account: "testClient:" + alice, Currency: "RWF", Opening: large, Collections: -large, Balance: large, Movements: 1234, VerifiedUpTo: 1200,
		Balanced: true,
	}
	request := wire.LoggedRequest{
		ID: "log_" + longID, Time: longTime, Method: "POST", Path: "/v1/test_clients/{...}/prompts/{...}/approve", Status: &status, Error: &code,
		ResponseBody: []byte(`{"message":"` + longText + `"}`),
	}
	payment := wire.Payment{
		ID: "TX_" + longID, CreatedAt: longTime, Type: "disbursement", Status: "INSUFFICIENT_FUNDS", Amount: large, Currency: "RWF", MSISDN: alice,
		Reference: longText, Effects: event.LastEffects, Faults: []string{"twice"},
	}
	entries := wire.LedgerEntryList{Account: "float:RWF", Data: []wire.LedgerEntry{{
		Number: 1234, Time: longTime, Type: "disbursement", TxID: &payment.ID, Currency: "RWF", Balance: large,
		Postings: []wire.Posting{{Account: "float:RWF", Debit: large}, {Account: "testClient:" + alice, Credit: large}},
	}}}
	const amount = "1000000000000"
	accounts := wire.LedgerAccountList{Data: []wire.LedgerAccount{account}, Balanced: true}
	asked := &sandbox{target: &target{}}
	return map[string]printedTable{
		"plain events": {
			func(out io.Writer) {
				printEvents(out, []wire.EventSummary{{ID: event.ID, CreatedAt: longTime, Event: event.Event, Status: event.Status}})
			},
			[]string{event.ID},
		},
		"plain status": {
			(&state{Latest: []wire.Payment{{ID: payment.ID, CreatedAt: longTime, Type: payment.Type, Reference: longText}}}).printLatest,
			[]string{payment.ID},
		},
		"events":   {func(out io.Writer) { printEvents(out, []wire.EventSummary{event}) }, []string{event.ID, "queued"}},
		"clients":  {func(out io.Writer) { printClientTable(out, []wire.TestClient{one.TestClient}) }, []string{alice, amount + " RWF"}},
		"payers":   {func(out io.Writer) { printPayers(out, []payer{one}) }, []string{alice, amount + " RWF", prompt.ID}},
		"ledger":   {func(out io.Writer) { printLedger(out, &accounts) }, []string{account.Account, amount + " RWF"}},
		"entries":  {func(out io.Writer) { printEntries(out, &entries) }, []string{amount + " RWF"}},
		"requests": {func(out io.Writer) { asked.printRequests(out, []wire.LoggedRequest{request}, false) }, []string{request.ID, "422"}},
		"status":   {(&state{Latest: []wire.Payment{payment}}).printLatest, []string{payment.ID, amount + " RWF"}},
	}
}

// No table of a terminal wraps, and no id and no amount is cut. What reads a pipe gets everything, in columns with two spaces between them.
func TestTablesFitTheTerminal(t *testing.T) {
	t.Parallel()
	for name, table := range printedTables() {
		var pipe bytes.Buffer
		table.print(&pipe)
		if strings.Contains(pipe.String(), ellipsis) || strings.Contains(pipe.String(), "wider terminal") {
			t.Errorf("%s: a pipe gets less:\n%s", name, &pipe)
		}
		for _, width := range []int{80, 100, 140, 200, 400} {
			out := screen{width: width}
			table.print(&out)
			if got := widest(out.String()); got > width && name != "requests" || got > width+20 { // its hint is a command
				t.Errorf("%s is %d wide on a terminal of %d:\n%s", name, got, width, out.String())
			}
			for _, whole := range table.whole {
				if !strings.Contains(out.String(), whole) {
					t.Errorf("%s on a terminal of %d: there is no %s in\n%s", name, width, whole, out.String())
				}
			}
			if width == 400 && out.String() != pipe.String() {
				t.Errorf("%s on a wide terminal:\n%s\nin a pipe:\n%s", name, out.String(), &pipe)
			}
		}
	}
}

func TestTable(t *testing.T) {
	t.Parallel()
	rows := func() [][]string { return [][]string{{"id-1", "1, 2, 3, 4, 5, 6, 7", "", "end"}} }
	for width, want := range map[int]string{
		0:  "ID     LIST                  EMPTY   LAST\nid-1   1, 2, 3, 4, 5, 6, 7   -       end\n",
		37: "ID    LIST                 EMPTY  LAST",
		30: "ID    LIST          EMPTY  LAST\nid-1  1, 2, 3, 4,…  -      end\n",
		20: "ID    LIST     LAST\nid-1  1, 2,…   end\n\nA wider terminal sh…\n",
	} {
		out := screen{width: width}
		table := Table{Titles: "ID LIST EMPTY LAST", Rows: rows(), Shorten: "LIST", Drop: "EMPTY"}
		table.Print(&out, width)
		if !strings.HasPrefix(out.String(), want) && widest(out.String()) > width {
			t.Errorf("on %d: got\n%s\nwant\n%s", width, out.String(), want)
		}
	}
	var out bytes.Buffer
	whole := Table{Titles: "CHECK NOTE", Rows: [][]string{{"api", longText}, {"db", "short"}}, Shorten: "NOTE", Whole: "NOTE"}
	whole.Print(&out, 40)
	if !strings.HasSuffix(out.String(), "\n\napi: "+longText+"\n") || strings.Count(out.String(), "short") != 1 {
		t.Errorf("a text that was shortened is not printed as a whole:\n%s", &out)
	}
}

// The columns of lines stand below each other at every width, a line of a terminal does not wrap, and ids and amounts are whole.
func TestLinesStandInColumns(t *testing.T) {
	t.Parallel()
	status, at := 200, time.Now()
	amount := int64(100_000)
	payment := func(kind, status string, amount int64) Line {
		return paymentLine(&wire.Payment{
			Type: kind, ID: "TX_" + longID, Status: status, Amount: amount, Currency: "RWF", Operator: "mtn", Country: "RW", MSISDN: alice,
			Reference: longText,
		})
	}
	e := wire.EventSummary{ID: "evt_" + longID, Event: "disbursement.completed", Status: "SUCCESS", State: eventQueued, AttemptCount: 1}
	lines := []Line{
		payment("collection", "PENDING", 7), payment("disbursement", "INSUFFICIENT_FUNDS", amount), eventLine(&e),
		attemptLine(&e, &wire.DeliveryAttempt{Number: 1, ResponseStatus: &status, Effects: []string{"twice: sent 2 times, 10 min apart"}}),
	}
	for _, width := range []int{0, 80, 100, 200} {
		for _, when := range []time.Time{at, at.AddDate(0, 0, 3)} {
			ids := map[int]bool{} // where they begin
			for i, line := range lines {
				text := line.Layout(when, width, false)
				letters := utf8.RuneCountInString(text)
				if width > 0 && letters > width {
					t.Errorf("%d wide on a terminal of %d: %s", letters, width, text)
				}
				amount := []string{" 7 RWF", " 100000 RWF", "", ""}[i]
				if !strings.Contains(text, longID) || !strings.Contains(text, amount) {
					t.Errorf("on %d an id or an amount is cut: %s", width, text)
				}
				before, _, _ := strings.Cut(text, longID)
				ids[utf8.RuneCountInString(strings.TrimSuffix(strings.TrimSuffix(before, "TX_"), "evt_"))] = true
			}
			if len(ids) != 1 {
				t.Errorf("ids do not stand below each other on %d: %v", width, ids)
			}
		}
	}
	for status, color := range map[payments.Status]string{payments.Success: green, payments.Pending: yellow, payments.PINInvalid: red} {
		e.Status = string(status)
		for _, line := range []Line{payment("collection", e.Status, 7), eventLine(&e)} {
			colored, bare := line.Layout(at, 0, true), line.Layout(at, 0, false)
			if !strings.Contains(colored, color+e.Status+plain) || strings.ReplaceAll(strings.ReplaceAll(colored, color, ""), plain, "") != bare {
				t.Errorf("%q is colored as %q", bare, colored)
			}
		}
	}
}
