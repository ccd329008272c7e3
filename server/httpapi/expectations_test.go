package httpapi_test

import (
	"net/http"
	"testing"

	"github.com/cauri-dev/cauri/server/expectations"
	"github.com/cauri-dev/cauri/server/ledgertest"
)

// Lines that take longer than 2 s to evaluate are refused, with what to write instead, and the next request is answered.
func TestLinesThatTakeTooLong(t *testing.T) {
	f := newFixture(t)
	slow := ledgertest.Connect(t, f.db)
	if _, err := slow.Exec(t.Context(), "begin; lock table floats in access exclusive mode"); err != nil {
		t.Fatal(err)
	}
	body := object{"expect": []object{{"float": object{"currency": "RWF", "equals": 0}}}}
	got := f.call("POST", "/v1/expectations/evaluate", body)
	if got.status != http.StatusUnprocessableEntity || got.body["error"] != "too_many_rows" || got.body["message"] != expectations.UnreadableMessage {
		t.Errorf("answered %d: %s", got.status, got.raw)
	}
	if _, err := slow.Exec(t.Context(), "rollback"); err != nil {
		t.Fatal(err)
	}
	if got := f.call("POST", "/v1/expectations/evaluate", body); got.status != http.StatusOK || got.body["met"] != false {
		t.Errorf("then answered %d: %s", got.status, got.raw)
	}
}
