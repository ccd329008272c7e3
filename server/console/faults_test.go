package console_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/fronts"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// listed returns the faults of the sandbox by GET /v1/faults: names, conditions and who set them.
func (f *fixture) listed() string {
	f.t.Helper()
	got := f.browser().send(http.MethodGet, "/v1/faults", nil, func(r *http.Request) {
		r.Header.Set("Authorization", "Bearer "+key)
	})
	var list struct{ Data []map[string]any }
	if err := json.Unmarshal([]byte(got.text), &list); err != nil || got.status != http.StatusOK {
		f.t.Fatalf("answered %d %s, %v", got.status, got.text, err)
	}
	var all []string
	for _, fault := range list.Data {
		when := ""
		if conditions, ok := fault["when"]; ok {
			when = fmt.Sprint(" ", conditions)
		}
		all = append(all, fmt.Sprint(fault["name"], when, " ", fault["setBy"]))
	}
	return strings.Join(all, "; ")
}

// switchOn sends the form of a preset, as the page has it now.
func (b *browser) switchOn(preset string, form url.Values) answer {
	b.t.Helper()
	sent := url.Values{"preset": {preset}, "for": {"15m"}, "shown": {b.get(checkout+"/faults").hidden(b.t, "shown")}}
	for field, values := range form {
		sent[field] = values
	}
	return b.post(checkout, "/faults", sent)
}

// mayChange lets the faults be changed ten times more at once.
func (f *fixture) mayChange() { f.exec("update organizations set fault_changes = '{}'") }

// Each preset is switched on and off by one form each. The page has its sentences, and every page says that it is on.
func TestPresetsAreSwitchedOnAndOff(t *testing.T) {
	f := newFixture(t)
	b := f.signedIn(checkout, key)
	flaps := faults.PresetNamed("flapping-query")
	if page := b.get(checkout + "/faults"); strings.Contains(words(page.text), string(flaps.What)) {
		t.Error("a sandbox without M-Pesa has a switch for its query")
	}
	f.config.Environments = append(f.config.Environments, sandboxes.EnvironmentConfig{Operator: payments.MPesa, Country: "KE", Enabled: true})
	f.apply(f.config, key)
	for _, p := range faults.Presets() {
		f.mayChange()
		b.get(checkout+"/faults").has(t, string(p.What), string(p.Correct), "Nothing is on.")
		if got := b.switchOn(p.Name, nil); got.status != http.StatusSeeOther || got.header.Get("Location") != "faults" {
			t.Fatalf("%s: switching on answered %d %s: %s", p.Name, got.status, got.header.Get("Location"), words(got.text))
		}
		if got := f.listed(); !strings.HasPrefix(got, p.Name) || !strings.HasSuffix(got, " console") || strings.Contains(got, ";") {
			t.Errorf("%s: on are %s", p.Name, got)
		}
		b.get(checkout+"/faults").has(t, "One fault on purpose is on.", "On for everybody 15 min left", "Has not acted yet", "in the console")
		b.get(checkout+"/payments").has(t, "A fault is switched on:", "for everybody.")
		off := url.Values{"off": {p.Name}, "shown": {b.get(checkout+"/faults").hidden(t, "shown")}}
		for range 2 { // a double click
			if got := b.post(checkout, "/faults", off); got.status != http.StatusSeeOther {
				t.Errorf("%s: switching off answered %d: %s", p.Name, got.status, words(got.text))
			}
		}
		if got := f.listed(); got != "" {
			t.Errorf("%s: after switching off, on are %s", p.Name, got)
		}
		if page := words(b.get(checkout + "/payments").text); strings.Contains(page, "A fault is switched on") {
			t.Errorf("%s: off, a page says %s", p.Name, page)
		}
	}
}

