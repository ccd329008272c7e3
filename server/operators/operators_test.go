package operators_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/payments"
)

var update = flag.Bool("update", false, "write the golden files again")

var types = []payments.Type{payments.Collection, payments.Refund, payments.Disbursement}

var (
	created   = time.Date(2026, time.May, 31, 12, 0, 0, 0, time.UTC)
	completed = created.Add(1500 * time.Millisecond)
)

// sample returns a collection of an operator with a status.
func sample(op payments.Operator, status payments.Status) *payments.Transaction {
	description := `Tea & <biscuits> "à emporter"`
	t := &payments.Transaction{
		Details: payments.Details{Reference: "SHOP-PAY-20260531120000-0123456789AB", Description: &description},
		ID:      payments.ID{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16},
		Type:    payments.Collection, Status: status, Operator: op, Amount: 25_000,
		CreatedAt: created,
	}
	if status.Terminal() {
		t.CompletedAt = &completed
	}
	switch op {
	case payments.MTN:
		t.Country, t.Currency, t.MSISDN = payments.Rwanda, "RWF", "+250788000001"
	case payments.Orange:
		t.Country, t.Currency, t.MSISDN = payments.CoteDIvoire, "XOF", "+2250707000001"
	case payments.Moov:
		t.Country, t.Currency, t.MSISDN = payments.Benin, "FCFA", "+2290195000001"
	case payments.Airtel:
		t.Country, t.Currency, t.MSISDN = payments.Rwanda, "RWF", "+250730000001"
	case payments.MPesa:
		t.Country, t.Currency, t.MSISDN = "KE", "KES", "+254712000001"
	}
	return t
}

func TestRawGolden(t *testing.T) {
	t.Parallel()
	for _, op := range payments.Operators {
		t.Run(string(op), func(t *testing.T) {
			t.Parallel()
			var got strings.Builder
			for _, typ := range types {
				for _, status := range payments.Statuses {
					tx := sample(op, status)
					tx.Type = typ
					fmt.Fprintf(&got, "# %s %s\n%s\n", typ, status, operators.Raw(tx))
				}
			}
			compareGolden(t, filepath.Join("testdata", string(op)+".golden"), got.String())
		})
	}
}

func compareGolden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("payloads differ from %s (-want +got); run with -update if that is meant:\n%s", path, diff)
	}
}

func TestRawSpecialCases(t *testing.T) {
	t.Parallel()
	empty := ""
	tests := map[string]struct {
		op     payments.Operator
		status payments.Status
		change func(*payments.Transaction)
		want   string // part of the payload
	}{
		"mtn without a description": {
			op: payments.MTN, status: payments.Success,
			change: func(tx *payments.Transaction) { tx.Description = nil },
			want:   `"payerMessage":"Payment"`,
		},
		"mtn with an empty description": {
			op: payments.MTN, status: payments.Success,
			change: func(tx *payments.Transaction) { tx.Description = &empty },
			want:   `"payerMessage":"Payment"`,
		},
		"mtn in everyday currency": {
			op: payments.MTN, status: payments.Success,
			change: func(tx *payments.Transaction) { tx.Currency = "cfa" },
			want:   `"currency":"XOF"`,
		},
		"mtn with the id of a forwarded transaction": {
			op: payments.MTN, status: payments.Success,
			change: func(tx *payments.Transaction) { tx.NativeID = "1234567890" },
			want:   `"financialTransactionId":"1234567890"`,
		},
		"moov pending since its creation": {
			op: payments.Moov, status: payments.Pending,
			change: func(*payments.Transaction) {},
			want:   `"timestamp":"2026-05-31T12:00:00Z"`,
		},
		"moov completed, in UTC": {
			op: payments.Moov, status: payments.Success,
			change: func(tx *payments.Transaction) {
				at := completed.In(time.FixedZone("Porto-Novo", 3600))
				tx.CompletedAt = &at
			},
			want: `"timestamp":"2026-05-31T12:00:01Z"`,
		},
		"airtel with the largest amount": {
			op: payments.Airtel, status: payments.Success,
			change: func(tx *payments.Transaction) { tx.Amount = payments.MaxAmount },
			want:   `"transaction":{"amount":1000000000000,`,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tx := sample(tt.op, tt.status)
			tt.change(tx)
			if raw := operators.Raw(tx); !bytes.Contains(raw, []byte(tt.want)) {
				t.Errorf("Raw() = %s, want it to contain %s", raw, tt.want)
			}
		})
	}
}

