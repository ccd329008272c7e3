package console_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// under returns the text under a field of the form.
func under(a answer, field string) string { return words(part(a.text, `id="w-`+field+`"`, "</span>")) }

// The console adds, changes and deletes test clients by the API, and the log names the session.
func TestClientByHand(t *testing.T) {
	f := newFixture(t)
	b := f.signedIn(checkout, key)
	b.get(checkout+"/handsets").has(t, "No phone yet", "Add a test client")
	b.get(checkout+"/handsets/new").has(t, "Number", "Empty: 0.", "Manual: Its phone rings until somebody answers.")
	form := url.Values{"number": {"+250 788 123 456"}, "name": {hostile}, "balance": {"25,000"}, "behavior": {"Manual"}}
	got := b.post(checkout, "/handsets/new", form)
	if to := got.header.Get("Location"); got.status != http.StatusSeeOther || to != "../handsets#phone-250788123456" {
		t.Fatalf("the form answered %d to %q: %s", got.status, to, words(got.text))
	}
	b.get(checkout+"/handsets").has(t, "+250 788 123 456", "RWF 25,000", "always: it is Manual", "Change the test client")
	shown := b.get(checkout + "/handsets/+250788123456/change")
	shown.has(t, "RWF 25,000 now. Empty: it stays.", "Delete the test client")
	if strings.Contains(shown.text, "<script>alert") || !strings.Contains(shown.text, `value="Manual" selected`) {
		t.Errorf("the form has a name that is no text, or another behavior: %s", shown.text)
	}
	change := url.Values{"name": {""}, "state": {"Blocked"}, "balance": {""}, "behavior": {"Cancel"}}
	if got := b.post(checkout, "/handsets/+250788123456/change", change); got.header.Get("Location") != "../../handsets#phone-250788123456" {
		t.Errorf("the change answered %d: %s", got.status, words(got.text))
	}
	c, err := f.store.FindTestClient(t.Context(), f.of("checkout").Tenant, "+250788123456")
	if err != nil || c.Name != "" || !c.Blocked || c.Balance != 25_000 || c.Behavior != payments.Cancel {
		t.Errorf("the test client is %+v, %v", c, err)
	}
	if got := b.post(checkout, "/handsets/+250788123456/delete", nil); got.header.Get("Location") != "../../handsets" {
		t.Errorf("the deletion answered %d: %s", got.status, words(got.text))
	}
	if got := b.get(checkout + "/handsets/+250788123456/change"); got.status != http.StatusNotFound {
		t.Errorf("a test client that is gone has a form: %d", got.status)
	}
	log := strings.Join(f.inLog(), "\n")
	for _, path := range []string{"new", "+250788123456/change", "+250788123456/delete"} {
		if want := "POST /console/handsets/" + path + " 303 by session"; !strings.Contains(log, want) {
			t.Errorf("the request log has no %q: %s", want, log)
		}
	}
}

