package httpapi_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/ledgertest"
)

func TestLedgerOfTheAPI(t *testing.T) {
	f := newFixture(t)
	f.moved()
	got := f.call("GET", "/v1/ledger?limit=1", nil)
	float := got.body["data"].([]any)[0].(object)
	if got.body["balanced"] != true || float["account"] != "float:RWF" || float["collections"] != 2955.0 || float["balance"] != 3955.0 {
		t.Errorf("the first page is %s", got.raw)
	}
	var names []string
	for cursor := ""; ; {
		page := f.call("GET", "/v1/ledger?limit=1"+cursor, nil)
		names = append(names, page.body["data"].([]any)[0].(object)["account"].(string))
		next, more := page.body["nextCursor"].(string)
		if !more {
			break
		}
		cursor = "&cursor=" + next
	}
	if diff := cmp.Diff([]string{"float:RWF", "float:XOF", "testClient:" + alice}, names); diff != "" {
		t.Errorf("the accounts (-want +got):\n%s", diff)
	}
	if float["verifiedAt"] != nil {
		t.Errorf("no worker runs, and the float was verified at %v", float["verifiedAt"])
	}
	ledgertest.Verifies(t, f.db)
	verified := f.call("GET", "/v1/ledger?limit=1&verify=full", nil)
	if float = verified.body["data"].([]any)[0].(object); float["verifiedUpTo"] != 4.0 || float["verifiedAt"] == nil {
		t.Errorf("verified at once: %s", verified.raw)
	}
	f.exec("update floats set balance = balance + 7 where currency = 'RWF'")
	verified = f.call("GET", "/v1/ledger?limit=1&verify=full", nil)
	float = verified.body["data"].([]any)[0].(object)
	if diff := cmp.Diff(object{"difference": 7.0, "after": 4.0, "before": nil}, float["imbalance"]); diff != "" ||
		verified.body["balanced"] != false || float["balanced"] != false {
		t.Errorf("a changed balance: %s", verified.raw)
	}
	for query, field := range map[string]string{"verify=now": "verify", "limit=0": "limit", "cursor=x": "cursor"} {
		refused := f.call("GET", "/v1/ledger?"+query, nil)
		if refused.status != http.StatusBadRequest || !strings.Contains(refused.raw, field) {
			t.Errorf("%s answered %d %s", query, refused.status, refused.raw)
		}
	}
}
