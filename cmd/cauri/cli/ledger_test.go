package cli

import (
	"encoding/csv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/server/payments"
)

func TestLedger(t *testing.T) {
	f := newFixture(t)
	for range 3 {
		f.run("pay", "--scenario=success", "--amount=300").want(t, ExitSuccess)
	}
	f.run("ledger").want(t, ExitSuccess, "float:RWF", "1000", "+885", "1885 RWF", "testClient:"+alice, "-900", "49100 RWF", "balanced, ")
	f.run("ledger", "-o", "name").want(t, ExitSuccess, "float:RWF\ntestClient:"+alice+"\ntestClient:"+manual+"\n")
	one := decoded[wire.LedgerAccountList](t, f.run("ledger", "--msisdn="+alice, "-o", "json"))
	if !one.Balanced || len(one.Data) != 1 || one.Data[0].Balance != 49_100 || one.Data[0].Movements != 4 {
		t.Errorf("the test client is %+v", one)
	}
	f.run("ledger", "--msisdn=+250788999999").want(t, ExitRefused, "no account of +250788999999", "it has float:RWF, testClient:"+alice)
	f.run("ledger", "--currency=XOF").want(t, ExitRefused, "no account of XOF")
	for arguments, want := range map[string]string{
		"--currency=USD": "write one of " + payments.List(payments.Currencies), "--currency=RWF --msisdn=+250788000001": "write one of them", "-o csv": "write --entries too",
		"--after=3": "write --entries too", "--entries -o yaml": "write json or csv", "--entries --last=-1": "from 0 on",
	} {
		f.run(append([]string{"ledger"}, strings.Fields(arguments)...)...).want(t, ExitUsage, want)
	}

	f.run("ledger", "--entries", "--currency=RWF", "--last=1").want(t, ExitSuccess, "float:RWF\nNUMBER", "4        ", "commission:RWF", "1885 RWF")
	if shown := f.run("ledger", "--entries", "--currency=RWF", "--last=1"); strings.Contains(shown.out, "opening") {
		t.Errorf("the last entry is shown with others:\n%s", shown.out)
	}
	records, err := csv.NewReader(strings.NewReader(f.run("ledger", "--entries", "-o", "csv").out)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	lines := map[string]int{} // of each account: 2 for the opening, 3 for each collection
	for _, record := range records {
		lines[record[0]]++
	}
	if diff := cmp.Diff(map[string]int{"account": 1, "float:RWF": 11, "testClient:" + alice: 11, "testClient:" + manual: 2}, lines); diff != "" {
		t.Errorf("the export has lines (-want +got):\n%s", diff)
	}
	all := entries[exported](t, f.run("ledger", "--entries", "-o", "json"))
	if len(all) != 9 || all[0].Account != "float:RWF" || all[8].Account != "testClient:"+manual {
		t.Errorf("the export has %+v", all)
	}
	if late := entries[exported](t, f.run("ledger", "--entries", "--currency=RWF", "--after=3", "-o", "json")); len(late) != 1 || late[0].Number != 4 {
		t.Errorf("after 3 there are %+v", late)
	}
	if none := f.run("ledger", "--entries", "--currency=RWF", "--after=4", "-o", "json"); none.out != "{\"data\": [], \"nextCursor\": null, \"hasMore\": false}\n" {
		t.Errorf("after the last there is %q", none.out)
	}
}

// Pages of the entries are read to their end, and no further than the caller wants.
func TestEntriesArePaged(t *testing.T) {
	f := newFixture(t)
	for range 3 {
		f.run("pay", "--scenario=success").want(t, ExitSuccess)
	}
	accounts, err := f.api.Ledger(t.Context(), 2)
	if err != nil || len(accounts.Data) != 2 || !accounts.HasMore {
		t.Fatalf("%+v, %v", accounts, err)
	}
	for most, want := range map[int]int{2: 2, 100: 4} {
		read := 0
		err := f.api.LedgerEntries(t.Context(), &accounts.Data[0], 0, 1, func(page *wire.LedgerEntryList) (bool, error) {
			read += len(page.Data)
			return read < most, nil
		})
		if err != nil || read != want {
			t.Errorf("up to %d: %d, %v", most, read, err)
		}
	}
}

func TestCheckingTheLedger(t *testing.T) {
	f := newFixture(t)
	ledgertest.Verifies(t, f.db)
	f.run("pay", "--scenario=success", "--amount=300").want(t, ExitSuccess)
	f.run("pay", "--scenario=success", "--amount=500").want(t, ExitSuccess)
	f.run("status").want(t, ExitSuccess, "Float    1787 RWF", "Ledger   balanced, 3 accounts, ")
	f.run("check", "--ledger").want(t, ExitSuccess, "verified from the first movement on", "ledger of float:RWF", "3 entries, balance 1787 RWF",
		"ledger of testClient:"+alice)
	made, err := f.api.Payments(t.Context(), nil, 10)
	if err != nil || len(made) != 2 {
		t.Fatalf("the check made a payment: %v, %v", made, err)
	}

	// The first collection is removed, and the balance changed by hand.
	db := ledgertest.Connect(t, f.db)
	for _, change := range []string{"delete from transactions where amount = 300", "update floats set balance = balance + 50"} {
		if _, err := db.Exec(t.Context(), change); err != nil {
			t.Fatal(err)
		}
	}
	f.run("check", "--ledger").want(t, ExitNegative, "FAILED",
		"the entry 2 is missing between the numbers 1 and 3: the balance goes from 1000 to 1295, by 295",
		"the balance is 1837 and not 1787, as after the number 3: it differs by 50")
	f.run("status").want(t, ExitSuccess, "Ledger   NOT BALANCED", "A balance does not follow from its movements", "check --ledger")
	f.run("ledger").want(t, ExitSuccess, "NOT BALANCED", "verifies all of it")
}