// The message of a refusal is under its field, and the field keeps the typed text.
func TestWrongFieldsOfATestClient(t *testing.T) {
	f := newFixture(t)
	b := f.signedIn(checkout, key)
	f.create(key, "/v1/test_clients", `{"msisdn":"`+awa+`","name":"awa"}`)
	for name, c := range map[string]struct {
		path, field, value string
		status             int
		wrong, says        string
	}{
		"no number":      {"new", "number", "", 400, "number", "is required"},
		"a number":       {"new", "number", "0788", 400, "number", "an E.164 number with its leading +"},
		"no operator":    {"new", "number", "+33612345678", 400, "market", "cannot be detected"},
		"the same again": {"new", "number", awa, 409, "number", "A test client has the number"},
		"an operator":    {"new", "market", "none RW", 400, "market", "mtn"},
		"a balance":      {"new", "balance", "much", 400, "balance", "expected integer"},
		"a behavior":     {"new", "behavior", "Sulk", 400, "behavior", "Approve"},
		"a name":         {awa + "/change", "name", strings.Repeat("x", 254), 400, "name", "253"},
		"a new balance":  {awa + "/change", "balance", "-1", 400, "balance", "0"},
		"a state":        {awa + "/change", "state", "Lost", 400, "state", "Active"},
	} {
		form := url.Values{"number": {"+250788123456"}, "behavior": {"Approve"}}
		form.Set(c.field, c.value)
		got := b.post(checkout, "/handsets/"+c.path, form)
		if text := under(got, c.wrong); got.status != c.status || !strings.Contains(text, c.says) {
			t.Errorf("%s: %d, under the field: %q, want %d and %q", name, got.status, text, c.status, c.says)
		}
		if typed := `value="` + c.value + `"`; c.field != "behavior" && c.field != "state" && !strings.Contains(got.text, typed) {
			t.Errorf("%s: the form has lost %s", name, typed)
		}
	}
	f.config.Faults = []byte(`[{"name":"down","api":{"status":503}}]`)
	f.apply(f.config, key)
	f.of("checkout")
	got := b.post(checkout, "/handsets/new", url.Values{"number": {"+250788123456"}})
	if text := words(part(got.text, `role="alert"`, "</div>")); got.status != http.StatusServiceUnavailable || len(text) < 20 {
		t.Errorf("a fault: %d %q", got.status, text)
	}
}

// There is no form for test clients of resources, for viewers, and in sandboxes that do not allow changes.
func TestWhoChangesNoTestClient(t *testing.T) {
	f := newFixture(t)
	b := f.signedIn(checkout, key)
	f.create(key, "/v1/test_clients", `{"msisdn":"`+awa+`","name":"awa"}`)
	change := "/handsets/" + awa + "/change"
	viewer := f.viewer()
	if text := viewer.get(checkout + "/handsets").text; strings.Contains(text, "/change") || strings.Contains(text, "/new") {
		t.Error("a viewer is offered a form")
	}
	f.exec("update sims set source = 'resource' where msisdn = '" + awa + "'")
	resource := b.get(checkout + change)
	resource.has(t, "only the resource changes it", `kubectl -n team patch testclient awa --type=merge -p '{"spec":{"behavior":"Manual"}}'`)
	if strings.Contains(resource.text, `name="behavior"`) {
		t.Error("a resource has a form")
	}
	b.post(checkout, change, url.Values{"behavior": {"Cancel"}}).has(t, "only the resource changes it")
	f.exec("update sims set source = 'api' where msisdn = '" + awa + "'")
	f.config.API = sandboxes.APIAccess{}
	f.apply(f.config, key)
	f.of("checkout")
	for _, path := range []string{"/handsets", "/handsets/new", change} {
		got := b.get(checkout + path)
		got.has(t, "its owner allows it with spec.api.testClients")
		if strings.Contains(got.text, `name="behavior"`) || strings.Contains(got.text, `href="handsets/new"`) {
			t.Errorf("%s offers a form that the sandbox does not allow", path)
		}
	}
	if got := b.post(checkout, "/handsets/new", url.Values{"number": {zoe}}); got.status != http.StatusForbidden {
		t.Errorf("the form answered %d", got.status)
	}
}

// The page after a change has the phone, even if it is not on the first page.
func TestPhonesOfALargeSandbox(t *testing.T) {
	f := newFixture(t)
	for i := range 25 {
		f.create(key, "/v1/test_clients", `{"msisdn":"+2507881000`+string(rune('0'+i/10))+string(rune('0'+i%10))+`"}`)
	}
	b := f.signedIn(checkout, key)
	got := b.post(checkout, "/handsets/new", url.Values{"number": {"+250788900001"}, "behavior": {"Manual"}})
	to, _ := url.Parse(got.header.Get("Location"))
	if to == nil || to.Fragment != "phone-250788900001" ||
		!strings.Contains(b.get(checkout+"/handsets?"+to.RawQuery).text, `id="phone-250788900001"`) {
		t.Errorf("the form leads to %q", got.header.Get("Location"))
	}
}