// A fault acts for a number, or for references. Its name says so, and never replaces another fault.
func TestWhomAFaultIsFor(t *testing.T) {
	f := newFixture(t)
	f.config.Faults = []byte(`[{"name":"twice","when":{"type":"refund"},"webhook":{"duplicate":3}}]`)
	f.apply(f.config, key)
	b := f.signedIn(checkout, key)
	for _, form := range []url.Values{
		nil, {"msisdn": {" +250 788 000 001 "}}, {"reference": {"ORDER-9*"}, "for": {"0"}}, {"reference": {"order-9?"}},
		{"msisdn": {"+250788000001"}, "reference": {strings.Repeat("9", 80)}}, {"name": {"mine"}},
	} {
		if got := b.switchOn("twice", form); got.status != http.StatusSeeOther {
			t.Fatalf("%v: %d %s", form, got.status, words(got.text))
		}
	}
	nines := strings.Repeat("9", 80)
	want := "mine console; twice-250788000001-" + nines[:44] + " map[msisdn:+250788000001 reference:" + nines + "] console; " +
		"twice-order-9-2 map[reference:order-9?] console; twice-order-9 map[reference:ORDER-9*] console; " +
		"twice-250788000001 map[msisdn:+250788000001] console; twice-2 console; twice map[type:refund] <nil>"
	if got := f.listed(); got != want {
		t.Errorf("on are\n%s, want\n%s", got, want)
	}
	b.get(checkout+"/faults").has(t, "On for the number +250 788 000 001 15 min left", "until it is switched off", "type:refund",
		"Declared in spec.faults: only the resource removes it.", "7 faults on purpose are on.")
	b.get(checkout+"/overview").has(t, "6 faults are switched on: Webhook twice for everybody", "and 3 more.")
	all := url.Values{"off": {"*"}, "shown": {b.get(checkout+"/faults").hidden(t, "shown")}}
	if got := b.post(checkout, "/faults", all); got.status != http.StatusSeeOther {
		t.Errorf("switching all off answered %d: %s", got.status, words(got.text))
	}
	if got := f.listed(); got != "twice map[type:refund] <nil>" {
		t.Errorf("on are %s", got)
	}
}

// A form changes what its page showed. What somebody set meanwhile stays.
func TestFormsOfFaultsKeepWhatOthersSet(t *testing.T) {
	f := newFixture(t)
	b := f.signedIn(checkout, key)
	old := url.Values{"preset": {"twice"}, "for": {"15m"}, "shown": {""}}
	for range 2 { // a double click
		if got := b.post(checkout, "/faults", old); got.status != http.StatusSeeOther {
			t.Fatalf("%d: %s", got.status, words(got.text))
		}
	}
	numbers := b.get(checkout+"/faults").hidden(t, "shown")
	set := func(name, entry string) {
		got := f.browser().send(http.MethodPut, "/v1/faults/"+name, nil, func(r *http.Request) {
			r.Header.Set("Authorization", "Bearer "+key)
			r.Header.Set("Content-Type", "application/json")
			r.Body, r.ContentLength = io.NopCloser(strings.NewReader(entry)), int64(len(entry))
		})
		if got.status != http.StatusOK {
			t.Fatalf("setting %s answered %d %s", name, got.status, got.text)
		}
	}
	set("twice", `{"webhook":{"drop":true}}`)
	for name, form := range map[string]url.Values{
		"on": {"preset": {"twice"}, "for": {"15m"}, "shown": {numbers}}, "off": {"off": {"twice"}, "shown": {numbers}},
		"all off": {"off": {"*"}, "shown": {numbers}},
	} {
		got := b.post(checkout, "/faults", form)
		got.has(t, "Somebody has switched on twice meanwhile.")
		if got.status != http.StatusConflict {
			t.Errorf("%s answered %d", name, got.status)
		}
	}
	if got := f.listed(); got != "twice api" {
		t.Errorf("on are %s", got)
	}
	if got := b.switchOn("twice", nil); got.status != http.StatusSeeOther {
		t.Errorf("replacing what the page shows answered %d: %s", got.status, words(got.text))
	}
	if got := f.listed(); got != "twice console" {
		t.Errorf("on are %s", got)
	}
}

// What is refused is said at the field, in the language of the reader. Nothing is changed.
func TestRefusedFaultsInTheConsole(t *testing.T) {
	f := newFixture(t)
	f.config.Faults = []byte(`[{"name":"declared","webhook":{"drop":true}}]`)
	f.apply(f.config, key)
	b := f.signedIn(checkout, key)
	b.send(http.MethodPost, checkout+"/language", url.Values{"language": {"fr"}, "back": {"/faults"}})
	refused := func(form url.Values, status int, field, says string) answer {
		t.Helper()
		got := b.switchOn("twice", form)
		got.has(t, says)
		if wrong := strings.Contains(got.text, `aria-errormessage="w-`+field+`-twice"`); got.status != status || wrong != (field != "") {
			t.Errorf("%v: %d, and the field %q is wrong: %t", form, got.status, field, wrong)
		}
		return got
	}
	refused(url.Values{"msisdn": {"0788"}}, 422, "msisdn", "Écrivez le numéro avec + et le pays")
	refused(url.Values{"reference": {strings.Repeat("x", 81)}}, 422, "reference", "80 caractères au plus")
	refused(url.Values{"name": {"Two words"}}, 422, "name", "Écrivez un nom avec a-z, 0-9 et -")
	refused(url.Values{"name": {"declared"}}, 409, "name", "spec.faults déclare une panne de ce nom.")
	for _, form := range []url.Values{{"preset": {"nothing"}}, {"for": {"25h"}}} {
		if got := b.switchOn("twice", form); got.status != http.StatusBadRequest {
			t.Errorf("%v: %d", form, got.status)
		}
	}
	for i := range 20 {
		f.mayChange()
		if got := b.switchOn("twice", url.Values{"name": {fmt.Sprint("f", i)}}); got.status != http.StatusSeeOther {
			t.Fatalf("%d: %s", got.status, words(got.text))
		}
	}
	f.mayChange()
	refused(nil, 409, "", "20 pannes sont activées, et c'est le maximum.")
	f.exec("update organizations set fault_changes = array(select clock_timestamp() from generate_series(1, 10))")
	got := refused(nil, 429, "", "Les pannes ont changé dix fois en dix secondes.")
	if wait := got.header.Get("Retry-After"); wait == "" || wait == "0" || len(wait) > 2 {
		t.Errorf("Retry-After is %q", wait)
	}
}

