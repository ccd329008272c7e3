package console_test

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/server/payments"
)

// hidden returns the value of a hidden field of a page.
func (a answer) hidden(t *testing.T, name string) string {
	t.Helper()
	found := regexp.MustCompile(`name="` + name + `" value="([^"]*)"`).FindStringSubmatch(a.text)
	if found == nil {
		t.Fatalf("the page has no field %s", name)
	}
	return found[1]
}

// The jump goes to the moment that the button showed. If another one is the next by then, the clock stays.
func TestJumpGoesToTheMomentThatWasShown(t *testing.T) {
	f := newFixture(t)
	f.create(key, "/v1/test_clients", `{"msisdn":"`+awa+`","behavior":"Manual","balance":20000}`)
	b := f.signedIn(checkout, key)
	f.pay(key, awa, "late", "")
	before := b.get(checkout + "/overview")
	shown := before.hidden(t, "due")
	jump := url.Values{"by": {"nextDue"}, "due": {shown}}
	f.exec("update transactions set due_at = due_at + interval '10 minutes'")
	got := b.post(checkout, "/clock", jump)
	got.has(t, "Something else is due next now", "The clock did not move")
	if got.status != http.StatusConflict {
		t.Errorf("a jump to another moment than the shown one answered %d", got.status)
	}
	target := func() string {
		clock, err := f.store.Clock(t.Context(), f.of("checkout").Tenant)
		if err != nil || clock.Target == nil {
			return fmt.Sprint(err)
		}
		return clock.Target.UTC().Format(time.RFC3339Nano)
	}
	if at := target(); at != "<nil>" {
		t.Errorf("the clock goes to %s", at)
	}
	jump.Set("due", b.get(checkout+"/overview").hidden(t, "due"))
	if got := b.post(checkout, "/clock", jump); got.status != http.StatusSeeOther {
		t.Errorf("the jump to the moment that is shown answered %d: %s", got.status, words(got.text))
	}
	if at := target(); at != jump.Get("due") {
		t.Errorf("the clock goes to %s, and %s was shown", at, jump.Get("due"))
	}
	f.exec("update clocks set stands_at = target, last_target = target, target = null, ended = array[advance, 1, 0, 0, 0]")
	f.exec("update transactions set due_at = due_at + interval '20 minutes'")
	if got := b.post(checkout, "/clock", jump); got.status != http.StatusSeeOther {
		t.Errorf("the second click, after the jump has ended, answered %d: %s", got.status, words(got.text))
	}
	if at := target(); at != "<nil>" {
		t.Errorf("the second click moves the clock to %s", at)
	}
	if got := b.post(checkout, "/clock", url.Values{"by": {"nextDue"}}); got.status != http.StatusBadRequest {
		t.Errorf("a jump without the moment answered %d", got.status)
	}
}

// A refund of all that is left is of what the form showed, and asks again if less is left by then.
func TestRefundOfAllIsOfWhatWasShown(t *testing.T) {
	f := newFixture(t)
	b := f.signedIn(checkout, key)
	tx := f.pay(key, stranger, "ref-1", `,"scenario":"success"`)
	page := b.get(checkout + "/payments/" + tx)
	form := url.Values{"amount": {""}, "reference": {page.hidden(t, "reference")}, "left": {page.hidden(t, "left")}}
	f.create(key, "/v1/payments/"+tx+"/refund", `{"amount":500,"reference":"meanwhile"}`)
	got := b.post(checkout, "/payments/"+tx+"/refund", form)
	got.has(t, "write 1500 at most")
	if got.status != http.StatusUnprocessableEntity || got.hidden(t, "left") != "1500" {
		t.Errorf("%d, and now %s are left", got.status, got.hidden(t, "left"))
	}
	form.Set("left", got.hidden(t, "left"))
	for range 2 { // a double click
		if got := b.post(checkout, "/payments/"+tx+"/refund", form); got.status != http.StatusSeeOther {
			t.Errorf("%d: %s", got.status, words(got.text))
		}
	}
	b.get(checkout+"/payments/"+tx).has(t, "All of it went back.")
}

// A form changes what a person changed in it. What others changed after it was shown stays.
func TestFormOfATestClientKeepsWhatOthersChanged(t *testing.T) {
	f := newFixture(t)
	f.create(key, "/v1/test_clients", `{"msisdn":"`+awa+`","name":"awa","balance":100}`)
	b := f.signedIn(checkout, key)
	path := "/handsets/" + awa + "/change"
	page := b.get(checkout + path)
	form := url.Values{"name": {"Awa K."}, "state": {"Active"}, "behavior": {"Approve"}, "balance": {""}}
	for _, field := range []string{"shown-name", "shown-state", "shown-behavior"} {
		form.Set(field, page.hidden(t, field))
	}
	f.exec("update sims set blocked = true, behavior = 'Cancel', balance = 70")
	if got := b.post(checkout, path, form); got.status != http.StatusSeeOther {
		t.Fatalf("%d: %s", got.status, words(got.text))
	}
	c, err := f.store.FindTestClient(t.Context(), f.of("checkout").Tenant, awa)
	if err != nil || c.Name != "Awa K." || !c.Blocked || c.Balance != 70 || c.Behavior != payments.Cancel {
		t.Errorf("the test client is %+v, %v", c, err)
	}
	form.Set("shown-name", "Awa K.")
	if got := b.post(checkout, path, form); got.status != http.StatusSeeOther {
		t.Errorf("a form in which nothing is changed: %d: %s", got.status, words(got.text))
	}
}
