package httpapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/server/payments"
)

const (
	pullRegister = "/pulltransactions/v1/register"
	pullQuery    = "/pulltransactions/v1/query"
)

func (m *mpesa) pullRegister() nativeAnswer {
	m.f.t.Helper()
	return m.call("POST", pullRegister,
		`{"ShortCode":"174379","RequestType":"Pull","NominatedNumber":"254722000000","CallBackURL":"https://shop.example/pull"}`)
}

// pull lists what was paid in the given hours before and after the sandbox's time.
func (m *mpesa) pull(method string, hours int, offset string) nativeAnswer {
	m.f.t.Helper()
	return m.pullOf(publicShortCode, method, hours, offset)
}

// own lists what was paid to the sandbox's own short code in the last day.
func (s *c2bShop) own(method string) nativeAnswer {
	s.f.t.Helper()
	code := s.m.Secret["mpesa-shortcode"]
	got := s.m.call("POST", pullRegister,
		fmt.Sprintf(`{"ShortCode":%q,"RequestType":"Pull","NominatedNumber":"254722000000","CallBackURL":"https://shop.example/pull"}`, code))
	if got.status != http.StatusOK {
		s.f.t.Fatalf("the registration is answered %d %s", got.status, got.raw)
	}
	return s.m.pullOf(code, method, 24, "0")
}

func (m *mpesa) pullOf(shortCode, method string, hours int, offset string) nativeAnswer {
	m.f.t.Helper()
	now, err := time.Parse(time.RFC3339, m.f.clock()["now"].(string))
	if err != nil {
		m.f.t.Fatal(err)
	}
	at := func(add time.Duration) string { return now.Add(add).In(eastAfrica).Format("2006-01-02 15:04:05") }
	around := time.Duration(hours) * time.Hour
	return m.call(method, pullQuery,
		fmt.Sprintf(`{"ShortCode":%q,"StartDate":%q,"EndDate":%q,"OffSetValue":%q}`, shortCode, at(-around), at(around), offset))
}

var eastAfrica = time.FixedZone("EAT", 3*60*60)

// pulled returns the payments of an answer.
func pulled(t *testing.T, got nativeAnswer) (listed []object) {
	t.Helper()
	var body struct {
		ResponseCode string
		Response     [][]object
	}
	if err := json.Unmarshal([]byte(got.raw), &body); err != nil || len(body.Response) != 1 {
		t.Fatalf("Pull answers %d %s", got.status, got.raw)
	}
	listed = body.Response[0]
	if want := map[bool]string{true: "1001", false: "1000"}[len(listed) == 0]; body.ResponseCode != want {
		t.Errorf("%d payments are answered %s", len(listed), body.ResponseCode)
	}
	return listed
}

func TestMPesaPullRegisters(t *testing.T) {
	f, m := withMPesa(t, payments.Approve)
	form := func(keys, status, text string) *regexp.Regexp {
		return regexp.MustCompile(`^\{"ResponseRefID":"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}","Response` + keys + `Status":"` + status +
			`","ShortCode":"174379","Response` + keys + `Description":"` + text + `"\}$`)
	}
	for i, want := range []*regexp.Regexp{
		form("", "1000", "Shortcode Registered Successfully"), form("", "1001", "ShortCode already Registered"), form(" ", "1001", "ShortCode already Registered"),
	} {
		if got := m.pullRegister(); got.status != http.StatusOK || !want.MatchString(got.raw) {
			t.Errorf("registration %d is answered %d %s", i, got.status, got.raw)
		}
		if i == 1 {
			f.config.Environments[3].Quirks = map[string]bool{"mpesaBlankKeys": true}
			f.sandbox(f.config, key)
			f.follow()
		}
	}
	if events := f.call("GET", "/v1/events", nil).body["data"].([]any); len(events) != 0 {
		t.Errorf("a registration queues %v", events)
	}
}

