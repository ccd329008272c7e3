package browser

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/test/system"
)

type object = map[string]any

// shop is a sandbox, its webhook endpoint and its owner.
type shop struct {
	*system.Merchant
	t    *testing.T
	paid string // id of the payment of a busy shop that was paid and refunded in part
}

var (
	adding sync.Mutex
	shops  atomic.Int64
)

// newShop makes a sandbox with two markets. change modifies its configuration.
func newShop(t *testing.T, behave system.Behavior, change ...func(*sandboxes.Config)) *shop {
	t.Helper()
	adding.Lock()
	defer adding.Unlock()
	name := fmt.Sprintf("checkout-%d", shops.Add(1))
	change = append([]func(*sandboxes.Config){func(c *sandboxes.Config) {
		terms := payments.Terms{CommissionBPS: 150, AbsorptionPct: 100}
		c.Environments = []sandboxes.EnvironmentConfig{
			{Operator: payments.MTN, Country: payments.Rwanda, Enabled: true, Terms: terms, UnknownPolicy: payments.Reject},
			{Operator: payments.Orange, Country: payments.CoteDIvoire, Enabled: true, Terms: terms, UnknownPolicy: payments.Reject},
		}
		c.OpeningFloat = map[payments.Currency]int64{payments.RWF: 1_000_000, payments.XOF: 2_000_000}
		c.API = sandboxes.APIAccess{TestClients: true, Reset: true, Faults: true}
		c.TestNumbers = payments.StandardTestNumbers
		c.Webhook.Retry = sandboxes.RetryPolicy{MaxRetries: 5, InitialDelay: time.Hour, Factor: 2, MaxDelay: 4 * time.Hour}
	}}, change...)
	m, err := running.AddMerchant(t.Context(), name, running.api, behave, change...)
	if err != nil {
		t.Fatal(err)
	}
	return &shop{Merchant: m, t: t}
}

// post sends a request that makes something, and returns the answer.
func (s *shop) post(path string, body object) object {
	s.t.Helper()
	answer, err := s.Client.Post(s.t.Context(), path, body)
	if err != nil || answer.Status/100 != 2 {
		s.t.Fatalf("%s answered %d %s, %v", path, answer.Status, answer.Body, err)
	}
	return decoded(s.t, answer)
}

// advance moves the clock, and waits until that is done.
func (s *shop) advance(by string) {
	s.t.Helper()
	if answer := s.post("/clock/advance", object{"by": by, "wait": "60s"}); answer["target"] != nil {
		s.t.Fatalf("the clock is not at %v after a minute", answer["target"])
	}
}

func (s *shop) get(path string) object {
	s.t.Helper()
	answer, err := s.Client.Get(s.t.Context(), path)
	if err != nil || answer.Status != http.StatusOK {
		s.t.Fatalf("%s answered %d %s, %v", path, answer.Status, answer.Body, err)
	}
	return decoded(s.t, answer)
}

func decoded(t *testing.T, answer system.Answer) (o object) {
	t.Helper()
	if err := json.Unmarshal(answer.Body, &o); err != nil {
		t.Fatal(err)
	}
	return o
}

// pay makes a payment and returns its id.
func (s *shop) pay(reference, msisdn string, amount int64, more object) string {
	s.t.Helper()
	body := object{"amount": amount, "currency": "RWF", "msisdn": msisdn, "reference": reference, "application": "shop"}
	if msisdn[:4] == "+225" {
		body["currency"] = "XOF"
	}
	for name, value := range more {
		body[name] = value
	}
	return s.post("/payments", body)["id"].(string)
}

// payByMTN makes a payment by MTN's own API.
func (s *shop) payByMTN(msisdn string) {
	s.t.Helper()
	client, err := s.MTN(s.t.Context(), running.api)
	if err != nil {
		s.t.Fatal(err)
	}
	answer, err := client.RequestToPay(s.t.Context(), "8b1f8c6e-0000-4000-8000-000000000001", strings.TrimPrefix(msisdn, "+"), "")
	if err != nil || answer.Status != http.StatusAccepted {
		s.t.Fatalf("MTN answered %d %s, %v", answer.Status, answer.Body, err)
	}
}

// client registers a SIM.
func (s *shop) client(msisdn, name, behavior string, balance int64) {
	s.t.Helper()
	s.post("/test_clients", object{"msisdn": msisdn, "name": name, "behavior": behavior, "balance": balance})
}

// link makes a link to the console with a role.
func (s *shop) link(role string) string {
	s.t.Helper()
	return s.post("/console_links", object{"role": role})["url"].(string)
}

// exec changes the database behind the programs.
func (s *shop) exec(sql string, args ...any) {
	s.t.Helper()
	if _, err := running.SQL.Exec(s.t.Context(), sql, args...); err != nil {
		s.t.Fatal(err)
	}
}

// expect makes an expectation, as the controller does. Its lines have to stay met for settle in milliseconds.
func (s *shop) expect(settle int, name, lines string) {
	s.t.Helper()
	s.exec(`insert into expectations (tenant, uid, name, run, lines, settle_ms, deadline, since_creation)
		values ($1, gen_random_uuid(), $2, '', $3, $4, now() + interval '1 hour', false)`, s.Tenant, name, lines, settle)
}

