package httpapi_test

import (
	"encoding/json"
	"net/http"
	"os"
	"testing"

	"github.com/cauri-dev/cauri/server/ledgertest"
)

// TestStoredHashes holds what the database has against the golden hashes, in each form of the path.
func TestStoredHashes(t *testing.T) {
	f := newFixture(t)
	text, err := os.ReadFile("testdata/request_hashes.json")
	if err != nil {
		t.Fatal(err)
	}
	var golden map[string]struct{ Hash string }
	if err := json.Unmarshal(text, &golden); err != nil {
		t.Fatal(err)
	}
	sql := ledgertest.Connect(t, f.db)
	for path, body := range map[string]string{
		"/v1/payments":      `{"amount":1000,"currency":"RWF","msisdn":"+250788000001","reference":"r1","application":"shop"}`,
		"/v1/disbursements": `{"amount":1000,"application":"shop","country":"RW","currency":"RWF","msisdn":"+250788000001","operator":"mtn","reference":"<a> & b"}`,
	} {
		for _, form := range []string{"", "/api", "/sandboxes/team/checkout", "/sandboxes/team/checkout/api"} {
			got := f.call(http.MethodPost, form+path, body)
			if replayed := got.header.Get("Idempotent-Replayed") == "true"; got.status >= 300 || replayed != (form != "") {
				t.Fatalf("%s%s answered %d, replayed: %t: %s", form, path, got.status, replayed, got.raw)
			}
		}
		var request object
		if err := json.Unmarshal([]byte(body), &request); err != nil {
			t.Fatal(err)
		}
		var stored string
		const query = "select encode(request_hash, 'hex') from transactions where reference = $1"
		if err := sql.QueryRow(t.Context(), query, request["reference"]).Scan(&stored); err != nil {
			t.Fatal(err)
		}
		if want := golden[path+" "+body].Hash; stored != want || want == "" {
			t.Errorf("%s %s is stored as %q, want %q", path, body, stored, want)
		}
	}
}