func TestRawKeepsNativeAnswer(t *testing.T) {
	t.Parallel()
	tx := sample(payments.Airtel, payments.Success)
	tx.NativeRaw = json.RawMessage(`{ "as": "answered" }`)
	if diff := cmp.Diff(`{ "as": "answered" }`, string(operators.Raw(tx))); diff != "" {
		t.Errorf("Raw() of a forwarded transaction (-want +got):\n%s", diff)
	}
}

// A payment of MTN's own API has its texts as they were sent, even if they are empty.
func TestRawRepeatsARequestOfMTN(t *testing.T) {
	t.Parallel()
	tx := sample(payments.MTN, payments.Success)
	tx.NativeCall = "requesttopay"
	for sent, want := range map[string]string{
		`{"externalId":"order-1042","payerMessage":"Two tickets","payeeNote":"shop"}`: `"payerMessage":"Two tickets","payeeNote":"shop"`,
		`{"externalId":"","payerMessage":"","payeeNote":""}`:                          `"payerMessage":"","payeeNote":""`,
		``: `"payeeNote":"` + tx.Reference + `"`, // the request is no longer kept
	} {
		tx.NativeSent = json.RawMessage(sent)
		if raw := operators.Raw(tx); !bytes.Contains(raw, []byte(want)) {
			t.Errorf("Raw() = %s, want it to contain %s", raw, want)
		}
	}
}

func TestRawOfUnknownOperator(t *testing.T) {
	t.Parallel()
	encoded, err := json.Marshal(operators.Raw(sample("nosuch", payments.Success)))
	if err != nil || string(encoded) != "null" {
		t.Errorf("Raw() of an unknown operator is %s, %v in JSON, want null", encoded, err)
	}
}

// fields has the paths of the fields that the payloads of all operators have.
type fields struct{ amount, msisdn, reference []string }

var fieldsOf = map[payments.Operator]fields{
	payments.Orange: {[]string{"amount"}, []string{"subscriber_msisdn"}, []string{"order_id"}},
	payments.Moov:   {[]string{"amount"}, []string{"phoneNumber"}, []string{"externalReference"}},
	payments.Airtel: {[]string{"transaction", "amount"}, []string{"subscriber", "msisdn"}, []string{"reference"}},
}

func mtnFields(typ payments.Type) fields {
	party := "payee"
	if typ == payments.Collection {
		party = "payer"
	}
	return fields{[]string{"amount"}, []string{party, "partyId"}, []string{"externalId"}}
}

// TestRawProperties checks properties of all payloads, for many random transactions.
func TestRawProperties(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(2026, 5))
	for range 5000 {
		tx := randomTransaction(random)
		if tx.Operator == payments.MPesa { // a failed one has neither amount nor number, see TestRawOfMPesa
			continue
		}
		raw := operators.Raw(tx)
		if !bytes.HasPrefix(raw, []byte(`{"_simulated":true,`)) {
			t.Fatalf("%s does not begin with the mark of a simulated payload", raw)
		}
		if again := operators.Raw(tx); !bytes.Equal(raw, again) {
			t.Fatalf("the same transaction gave %s and %s", raw, again)
		}
		where := fieldsOf[tx.Operator]
		if tx.Operator == payments.MTN {
			where = mtnFields(tx.Type)
		}
		got := map[string]string{
			"amount":    field(t, raw, where.amount),
			"msisdn":    "+" + field(t, raw, where.msisdn),
			"reference": field(t, raw, where.reference),
		}
		want := map[string]string{
			"amount":    strconv.FormatInt(tx.Amount, 10),
			"msisdn":    tx.MSISDN,
			"reference": tx.Reference,
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%s of a %s (-want +got):\n%s", raw, tx.Type, diff)
		}
	}
}