// Payments of each API are listed, whether or not the shop was told of them. Their fields agree with those of /v1.
func TestMPesaPull(t *testing.T) {
	s := newC2BShop(t)
	m := s.m
	if got := m.pullRegister(); got.status != http.StatusOK {
		t.Fatalf("the registration is answered %d %s", got.status, got.raw)
	}
	if got := pulled(t, m.pull("POST", 24, "0")); len(got) != 0 {
		t.Errorf("at first %v are listed", got)
	}
	s.told = "/lost"
	s.register("v2", "Completed", "")
	m.client("poor", "+254712000002", 1)
	m.simulate(wanjiku, 10, "c2b")
	m.simulate("+254712000002", 10, "failed")
	till := `{"ShortCode":"174379","CommandID":"CustomerBuyGoodsOnline","Amount":11,"Msisdn":254712000001}`
	if got := m.call("POST", "/mpesa/c2b/v2/simulate", till); got.status != http.StatusOK {
		t.Fatalf("a payment is answered %d %s", got.status, got.raw)
	}
	m.pushed(m.push("", wanjiku, 12))
	s.f.approve(wanjiku)
	v1 := payment("by-v1", object{"operator": "mpesa", "country": "KE", "currency": "KES", "msisdn": wanjiku, "amount": 13, "scenario": "success"})
	if got := s.f.call("POST", "/v1/payments", v1); got.status != http.StatusCreated {
		t.Fatalf("/v1 answers %d %s", got.status, got.raw)
	}
	m.push("", wanjiku, 14) // rings
	s.advance("1s")
	for _, method := range []string{"POST", "GET"} {
		got := m.pull(method, 24, "0")
		listed := pulled(t, got)
		if len(listed) != 3 {
			t.Fatalf("%s lists %s", method, got.raw)
		}
		listed = append(listed, pulled(t, s.own(method))...) // what /v1 recorded is of the sandbox's own short code
		if len(listed) != 4 {
			t.Fatalf("%s lists %v", method, listed)
		}
		for i, want := range []struct {
			amount, bill, kind string
		}{
			{"10.00", "c2b", "c2b-pay-bill-debit"}, {"11.00", "", "c2b-buy-goods-debit"}, {"12.00", "order-1042", "c2b-pay-bill-debit"},
			{"13.00", "by-v1", "c2b-pay-bill-debit"},
		} {
			p := listed[i]
			if fieldsOf(p, "amount", "billreference", "transactiontype", "sender", "organizationname") != want.amount+" "+want.bill+" "+want.kind+" MPESA Cauri" ||
				p["msisdn"] != 712000001.0 || !regexp.MustCompile("^"+receiptForm+"$").MatchString(p["transactionId"].(string)) {
				t.Errorf("payment %d is listed as %v", i, p)
			}
			if _, err := time.Parse("2006-01-02T15:04:05Z", p["trxDate"].(string)); err != nil {
				t.Error(err)
			}
		}
		if !strings.Contains(got.raw, `"Response":[[{"transactionId":`) || !strings.Contains(got.raw, `"msisdn":712000001,`) {
			t.Errorf("Pull answers %s", got.raw)
		}
		if found := s.f.call("GET", "/v1/payments?reference="+listed[0]["transactionId"].(string), nil).body["data"].([]any); len(found) != 1 {
			t.Errorf("/v1 has %d payments with the id of a listed one", len(found))
		}
	}
	s.f.conserved()
}

// What was paid 49 hours ago is not listed any more.
func TestMPesaPullForgets(t *testing.T) {
	s := newC2BShop(t)
	s.m.pullRegister()
	s.m.simulate(wanjiku, 10, "lost")
	for _, c := range []struct {
		after string
		want  int
	}{{"47h", 1}, {"59m", 1}, {"1h1m", 0}} {
		s.advance(c.after)
		s.m.bearer = "" // the token has ended
		if got := pulled(t, s.m.pull("POST", 100, "0")); len(got) != c.want {
			t.Errorf("after %s more, %v are listed", c.after, got)
		}
	}
}

