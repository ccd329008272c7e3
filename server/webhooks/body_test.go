package webhooks_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/payments/paymentstest"
	"github.com/cauri-dev/cauri/server/webhooks"
)

var update = flag.Bool("update", false, "write the golden files again")

const organization = "org_06E3R1V8XQ0000000000000000"

var (
	created   = time.Date(2026, time.May, 31, 12, 0, 0, 0, time.UTC)
	completed = created.Add(1500*time.Millisecond + 999*time.Microsecond)
)

// sample is a successful collection of which the merchant bears three quarters of the commission.
func sample() *payments.Transaction {
	return &payments.Transaction{
		Details: payments.Details{
			Reference: "SHOP-PAY-20260531120000-0123456789AB", Currency: "RWF", MSISDN: "+250788000001",
		},
		ID: payments.ID{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}, Type: payments.Collection,
		Status: payments.Success, OrderRef: "order-7", Store: "shop", EnvironmentID: "env_1",
		Operator: payments.MTN, Country: payments.Rwanda, Amount: 25_000, Commission: 400, NetAmount: 24_700,
		AbsorptionPct: 75, Latency: 1500 * time.Millisecond, CreatedAt: created, CompletedAt: &completed,
	}
}

func TestBodyGolden(t *testing.T) {
	t.Parallel()
	raw := json.RawMessage(`{"_simulated": true, "status": "SUCCESSFUL", "payerMessage": "Tea & <biscuits>"}`)
	cases := map[string]struct {
		change func(*payments.Transaction)
		raw    json.RawMessage
	}{
		"collection_success": {func(*payments.Transaction) {}, raw},
		"collection_forced": {func(t *payments.Transaction) {
			description, orderURL := `Tea & <biscuits> "à emporter"`, "https://shop.example/orders?id=7&lang=fr"
			t.Description, t.OrderURL, t.URLProtected = &description, &orderURL, true
			t.Status, t.Scenario, t.Currency = payments.PINInvalid, payments.ScenarioPINInvalid, "FCFA"
		}, raw},
		"collection_failed": {func(t *payments.Transaction) {
			t.Status, t.AbsorptionPct, t.NetAmount = payments.InsufficientFunds, 0, 25_000
		}, nil},
		"collection_native_id": {func(t *payments.Transaction) { t.NativeID = "MP260531.1200.A00001" }, raw},
		"refund": {func(t *payments.Transaction) {
			parent := payments.ID{15: 9}
			t.Type, t.ParentID = payments.Refund, &parent
			t.Amount, t.Commission, t.NetAmount = 1_000_000_000_000, 0, 1_000_000_000_000
		}, raw},
		"disbursement": {func(t *payments.Transaction) {
			t.Type, t.Status = payments.Disbursement, payments.UnknownMSISDN
			t.Amount, t.Commission, t.NetAmount = 1, 0, 1
		}, raw},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			transaction := sample()
			c.change(transaction)
			got, err := webhooks.Body(organization, transaction, c.raw)
			if err != nil {
				t.Fatal(err)
			}
			golden(t, name, got)
		})
	}
}

// A field that Body leaves out would be empty in each event.
func TestEveryFieldOfAnEventHasAValue(t *testing.T) {
	t.Parallel()
	var transaction payments.Transaction
	paymentstest.Fill(&transaction, "a transaction")
	transaction.Type, transaction.Status = payments.Refund, payments.Success
	body, err := webhooks.Body(organization, &transaction, json.RawMessage(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	var values map[string]any
	if err := json.Unmarshal(body, &values); err != nil {
		t.Fatal(err)
	}
	for _, name := range webhooks.BodyFields() {
		if value := values[name]; value == nil || value == "" {
			t.Errorf("Body leaves out %s", name)
		}
	}
}

// golden compares with testdata/<name>.golden, which ends with a line break that is no part of the body.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(path, append(got, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)+"\n"); diff != "" {
		t.Errorf("body (-want +got):\n%s", diff)
	}
}

// A program writes a body again without its blank and with other escapes. The sent form follows from that, also in raw.
func TestAsSent(t *testing.T) {
	t.Parallel()
	transaction, description := sample(), "Café \"à\" 1/2 🎫\n"
	transaction.Description = &description
	for _, raw := range []string{"null", `{"_simulated":true,"note":"Café \"à\" 1/2 🎫\n","n":[1.50,"/"]}`} {
		sent, err := webhooks.Body(organization, transaction, json.RawMessage(raw))
		if err != nil {
			t.Fatal(err)
		}
		escaped := strings.NewReplacer(`, "raw"`, `,"raw"`, "é", `\u00e9`, "à", `\u00E0`, "/", `\/`, "🎫", `\ud83c\udfab`).Replace(string(sent))
		for _, again := range []string{strings.Replace(string(sent), `, "raw"`, `,"raw"`, 1), escaped} {
			if got := string(webhooks.AsSent([]byte(again))); again == string(sent) || got != string(sent) {
				t.Errorf("sent was\n%s\nand restored from\n%s\nis\n%s", sent, again, got)
			}
		}
	}
}

func TestBodyOfTheSameTransactionIsTheSame(t *testing.T) {
	t.Parallel()
	first, err := webhooks.Body(organization, sample(), nil)
	if err != nil {
		t.Fatal(err)
	}
	second, _ := webhooks.Body(organization, sample(), nil)
	if diff := cmp.Diff(first, second); diff != "" {
		t.Errorf("(-first +second):\n%s", diff)
	}
}

func TestBodyRefusesWhatIsNotOver(t *testing.T) {
	t.Parallel()
	cases := map[string]func(*payments.Transaction){
		"pending":             func(t *payments.Transaction) { t.Status, t.CompletedAt = payments.Pending, nil },
		"pending with a time": func(t *payments.Transaction) { t.Status = payments.Pending },
		"without its time":    func(t *payments.Transaction) { t.CompletedAt = nil },
	}
	for name, change := range cases {
		t.Run(name, func(t *testing.T) {
			transaction := sample()
			change(transaction)
			if body, err := webhooks.Body(organization, transaction, nil); err == nil {
				t.Errorf("built %s", body)
			}
		})
	}
}

func TestEventIDFollowsFromTheTransaction(t *testing.T) {
	t.Parallel()
	id := sample().ID
	if got, want := webhooks.EventID(id), "evt_"+id.Code(); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