// A payload of M-Pesa has the amount and the number only of a collection that was paid, and is the result of a payout.
func TestRawOfMPesa(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(2026, 6))
	for range 2000 {
		tx := randomTransaction(random)
		tx.Operator = payments.MPesa
		raw := operators.Raw(tx)
		if !bytes.HasPrefix(raw, []byte(`{"_simulated":true,`)) || !json.Valid(raw) || !bytes.Equal(raw, operators.Raw(tx)) {
			t.Fatalf("the payload is %s", raw)
		}
		if tx.Type != payments.Collection {
			if got := field(t, raw, []string{"OriginatorConversationID"}); got != tx.Reference {
				t.Fatalf("the reference %q is %q in %s", tx.Reference, got, raw)
			}
			continue
		}
		amount := fmt.Sprintf(`{"Name":"Amount","Value":%d.00}`, tx.Amount)
		number := `{"Name":"PhoneNumber","Value":` + tx.MSISDN[1:] + `}`
		paid := tx.Status == payments.Success
		if bytes.Contains(raw, []byte(amount)) != paid || bytes.Contains(raw, []byte(number)) != paid ||
			bytes.Contains(raw, []byte("CallbackMetadata")) != paid {
			t.Fatalf("the payload of %s is %s", tx.Status, raw)
		}
	}
}

func randomTransaction(random *rand.Rand) *payments.Transaction {
	op := payments.Operators[random.IntN(len(payments.Operators))]
	tx := sample(op, payments.Statuses[random.IntN(len(payments.Statuses))])
	for i := range tx.ID {
		tx.ID[i] = byte(random.Uint32())
	}
	tx.Type = types[random.IntN(len(types))]
	tx.Amount = 1 + random.Int64N(payments.MaxAmount)
	tx.MSISDN = "+" + strconv.Itoa(1_000_000+random.IntN(1<<40))
	tx.Reference = randomText(random)
	description := randomText(random)
	tx.Description = &description
	return tx
}

// randomText returns a text of characters that are special in JSON or HTML, or that careless code handles wrongly.
func randomText(random *rand.Rand) string {
	const alphabet = "aZ09 \"\\/<>&'\u0001\n\t\u2028é€😀"
	runes := []rune(alphabet)
	text := make([]rune, random.IntN(80))
	for i := range text {
		text[i] = runes[random.IntN(len(runes))]
	}
	return string(text)
}

// field returns the text of the field at a path: a JSON string or a number.
func field(t *testing.T, raw json.RawMessage, path []string) string {
	t.Helper()
	for _, key := range path {
		var object map[string]json.RawMessage
		if err := json.Unmarshal(raw, &object); err != nil {
			t.Fatalf("reading %s of %s: %v", key, raw, err)
		}
		raw = object[key]
	}
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return string(raw)
	}
	return text
}

func ExampleRaw() {
	fmt.Println(string(operators.Raw(&payments.Transaction{
		Details: payments.Details{Reference: "SHOP-PAY-1", Currency: "RWF", MSISDN: "+250788000001"},
		Type:    payments.Collection, Status: payments.InsufficientFunds, Operator: payments.MTN,
		Amount: 25_000,
	})))
	// Output:
	// {"_simulated":true,"amount":"25000","currency":"RWF","externalId":"SHOP-PAY-1","payer":{"partyIdType":"MSISDN","partyId":"250788000001"},"payerMessage":"Payment","payeeNote":"SHOP-PAY-1","status":"FAILED","reason":"NOT_ENOUGH_FUNDS"}
}

func BenchmarkRaw(b *testing.B) {
	for _, op := range payments.Operators {
		b.Run(string(op), func(b *testing.B) {
			tx := sample(op, payments.Success)
			b.ReportAllocs()
			for b.Loop() {
				operators.Raw(tx)
			}
		})
	}
}