// A page has 100 payments, and the offset counts payments.
func TestMPesaPullPages(t *testing.T) {
	s := newC2BShop(t)
	s.m.pullRegister()
	for i := range 103 {
		s.m.simulate(wanjiku, 1, fmt.Sprint("bill-", i))
	}
	s.advance("1m")
	for offset, want := range map[string][2]string{
		"0": {"100", "bill-0"}, "": {"100", "bill-0"}, "3": {"100", "bill-3"}, "4": {"99", "bill-4"}, "100": {"3", "bill-100"}, "103": {"0", ""},
	} {
		listed := pulled(t, s.m.pull("POST", 1, offset))
		first := ""
		if len(listed) > 0 {
			first = listed[0]["billreference"].(string)
		}
		if fmt.Sprint(len(listed)) != want[0] || first != want[1] {
			t.Errorf("the offset %q lists %d, and %q first", offset, len(listed), first)
		}
	}
}

// Times are Nairobi's. The forms of the documents' samples are taken.
func TestMPesaPullTimes(t *testing.T) {
	s := newC2BShop(t)
	s.m.pullRegister()
	s.m.simulate(wanjiku, 10, "at")
	s.advance("1s")
	at, err := time.Parse("2006-01-02T15:04:05Z", pulled(t, s.m.pull("POST", 1, "0"))[0]["trxDate"].(string))
	if err != nil {
		t.Fatal(err)
	}
	in := func(layout string, add time.Duration) string { return at.Add(add).In(eastAfrica).Format(layout) }
	const seconds, minutes = "2006-01-02 15:04:05", "2006-01-02 15:04"
	for name, c := range map[string]struct {
		start, end string
		want       int // -1: refused
	}{
		"the second":      {in(seconds, 0), in(seconds, 0), 1},
		"a second later":  {in(seconds, time.Second), in(seconds, time.Minute), 0},
		"a second before": {in(seconds, -time.Minute), in(seconds, -time.Second), 0},
		"minutes":         {in(minutes, 0), in(minutes, time.Minute), 1},
		"the samples":     {in("2006-1-2 15:4:05", -time.Second), in(minutes, time.Minute) + ":000", 1},
		"a T":             {in("2006-01-02T15:04:05", 0), in("2006-01-02T15:04:05", 0), 1},
		"UTC":             {at.UTC().Format(seconds), at.UTC().Format(seconds), 0},
		"another order":   {in(seconds, time.Minute), in(seconds, 0), -1},
		"no such day":     {"2026-02-30 10:00:00", in(seconds, 0), -1},
		"no time":         {"", in(seconds, 0), -1},
		"another form":    {in("20060102150405", 0), in(seconds, 0), -1},
	} {
		got := s.m.call("POST", pullQuery, fmt.Sprintf(`{"ShortCode":174379,"StartDate":%q,"EndDate":%q,"OffSetValue":0}`, c.start, c.end))
		if c.want < 0 {
			if got.status != http.StatusBadRequest || got.body["errorCode"] != "400.002.02" {
				t.Errorf("%s is answered %d %s", name, got.status, got.raw)
			}
		} else if listed := pulled(t, got); len(listed) != c.want {
			t.Errorf("%s lists %v", name, listed)
		}
	}
}