// A sandbox that does not allow it says how its owner can, also to somebody without a cluster.
func TestFaultsWithoutThePermission(t *testing.T) {
	for dev, says := range map[bool]string{
		false: `kubectl -n team patch sandboxenvironment checkout --type=merge -p '{"spec":{"api":{"faults":true}}}'`,
		true:  "Write faults: true under api in spec of its file, and start cauri dev again",
	} {
		t.Run(fmt.Sprint("dev ", dev), func(t *testing.T) {
			f := newFixture(t, func(o *fronts.Options) {
				if dev {
					o.RefusedHost = func(*http.Request) string { return "" }
				}
			})
			f.config.API.Faults = false
			f.apply(f.config, key)
			f.of("checkout")
			b := f.signedIn(checkout, key)
			page := b.get(checkout + "/faults")
			page.has(t, "This sandbox does not let the console switch faults on", says)
			if strings.Contains(page.text, "Switch on") || dev && strings.Contains(page.text, "kubectl") {
				t.Errorf("the page has %s", words(page.text))
			}
			got := b.post(checkout, "/faults", url.Values{"preset": {"twice"}, "for": {"15m"}})
			got.has(t, "This sandbox does not let the console switch faults on")
			if got.status != http.StatusForbidden || f.listed() != "" {
				t.Errorf("switching on answered %d, on are %s", got.status, f.listed())
			}
		})
	}
}

// A viewer sees what is on and switches nothing. A guest's phone shows none of it.
func TestGuestsSwitchNoFaults(t *testing.T) {
	f := newFixture(t)
	f.create(key, "/v1/test_clients", `{"msisdn":"`+guestsPhone+`"}`)
	f.signedIn(checkout, key).switchOn("twice", url.Values{"msisdn": {guestsPhone}})
	f.of("checkout")
	viewer := f.guestWith(sandboxes.ConsoleViewer)
	for _, path := range []string{"/faults", "/handsets", "/overview"} {
		got := viewer.get(checkout + path)
		got.has(t, "A fault is switched on: Webhook twice for the number +250 788 000 001.")
		for _, control := range []string{`name="preset"`, `name="off"`, "Switch"} {
			if strings.Contains(strings.NewReplacer("switched", "", "Switched", "").Replace(got.text), control) {
				t.Errorf("a viewer's %s has %s", path, control)
			}
		}
	}
	guest := f.guestWith(sandboxes.ConsoleHandset)
	page := guest.get(checkout + "/handsets/" + guestsPhone)
	if page.status != http.StatusOK || strings.Contains(strings.ToLower(words(page.text)), "fault") {
		t.Errorf("a guest's phone has %d %s", page.status, words(page.text))
	}
	for name, b := range map[string]*browser{"viewer": viewer, "guest": guest} {
		for _, path := range []string{"/faults", "/handsets"} {
			form := url.Values{"preset": {"no-webhook"}, "for": {"15m"}, "msisdn": {guestsPhone}, "off": {"*"}, "token": {"x"}}
			if got := b.send(http.MethodPost, checkout+path, form); got.status != http.StatusForbidden {
				t.Errorf("a %s who posts to %s is answered %d", name, path, got.status)
			}
		}
	}
	if got := f.listed(); !strings.HasPrefix(got, "twice-250788000001") {
		t.Errorf("on are %s", got)
	}
}

// What has ended, or cannot act any more, is not shown as on. An open page is read again when the first one ends.
func TestFaultsThatEndedAreNotOn(t *testing.T) {
	f := newFixture(t)
	b := f.signedIn(checkout, key)
	b.switchOn("slow", url.Values{"for": {"0"}})
	if strings.Contains(b.get(checkout+"/payments").text, "data-every") {
		t.Error("a page is read again, although no fault ends")
	}
	b.post(checkout, "/faults", url.Values{"off": {"slow"}, "shown": {b.get(checkout+"/faults").hidden(t, "shown")}})
	b.switchOn("twice", nil)
	every, err := strconv.Atoi(part(b.get(checkout+"/payments").text, `data-every="`, `"`))
	if err != nil || every < 60 || every > 901 {
		t.Errorf("the page is read again after %d s, %v", every, err)
	}
	b.get(checkout+"/overview").has(t, "A fault is switched on", "1 fault on purpose")
	f.exec("update set_faults set ends_at = now() - interval '1 second'")
	f.exec("update config_version set version = version + 1")
	f.exec("update organizations set version = (select version from config_version)")
	f.of("checkout")
	for _, path := range []string{"/overview", "/faults", "/setup", "/try", "/payments"} {
		if page := words(b.get(checkout + path).text); strings.Contains(page, "switched on:") || strings.Contains(page, "twice: sent") {
			t.Errorf("%s has %s", path, page)
		}
	}
}