// eventually waits for a condition of the API.
func (s *shop) eventually(what string, is func() bool) {
	s.t.Helper()
	for deadline := time.Now().Add(within); !is(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			s.t.Fatalf("%s: not after %s", what, within)
		}
	}
}

// The payers of a shop with activity.
const (
	jeanBosco = "+250788000001"
	clarisse  = "+250788000002"
	aline     = "+250788000003"
	ibrahim   = "+2250707000001"
	yao       = "+2250707000002"
)

// refusing answers 401 to the events of failed payments, and acknowledges the others.
func refusing(w http.ResponseWriter, _ *http.Request, a system.Arrival, _ <-chan struct{}) {
	if a.Status == string(payments.PINInvalid) || a.Status == string(payments.InsufficientFunds) {
		http.Error(w, `{"error":"bad signature"}`, http.StatusUnauthorized)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// busyShop makes a sandbox in which something of each kind has happened.
func busyShop(t *testing.T, change ...func(*sandboxes.Config)) *shop {
	t.Helper()
	s := newShop(t, refusing, append(change, func(c *sandboxes.Config) {
		c.Faults = []byte(`[{"name":"receiver-sees-it-twice","when":{"status":"SUCCESS","type":"collection"},"webhook":{"duplicate":2}},` +
			`{"name":"lost-answer","when":{"type":"disbursement","store":"kiosk"},"api":{"dropConnection":"AfterCommit"}}]`)
	})...)
	s.client(jeanBosco, "Jean-Bosco Habimana", "Approve", 400_000)
	s.client(clarisse, "Clarisse Uwase", "WrongPin", 80_000)
	s.client(aline, "Aline Mukamana", "Manual", 60_000)
	s.client(ibrahim, "Ibrahim Traoré", "Approve", 500_000)
	s.post("/test_clients", object{"msisdn": yao, "name": "Yao Kouassi", "state": "Blocked", "balance": 90_000})
	s.expect(0, "kivu-0767-is-paid-once", `[{"transactions":{"where":{"orderRef":"kivu-0767","type":"collection","status":"SUCCESS"},"count":1}},
		{"events":{"where":{"orderRef":"kivu-0767","event":"payment.completed"},"state":"delivered","count":1,"maxAttempts":3}}]`)
	s.expect(0, "kivu-0767-and-nothing-else", `[{"transactions":{"where":{"orderRef":"kivu-0767"},"count":"1..2"}},{"nothingElse":true}]`)
	s.expect(0, "payout-112-leaves-enough", `[{"float":{"currency":"XOF","equals":2004625}},{"refunds":{"of":"kivu-0767","total":2500}}]`)
	s.paid = s.pay("kivu-0767", jeanBosco, 12_500, object{"order_ref": "kivu-0767", "description": "Two chairs"})
	s.settled(s.paid)
	s.later("7m")
	s.pay("kivu-0768", clarisse, 4_500, object{"order_ref": "kivu-0768"})
	s.later("3m")
	s.pay("kivu-0769", jeanBosco, 900_000, object{"order_ref": "kivu-0769"}) // more than the balance
	s.pay("kivu-0770", "+250790000904", 32_000, object{"order_ref": "kivu-0770"})
	s.later("12m")
	s.pay("kivu-0771", "+250788999999", 6_000, object{"order_ref": "kivu-0771"}) // nobody's number
	s.settled(s.pay("abj-2090", ibrahim, 25_000, object{"order_ref": "abj-2090"}))
	s.pay("abj-2091", yao, 7_500, object{"order_ref": "abj-2091"})
	s.later("5m")
	s.post("/payments/"+s.paid+"/refund", object{"amount": 2_500, "reference": "refund-0767"})
	s.post("/disbursements", object{
		"amount": 20_000, "currency": "XOF", "operator": "orange", "country": "CI", "msisdn": ibrahim, "reference": "payout-112",
		"application": "shop",
	})
	s.payByMTN(jeanBosco)
	s.advance("61m")
	s.pay("kivu-0772", aline, 15_000, object{"order_ref": "kivu-0772"}) // waits for her answer
	if answer, err := s.Client.Post(s.t.Context(), "/payments", object{"amount": "2000", "msisdn": "0788"}); err != nil || answer.Status != 400 {
		t.Fatalf("a wrong request answered %d, %v", answer.Status, err)
	}
	s.eventually("an attempt for each event", func() bool {
		for _, each := range s.get("/events?limit=100")["data"].([]any) {
			if event := each.(object); event["state"] == "queued" && event["attemptCount"].(float64) == 0 {
				return false
			}
		}
		return true
	})
	return s
}

// later advances the clock, so that pictures have times that differ. Tests do not wait for it.
func (s *shop) later(by string) {
	s.t.Helper()
	if os.Getenv(folderVariable) != "" {
		s.advance(by)
	}
}

// settled waits for the outcome of a payment.
func (s *shop) settled(id string) {
	s.t.Helper()
	s.eventually("the outcome of "+id, func() bool { return s.get("/payments/" + id)["status"] != "PENDING" })
}