// No sandbox lists the payments of another.
func TestMPesaPullOfEachSandbox(t *testing.T) {
	s := newC2BShop(t)
	other := s.f.config
	other.UID, other.Name = "22222222-2222-2222-2222-222222222222", "other"
	s.f.sandbox(other, otherKey)
	s.f.follow()
	s.m.pullRegister()
	s.m.simulate(wanjiku, 10, "mine")
	s.advance("1m")
	neighbor := s.f.mpesa(otherKey)
	if got := neighbor.pull("POST", 24, "0"); got.status != http.StatusBadRequest || got.body["errorCode"] != "400.001" {
		t.Errorf("what another sandbox registered is answered %d %s", got.status, got.raw)
	}
	neighbor.pullRegister()
	if got := pulled(t, neighbor.pull("POST", 24, "0")); len(got) != 0 {
		t.Errorf("another sandbox lists %v", got)
	}
	if got := pulled(t, s.m.pull("POST", 24, "0")); len(got) != 1 {
		t.Errorf("the sandbox lists %v", got)
	}
}

func TestMPesaPullRefusals(t *testing.T) {
	f, m := withMPesa(t, payments.Approve)
	const good = `{"ShortCode":"174379","StartDate":"2026-11-28 08:00:00","EndDate":"2026-11-28 20:00:00","OffSetValue":"0"}`
	asked := func(what, path, body, want, reason string) {
		t.Helper()
		got := m.call("POST", path, body)
		if told := fmt.Sprint(got.body["errorCode"], " ", got.body["errorMessage"]); got.status != http.StatusBadRequest || told != want ||
			!strings.HasPrefix(got.header.Get("X-Cauri-Reason"), reason+": ") {
			t.Errorf("%s is answered %d %s (%s), want %s", what, got.status, got.raw, got.header.Get("X-Cauri-Reason"), want)
		}
	}
	const registration = `{"ShortCode":"174379","RequestType":"Pull","NominatedNumber":"0722000000","CallBackURL":"https://shop.example/pull"}`
	asked("before the registration, a query", pullQuery, good, "400.001 Invalid ShortCode", "short_code_not_registered")
	for _, c := range [][4]string{
		{`"174379"`, `"600000"`, "400.001 Invalid ShortCode", "unknown_short_code"},
		{`"174379"`, `"x"`, "400.002.02 Bad Request - Invalid ShortCode", "invalid_ShortCode"},
		{`"Pull"`, `"pull"`, "400.002.02 Bad Request - Invalid RequestType", "invalid_RequestType"},
		{`"0722000000"`, `"+254722000000"`, "400.002.02 Bad Request - Invalid NominatedNumber", "invalid_NominatedNumber"},
		{`shop.example`, `other.example`, "400.002.02 Bad Request - Invalid CallBackURL", "invalid_CallBackURL"},
	} {
		asked("a registration with "+c[1], pullRegister, strings.Replace(registration, c[0], c[1], 1), c[2], c[3])
	}
	if got := m.call("POST", pullRegister, registration); got.status != http.StatusOK {
		t.Errorf("a registration is answered %d %s", got.status, got.raw)
	}
	for _, c := range [][4]string{
		{`"174379"`, `"600000"`, "400.001 Invalid ShortCode", "unknown_short_code"},
		{`"0"`, `"-1"`, "400.002.02 Bad Request - Invalid OffSetValue", "invalid_OffSetValue"},
		{`"0"`, `"100001"`, "400.002.02 Bad Request - Invalid OffSetValue", "invalid_OffSetValue"},
		{`{`, `[`, "400.002.02 Bad Request - Invalid ShortCode", "invalid_ShortCode"},
	} {
		asked("a query with "+c[1], pullQuery, strings.Replace(good, c[0], c[1], 1), c[2], c[3])
	}
	for _, call := range []string{"POST " + pullRegister, "POST " + pullQuery, "GET " + pullQuery} {
		method, path, _ := strings.Cut(call, " ")
		got := m.send(method, path, good, "Authorization", "Bearer "+strings.Repeat("0", 28))
		if got.status != http.StatusUnauthorized || got.body["errorCode"] != "401.001" || got.body["errorMessage"] != "Invalid Access Token" {
			t.Errorf("%s is answered %d %s", call, got.status, got.raw)
		}
	}
	if n := f.transactions(); n != 0 {
		t.Errorf("%d transactions were recorded", n)
	}
}