// A fault says how often it acted and when, and leads to the payments that it touched.
func TestFaultLeadsToItsPayments(t *testing.T) {
	f := newFixture(t)
	b := f.signedIn(checkout, key)
	b.switchOn("not-json", nil)
	f.of("checkout")
	body := `{"amount":2000,"currency":"RWF","msisdn":"` + stranger + `","reference":"order-91","application":"shop","scenario":"success"}`
	b.send(http.MethodPost, "/v1/payments", nil, func(r *http.Request) {
		r.Header.Set("Authorization", "Bearer "+key)
		r.Header.Set("Content-Type", "application/json")
		r.Body, r.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
	})
	page := b.get(checkout + "/faults")
	page.has(t, "Acted once, at ", "Payments: order-91")
	if !strings.Contains(page.text, `href="payments/TX_`) {
		t.Error("no link leads to the payment")
	}
}

// The menu of a phone sets what goes wrong with its next payment, and with no other. Another choice replaces the first.
func TestNextPaymentOfAPhone(t *testing.T) {
	f := newFixture(t)
	f.create(key, "/v1/test_clients", `{"msisdn":"`+guestsPhone+`","balance":20000}`)
	b := f.signedIn(checkout, key)
	page := b.get(checkout + "/handsets")
	if menu := part(page.text, "<select", "</select>"); !strings.Contains(menu, "silent-operator") || strings.Contains(menu, "no-webhook") ||
		strings.Count(menu, "<option") != len(faults.Presets())-2 || strings.Contains(menu, "flapping-query") {
		t.Errorf("the menu is %s", menu)
	}
	choose := func(form url.Values) answer {
		t.Helper()
		form.Set("msisdn", guestsPhone)
		form.Set("for", "15m")
		if !form.Has("shown") {
			form.Set("shown", b.get(checkout+"/handsets").hidden(t, "shown"))
		}
		return b.post(checkout, "/handsets?after=%2B250788000000", form)
	}
	for _, p := range faults.Presets() {
		f.mayChange()
		if p.Name == "no-webhook" || p.Name == "flapping-query" {
			continue
		}
		got := choose(url.Values{"preset": {p.Name}})
		if got.status != http.StatusSeeOther || got.header.Get("Location") != "handsets?after=%2B250788000000" {
			t.Fatalf("%s: %d %s: %s", p.Name, got.status, got.header.Get("Location"), words(got.text))
		}
	}
	choose(url.Values{"preset": {"not-json"}})
	if got := f.listed(); got != "next-250788000001 map[first:1 msisdn:+250788000001 type:collection] console" {
		t.Errorf("on are %s", got)
	}
	b.get(checkout+"/handsets").has(t, "Next payment: Answer that is not JSON")
	old := choose(url.Values{"preset": {"twice"}, "shown": {""}})
	old.has(t, "Somebody has switched on next-250788000001 meanwhile.")
	if old.status != http.StatusConflict {
		t.Errorf("a choice on an old page answered %d", old.status)
	}
	if got := choose(url.Values{"off": {"next-250788000001"}}); got.status != http.StatusSeeOther || f.listed() != "" {
		t.Errorf("switching off answered %d, on are %s", got.status, f.listed())
	}
	choose(url.Values{"preset": {"too-many-requests"}})
	f.of("checkout")
	var statuses []int
	for i := range 2 {
		body := fmt.Sprintf(`{"amount":2000,"currency":"RWF","msisdn":%q,"reference":"next-%d","application":"shop"}`, guestsPhone, i)
		got := b.send(http.MethodPost, "/v1/payments", nil, func(r *http.Request) {
			r.Header.Set("Authorization", "Bearer "+key)
			r.Header.Set("Content-Type", "application/json")
			r.Body, r.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
		})
		statuses = append(statuses, got.status)
	}
	if fmt.Sprint(statuses) != "[429 201]" {
		t.Errorf("the next two payments are answered %v", statuses)
	}
	for _, path := range []string{"/handsets", "/overview"} {
		if page := words(b.get(checkout + path).text); strings.Contains(page, "Next payment:") || strings.Contains(page, "is switched on") {
			t.Errorf("after it acted, %s says that it is on: %s", path, page)
		}
	}
}
