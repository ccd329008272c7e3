package operators_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/operators/adapter"
	"github.com/cauri-dev/cauri/server/payments"
)

// fake is an operator's API of the test's own. It gives a token to everybody and keeps what came.
type fake struct {
	*httptest.Server
	mu    sync.Mutex
	came  []string // method, path, headers of interest, body
	clock time.Time
}

var ofInterest = []string{"Authorization", "X-Reference-Id", "X-Target-Environment", "Ocp-Apim-Subscription-Key", "X-Country", "X-Currency",
	"Content-Type"}

const grants = `{"access_token":"T","token":"T","expires_in":"180","expiresIn":180}`

// newFake answers everything but requests for tokens as answer says.
func newFake(t *testing.T, answer http.HandlerFunc) *fake {
	t.Helper()
	f := &fake{clock: time.Date(2026, 5, 31, 12, 0, 0, 0, time.UTC)}
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		line := r.Method + " " + r.URL.EscapedPath()
		for _, name := range ofInterest {
			if value := r.Header.Get(name); value != "" {
				line += "\n" + name + ": " + value
			}
		}
		f.mu.Lock()
		f.came = append(f.came, line+"\n"+string(body))
		f.mu.Unlock()
		if strings.Contains(r.URL.Path, "/token") {
			_, _ = io.WriteString(w, grants)
			return
		}
		answer(w, r)
	}))
	t.Cleanup(f.Close)
	return f
}

func answers(code int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
	}
}

// api is a client of the fake that does not follow redirections and is patient for a while.
func (f *fake) api(operator payments.Operator) adapter.Client {
	return operators.NewClient(operator, f.access())
}

func (f *fake) access() adapter.Access {
	return adapter.Access{
		BaseURL: f.URL + "/below/", ClientID: "id", ClientSecret: "hush", SubscriptionKey: "key",
		Tokens: adapter.NewTokens(func() time.Time { return f.clock }),
		HTTP: &http.Client{Timeout: 300 * time.Millisecond, CheckRedirect: func(*http.Request,
			[]*http.Request) error {
			return http.ErrUseLastResponse
		}},
	}
}

// requested is what Airtel, Orange and Moov know the transaction by.
var requested = payments.ID{1, 2, 3}.Code()

func forwarded(operator payments.Operator) *payments.Transaction {
	t := &payments.Transaction{
		ID: payments.ID{1, 2, 3}, Type: payments.Collection, Status: payments.Pending, Reference: "SHOP/1", Operator: operator, Amount: 25000,
	}
	switch operator {
	case payments.Orange:
		t.Country, t.Currency, t.MSISDN = "CI", "FCFA", "+2250707000001"
	case payments.Moov:
		t.Country, t.Currency, t.MSISDN = "BJ", "XOF", "+2290195000001"
	default:
		t.Country, t.Currency, t.MSISDN = "RW", "RWF", "+250788000001"
	}
	return t
}

// What is sent is what the operator documents.
func TestRequests(t *testing.T) {
	for operator, want := range map[payments.Operator][]string{
		payments.MTN: {
			"POST /below/collection/token/\nAuthorization: Basic aWQ6aHVzaA==\nX-Target-Environment: sandbox\nOcp-Apim-Subscription-Key: key\n",
			"POST /below/collection/v1_0/requesttopay\nAuthorization: Bearer T\nX-Reference-Id: <uuid>\nX-Target-Environment: sandbox\nOcp-Apim-Subscription-Key: key\nContent-Type: application/json\n" +
				`{"amount":"25000","currency":"RWF","externalId":"SHOP/1","payer":{"partyIdType":"MSISDN","partyId":"250788000001"},"payerMessage":"Payment","payeeNote":"SHOP/1"}`,
			"GET /below/collection/v1_0/requesttopay/<uuid>\nAuthorization: Bearer T\nX-Target-Environment: sandbox\nOcp-Apim-Subscription-Key: key\n",
		},
		payments.Airtel: {
			"POST /below/auth/oauth2/token\nContent-Type: application/json\n" +
				`{"client_id":"id","client_secret":"hush","grant_type":"client_credentials"}`,
			"POST /below/merchant/v1/payments/\nAuthorization: Bearer T\nX-Country: RW\nX-Currency: RWF\nContent-Type: application/json\n" +
				`{"reference":"` + requested +
				`","subscriber":{"country":"RW","currency":"RWF","msisdn":"250788000001"},"transaction":{"amount":25000,"country":"RW","currency":"RWF","id":"` + requested + `"}}`,
			"GET /below/standard/v1/payments/" + requested + "\nAuthorization: Bearer T\nX-Country: RW\nX-Currency: RWF\n",
		},
		payments.Orange: {
			"POST /below/oauth/v3/token\nAuthorization: Basic aWQ6aHVzaA==\nContent-Type: application/x-www-form-urlencoded\ngrant_type=client_credentials",
			"POST /below/omcoreapis/1.0.2/mp/pay\nAuthorization: Bearer T\nContent-Type: application/json\n" +
				`{"order_id":"` + requested + `","subscriber_msisdn":"2250707000001","amount":25000,"currency":"XOF","description":"Payment"}`,
			"GET /below/omcoreapis/1.0.2/mp/paymentstatus/" + requested + "\nAuthorization: Bearer T\n",
		},
		payments.Moov: {
			"POST /below/auth/token\nContent-Type: application/json\n" + `{"username":"id","password":"hush"}`,
			"POST /below/merchant/v1/payments\nAuthorization: Bearer T\nContent-Type: application/json\n" +
				`{"externalReference":"` + requested + `","amount":25000,"currency":"XOF","phoneNumber":"2290195000001","description":"Payment"}`,
			"GET /below/merchant/v1/payments/" + requested + "\nAuthorization: Bearer T\n",
		},
	} {
		t.Run(string(operator), func(t *testing.T) {
			f := newFake(t, answers(http.StatusAccepted, `{}`))
			api := f.api(operator)
			_, _ = api.Collect(t.Context(), forwarded(operator))
			_, _ = api.Ask(t.Context(), forwarded(operator))
			uuid := regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}`)
			var got []string
			for _, line := range f.came {
				got = append(got, strings.TrimSuffix(uuid.ReplaceAllString(line, "<uuid>"), "\n"))
			}
			for i := range want {
				want[i] = strings.TrimSuffix(want[i], "\n")
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
		})
	}
}

// A payment has one id at its operator, whoever asks and however often, and every payment another, though it has the same reference: an
// account of a merchant's serves several sandboxes, and a sandbox's references are free again after a reset.
func TestRequestHasTheTransactionsID(t *testing.T) {
	for operator, named := range map[payments.Operator]string{
		payments.MTN: "X-Reference-Id: ", payments.Airtel: `"RWF","id":"`, payments.Orange: `"order_id":"`,
		payments.Moov: `"externalReference":"`,
	} {
		t.Run(string(operator), func(t *testing.T) {
			f := newFake(t, answers(http.StatusAccepted, `{"status":{"success":true}}`))
			other := forwarded(operator)
			other.ID[15] = 9
			for _, transaction := range []*payments.Transaction{forwarded(operator), forwarded(operator), other} {
				_, _ = f.api(operator).Collect(t.Context(), transaction)
			}
			var ids []string
			for _, line := range f.came {
				if _, rest, found := strings.Cut(line, named); found {
					ids = append(ids, rest[:strings.IndexAny(rest, "\"\n")])
				}
			}
			if len(ids) != 3 || ids[0] != ids[1] || ids[1] == ids[2] || len(ids[0]) < 26 {
				t.Errorf("ids: %v", ids)
			}
		})
	}
}

// What the operator says was paid is what was asked for, or it is no success.
func TestAnotherAmountIsNoSuccess(t *testing.T) {
	mtn := func(amount, currency string) string {
		return `{"amount":"` + amount + `","currency":"` + currency + `","status":"SUCCESSFUL","financialTransactionId":"F1"}`
	}
	orange := func(amount string) string {
		return `{"data":{"status":"SUCCESSFULL","amount":` + amount + `,"txnid":"F1","order_id":"` + requested + `"}}`
	}
	moov := func(amount, currency string) string {
		return `{"responseCode":"0","transactionId":"F1","externalReference":"` + requested + `","amount":` + amount + `,"currency":"` +
			currency + `"}`
	}
	for name, c := range map[string]struct {
		operator payments.Operator
		body     string
		success  bool
	}{
		"mtn": {payments.MTN, mtn("25000", "RWF"), true}, "mtn with decimals": {payments.MTN, mtn("25000.00", "RWF"), true},
		"mtn less": {payments.MTN, mtn("24999", "RWF"), false}, "mtn a fraction more": {payments.MTN, mtn("25000.5", "RWF"), false},
		"mtn another currency": {payments.MTN, mtn("25000", "EUR"), false}, "mtn nothing": {payments.MTN,
			`{"status":"SUCCESSFUL","financialTransactionId":"F1"}`, false},
		"mtn much text": {payments.MTN, mtn(strings.Repeat("9", 1000), "RWF"), false},
		"orange":        {payments.Orange, orange("25000"), true}, "orange more": {payments.Orange, orange("250000"), false},
		"moov": {payments.Moov, moov("25000", "XOF"), true}, "moov less": {payments.Moov, moov("1", "XOF"), false},
		"moov another currency": {payments.Moov, moov("25000", "XAF"), false},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t, answers(http.StatusOK, c.body))
			got, err := f.api(c.operator).Ask(t.Context(), forwarded(c.operator))
			if err != nil || got.NativeID != "F1" || len(got.Raw) > 1000 {
				t.Fatalf("got %+v, %v", got, err)
			}
			told := strings.Contains(string(got.Raw), "the operator says that") && strings.Contains(string(got.Raw), "not 25000")
			if success := got.Status == payments.Success; success != c.success || told == c.success || !success &&
				got.Status != payments.ServiceUnavailable {
				t.Errorf("got %s: %s", got.Status, got.Raw)
			}
		})
	}
}

// The merchant sees its own reference, whatever the operator knows the payment by.
func TestRawHasTheMerchantsReference(t *testing.T) {
	for operator, body := range map[payments.Operator]string{
		payments.Airtel: `{"data":{"transaction":{"airtel_money_id":"F1","id":"` + requested +
			`","status":"TS"}},"status":{"response_code":"DP00800001001"}}`,
		payments.Orange: `{"data":{"status":"SUCCESSFULL","amount":25000,"txnid":"F1","order_id":"` + requested + `"}}`,
		payments.Moov:   `{"responseCode":"0","transactionId":"F1","externalReference":"` + requested + `","amount":25000,"currency":"XOF"}`,
	} {
		f := newFake(t, answers(http.StatusOK, body))
		got, err := f.api(operator).Ask(t.Context(), forwarded(operator))
		if err != nil || strings.Contains(string(got.Raw), requested) || !strings.Contains(string(got.Raw), `"SHOP/1"`) ||
			!strings.Contains(string(got.Raw), `"F1"`) {
			t.Errorf("%s: %s, %v", operator, got.Raw, err)
		}
	}
}

// Airtel repeats the caller's id, which is none of its own.
func TestAirtelsEchoIsNoID(t *testing.T) {
	f := newFake(t, answers(200, `{"data":{"transaction":{"id":"`+requested+`","status":"SUCCESS"}},"status":{"success":true}}`))
	if got, err := f.api(payments.Airtel).Collect(t.Context(), forwarded(payments.Airtel)); err != nil || got.NativeID != "" {
		t.Errorf("got %+v, %v", got, err)
	}
}

// nativeAnswer is an answer of an operator's and what it means.
type nativeAnswer struct {
	operator payments.Operator
	code     int
	body     string
	want     payments.Status // empty: an error
	id       string
	raw      string // empty: not looked at
	why      string // of the error
}

func TestAnswersToAQuestion(t *testing.T) {
	mtn := func(rest string) string {
		return `{"amount":"25000","currency":"RWF","externalId":"SHOP/1",` + rest + `}`
	}
	airtel := func(status, code string) string {
		return `{"data":{"transaction":{"airtel_money_id":"CI123","id":"` + requested + `","message":"m","status":"` + status +
			`"}},"status":{"code":"200","response_code":"` + code + `","success":true}}`
	}
	orange := func(status, text string) string {
		return `{"message":"Ok","data":{"status":"` + status + `","amount":25000,"txnid":"MP150709.1341.A00073","order_id":"` + requested +
			`","confirmtxnmessage":"` + text + `"}}`
	}
	moov := func(code, text string) string {
		return `{"responseCode":"` + code + `","responseMessage":"` + text + `","transactionId":"M1","externalReference":"` + requested +
			`","amount":25000,"currency":"XOF"}`
	}
	const ok = http.StatusOK
	for name, c := range map[string]nativeAnswer{
		"mtn success": {payments.MTN, ok,
			mtn(`"payer":{"partyIdType":"MSISDN","partyId":"250788000001"},"status":"SUCCESSFUL","financialTransactionId":"363440463"`),
			payments.Success, "363440463",
			`{"_simulated":true,"amount":"25000","currency":"RWF","externalId":"SHOP/1","payer":{"partyIdType":"MSISDN","partyId":"250788000001"},"payerMessage":"","payeeNote":"","status":"SUCCESSFUL","financialTransactionId":"363440463"}`, ""},
		"mtn pending": {payments.MTN, ok, mtn(`"status":"PENDING"`), payments.Pending, "", "", ""},
		"mtn not enough": {payments.MTN, ok, mtn(`"status":"FAILED","reason":"NOT_ENOUGH_FUNDS"`), payments.InsufficientFunds, "", "",
			""},
		"mtn reason is an object": {payments.MTN, ok, mtn(`"status":"FAILED","reason":{"code":"PAYER_NOT_FOUND","message":"x"}`),
			payments.UnknownMSISDN, "", "", ""},
		"mtn expired": {payments.MTN, ok, mtn(`"status":"FAILED","reason":"EXPIRED"`), payments.Timeout, "", "", ""},
		"mtn not active": {payments.MTN, ok, mtn(`"status":"FAILED","reason":"SENDER_ACCOUNT_NOT_ACTIVE"`), payments.AccountBlocked, "",
			"", ""},
		"mtn rejected": {payments.MTN, ok, mtn(`"status":"FAILED","reason":"APPROVAL_REJECTED"`), payments.UserCancelled, "", "", ""},
		"mtn limit": {payments.MTN, ok, mtn(`"status":"FAILED","reason":"PAYER_LIMIT_REACHED"`), payments.LimitExceeded, "", "",
			""},
		"mtn another reason": {payments.MTN, ok, mtn(`"status":"FAILED","reason":"INTERNAL_PROCESSING_ERROR"`), payments.ServiceUnavailable,
			"", "", ""},
		"mtn no reason":      {payments.MTN, ok, mtn(`"status":"FAILED"`), payments.ServiceUnavailable, "", "", ""},
		"mtn unknown status": {payments.MTN, ok, mtn(`"status":"MAYBE"`), "", "", "", "unknown status"},
		"mtn id that is none": {payments.MTN, ok, mtn(`"status":"SUCCESSFUL","financialTransactionId":"a\u0000b"`), payments.Success, "", "",
			""},
		"mtn unknown payment": {payments.MTN, 404, `{"code":"RESOURCE_NOT_FOUND"}`, "", "", "", "404"},

		"airtel success":        {payments.Airtel, ok, airtel("TS", "DP00800001001"), payments.Success, "CI123", "", ""},
		"airtel in progress":    {payments.Airtel, ok, airtel("TIP", "DP00800001006"), payments.Pending, "CI123", "", ""},
		"airtel ambiguous":      {payments.Airtel, ok, airtel("TA", "DP00800001000"), payments.Pending, "CI123", "", ""},
		"airtel expired":        {payments.Airtel, ok, airtel("TE", "DP00800001029"), payments.Timeout, "CI123", "", ""},
		"airtel wrong PIN":      {payments.Airtel, ok, airtel("TF", "DP00800001002"), payments.PINInvalid, "CI123", "", ""},
		"airtel limit":          {payments.Airtel, ok, airtel("TF", "DP00800001003"), payments.LimitExceeded, "CI123", "", ""},
		"airtel no PIN":         {payments.Airtel, ok, airtel("TF", "DP00800001005"), payments.UserCancelled, "CI123", "", ""},
		"airtel not enough":     {payments.Airtel, ok, airtel("TF", "DP00800001007"), payments.InsufficientFunds, "CI123", "", ""},
		"airtel refused":        {payments.Airtel, ok, airtel("TF", "DP00800001008"), payments.UserCancelled, "CI123", "", ""},
		"airtel not allowed":    {payments.Airtel, ok, airtel("TF", "DP00800001010"), payments.AccountBlocked, "CI123", "", ""},
		"airtel bad number":     {payments.Airtel, ok, airtel("TF", "DP00800001012"), payments.UnknownMSISDN, "CI123", "", ""},
		"airtel timed out":      {payments.Airtel, ok, airtel("TF", "DP00800001024"), payments.Timeout, "CI123", "", ""},
		"airtel another code":   {payments.Airtel, ok, airtel("TF", "DP00800001999"), payments.ServiceUnavailable, "CI123", "", ""},
		"airtel unknown":        {payments.Airtel, 404, `{"status":{"result_code":"ESB000045"}}`, "", "", "", "ESB000045"},
		"airtel unknown status": {payments.Airtel, ok, airtel("T?", ""), "", "", "", "unknown status"},

		"orange success": {payments.Orange, ok, orange("SUCCESSFULL", "Ok"), payments.Success, "MP150709.1341.A00073", "", ""},
		"orange pending": {payments.Orange, ok, orange("PENDING", ""), payments.Pending, "MP150709.1341.A00073", "", ""},
		"orange expired": {payments.Orange, ok, orange("EXPIRED", ""), payments.Timeout, "MP150709.1341.A00073", "", ""},
		"orange not enough": {payments.Orange, ok, orange("FAILED", "Le solde du compte du payeur est insuffisant"), payments.InsufficientFunds,
			"MP150709.1341.A00073", "", ""},
		"orange nobody": {payments.Orange, ok, orange("FAILED", "Beneficiaire introuvable"), payments.UnknownMSISDN, "MP150709.1341.A00073",
			"", ""},
		"orange blocked": {payments.Orange, ok, orange("FAILED", "Utilisateur bloque"), payments.AccountBlocked, "MP150709.1341.A00073", "",
			""},
		"orange another text": {payments.Orange, ok, orange("FAILED", "Erreur"), payments.ServiceUnavailable, "MP150709.1341.A00073", "", ""},
		"orange no data":      {payments.Orange, ok, `{"message":"Ok"}`, "", "", "", "another payment"},
		"orange another":      {payments.Orange, ok, `{"data":{"order_id":"SHOP/2","status":"SUCCESSFULL"}}`, "", "", "", "another payment"},
		"orange unknown":      {payments.Orange, 404, `{}`, "", "", "", "404"},

		"moov success":      {payments.Moov, ok, moov("0", "Success"), payments.Success, "M1", "", ""},
		"moov pending":      {payments.Moov, ok, moov("100", "any text"), payments.Pending, "M1", "", ""},
		"moov not enough":   {payments.Moov, ok, moov("51", ""), payments.InsufficientFunds, "M1", "", ""},
		"moov locked":       {payments.Moov, ok, moov("7", ""), payments.AccountBlocked, "M1", "", ""},
		"moov maximum":      {payments.Moov, ok, moov("13", ""), payments.LimitExceeded, "M1", "", ""},
		"moov timeout":      {payments.Moov, ok, moov("92", "USSD timeout"), payments.Timeout, "M1", "", ""},
		"moov cancelled":    {payments.Moov, ok, moov("92", "Cancelled by the subscriber"), payments.UserCancelled, "M1", "", ""},
		"moov wrong PIN":    {payments.Moov, ok, moov("95", "Failed: wrong PIN"), payments.PINInvalid, "M1", "", ""},
		"moov failed":       {payments.Moov, ok, moov("95", "Failed"), payments.ServiceUnavailable, "M1", "", ""},
		"moov internal":     {payments.Moov, ok, moov("99", ""), payments.ServiceUnavailable, "M1", "", ""},
		"moov nobody":       {payments.Moov, ok, moov("555", ""), payments.UnknownMSISDN, "M1", "", ""},
		"moov credentials":  {payments.Moov, ok, moov("98", ""), "", "", "", "refused the credentials"},
		"moov unknown code": {payments.Moov, ok, moov("1234", ""), "", "", "", "unknown code"},
		"moov another":      {payments.Moov, ok, `{"responseCode":"0","externalReference":"SHOP/2"}`, "", "", "", "another payment"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t, answers(c.code, c.body))
			got, err := f.api(c.operator).Ask(t.Context(), forwarded(c.operator))
			c.check(t, got, err)
		})
	}
}

func (c nativeAnswer) check(t *testing.T, got adapter.Answer, err error) {
	t.Helper()
	if c.want == "" {
		if err == nil || !strings.Contains(err.Error(), c.why) {
			t.Errorf("got %+v, %v, want an error of %q", got, err, c.why)
		}
		return
	}
	if err != nil || got.Status != c.want || got.NativeID != c.id {
		t.Errorf("got %s %q, %v, want %s %q", got.Status, got.NativeID, err, c.want, c.id)
	}
	if c.raw != "" && string(got.Raw) != c.raw {
		t.Errorf("raw %s, want %s", got.Raw, c.raw)
	}
	if got.Raw != nil && (!json.Valid(got.Raw) || !strings.HasPrefix(string(got.Raw), `{"_simulated":true,`)) {
		t.Errorf("raw %s", got.Raw)
	}
}

func TestAnswersToAPayment(t *testing.T) {
	const paid = `{"data":{"transaction":{"id":"CI123","status":"SUCCESS"}},"status":{"code":"200","result_code":"ESB000010","response_code":"DP00800001006","success":true}}`
	failed := func(result, code string) string {
		return `{"status":{"code":"400","result_code":"` + result + `","response_code":"` + code + `","success":false}}`
	}
	for name, c := range map[string]nativeAnswer{
		"mtn accepted":  {payments.MTN, 202, "", payments.Pending, "", "", ""},
		"mtn duplicate": {payments.MTN, 409, `{"code":"RESOURCE_ALREADY_EXIST"}`, payments.DuplicateReference, "", "", ""},
		"mtn nobody":    {payments.MTN, 404, `{"code":"PAYER_NOT_FOUND"}`, payments.UnknownMSISDN, "", "", ""},
		"mtn refused":   {payments.MTN, 400, "", "", "", "", "refused the request (400 )"},
		"mtn busy":      {payments.MTN, 429, "", "", "", "", "429"},
		"mtn down":      {payments.MTN, 500, `{"code":"INVALID_CURRENCY"}`, "", "", "", "500"},

		"airtel accepted":  {payments.Airtel, 200, paid, payments.Pending, "CI123", "", ""},
		"airtel duplicate": {payments.Airtel, 400, failed("ESB000041", ""), payments.DuplicateReference, "", "", ""},
		"airtel funds":     {payments.Airtel, 200, failed("ESB000010", "DP00800001007"), payments.InsufficientFunds, "", "", ""},
		"airtel refused":   {payments.Airtel, 400, failed("ESB000008", ""), "", "", "", "refused the request (ESB000008 )"},
		"airtel down":      {payments.Airtel, 503, "", "", "", "", "503"},

		"orange accepted": {payments.Orange, 200, `{"data":{"order_id":"` + requested + `","status":"PENDING","txnid":"MP1"}}`, payments.Pending,
			"MP1", "", ""},
		"orange duplicate": {payments.Orange, 409, "", payments.DuplicateReference, "", "", ""},
		"orange refused":   {payments.Orange, 400, "", "", "", "", "refused the request (400)"},

		"moov accepted": {payments.Moov, 200, `{"responseCode":"100","externalReference":"` + requested + `","transactionId":"M1"}`,
			payments.Pending, "M1", "", ""},
		"moov paid": {payments.Moov, 200, `{"responseCode":"0","externalReference":"` + requested +
			`","transactionId":"M1","amount":25000,"currency":"XOF"}`, payments.Success, "M1", "", ""},
		"moov duplicate": {payments.Moov, 409, "", payments.DuplicateReference, "", "", ""},
		"moov refused":   {payments.Moov, 422, "", "", "", "", "refused the request (422)"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t, answers(c.code, c.body))
			got, err := f.api(c.operator).Collect(t.Context(), forwarded(c.operator))
			c.check(t, got, err)
			var refused adapter.ErrRefused
			if strings.HasPrefix(c.why, "refused") != errors.As(err, &refused) {
				t.Errorf("the error is %T", err)
			}
		})
	}
}

// Airtel's enquiry answers with the caller's id; the one that it gave at the payment stays.
func TestAirtelKeepsTheIDOfThePayment(t *testing.T) {
	f := newFake(t, answers(200, `{"data":{"transaction":{"id":"`+requested+`","status":"TS"}},"status":{"code":"200"}}`))
	transaction := forwarded(payments.Airtel)
	transaction.NativeID = "CI123"
	got, err := f.api(payments.Airtel).Ask(t.Context(), transaction)
	if err != nil || got.NativeID != "CI123" || !strings.Contains(string(got.Raw), `"data":{"transaction":{"id":"CI123"`) {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestHostileOperators(t *testing.T) {
	endless := strings.Repeat("x", 1<<20)
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		why    string
	}{
		"hangs":      {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, "did not answer in time"},
		"drips":      {func(w http.ResponseWriter, r *http.Request) { drip(w, r) }, "did not answer in time"},
		"breaks off": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "cannot be reached"},
		"lies": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, "{")
		}, "broke off"},
		"talks a lot": {answers(200, `{"a":"`+endless+`"}`), "too long"},
		"garbage":     {answers(200, "<html>"), "cannot be read"},
		"a list":      {answers(200, "[]"), "cannot be read"},
		"another way": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://169.254.169.254/", http.StatusFound)
		}, "302"},
	} {
		for _, operator := range payments.Operators {
			t.Run(name+" "+string(operator), func(t *testing.T) {
				t.Parallel()
				f := newFake(t, c.answer)
				_, err := f.api(operator).Ask(t.Context(), forwarded(operator))
				if err == nil || !strings.Contains(err.Error(), c.why) && !(name == "another way" && strings.Contains(err.Error(), "cannot be read")) {
					t.Errorf("got %v, want %q", err, c.why)
				}
				if err != nil && (strings.Contains(err.Error(), "hush") || strings.Contains(err.Error(), "/below")) {
					t.Errorf("the error shows too much: %v", err)
				}
			})
		}
	}
}

// drip answers one byte after another, for ever.
func drip(w http.ResponseWriter, r *http.Request) {
	for r.Context().Err() == nil {
		_, _ = io.WriteString(w, " ")
		_ = http.NewResponseController(w).Flush()
		select {
		case <-r.Context().Done():
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func TestTokensThatAreNotGiven(t *testing.T) {
	for name, c := range map[string]struct {
		code    int
		body    string
		why     string
		refused bool
	}{
		"refused":     {401, "{}", "refused the credentials", true},
		"forbidden":   {403, "", "refused the credentials", true},
		"bad request": {400, `{"error":"invalid_client"}`, "refused the credentials", true},
		"down":        {500, "", "answered 500", false},
		"garbage":     {200, "ok", "cannot be read", false},
		"no token":    {200, "{}", "without a token", false},
		"a bad time":  {200, `{"access_token":"T","token":"T","expires_in":"soon","expiresIn":{}}`, "cannot be read", false},
	} {
		for _, operator := range payments.Operators {
			t.Run(name+" "+string(operator), func(t *testing.T) {
				server := httptest.NewServer(answers(c.code, c.body))
				defer server.Close()
				access := adapter.Access{BaseURL: server.URL, HTTP: server.Client(), ClientSecret: "hush", Tokens: adapter.NewTokens(time.Now)}
				_, err := operators.NewClient(operator, access).Collect(t.Context(), forwarded(operator))
				var refused adapter.ErrRefused
				if err == nil || !strings.Contains(err.Error(), c.why) || errors.As(err, &refused) != c.refused {
					t.Errorf("got %T %v, want %q", err, err, c.why)
				}
			})
		}
	}
}

func TestTokenIsKeptAsLongAsItIsValid(t *testing.T) {
	f := newFake(t, answers(202, ""))
	access := f.access()
	tokens := func() (n int) {
		for _, line := range f.came {
			n += strings.Count(line, "/token")
		}
		return n
	}
	ask := func(a adapter.Access, want int, when string) {
		t.Helper()
		if _, err := operators.NewClient(payments.MTN, a).Collect(t.Context(), forwarded(payments.MTN)); err != nil {
			t.Fatal(err)
		}
		if got := tokens(); got != want {
			t.Errorf("%s: %d tokens were asked for, want %d", when, got, want)
		}
	}
	ask(access, 1, "first")
	ask(access, 1, "again")
	f.clock = f.clock.Add(161 * time.Second)
	ask(access, 1, "before nine tenths of its time are over")
	f.clock = f.clock.Add(2 * time.Second)
	ask(access, 2, "after that")
	other := access
	other.ClientSecret = "other"
	ask(other, 3, "with other credentials")
	ask(access, 3, "with the first ones")
}

func TestTokenThatTheOperatorForgot(t *testing.T) {
	refuse := 1
	f := newFake(t, func(w http.ResponseWriter, _ *http.Request) {
		if refuse--; refuse >= 0 {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.WriteHeader(http.StatusAccepted)
	})
	if got, err := f.api(payments.MTN).Collect(t.Context(), forwarded(payments.MTN)); err != nil || got.Status != payments.Pending {
		t.Errorf("got %+v, %v", got, err)
	}
	if len(f.came) != 4 {
		t.Errorf("came: %v", f.came)
	}
}

func TestUnavailable(t *testing.T) {
	const why = `it "was" away`
	for _, operator := range payments.Operators {
		raw := operators.Unavailable(forwarded(operator), why)
		text, _ := json.Marshal(why)
		if !json.Valid(raw) || !strings.HasPrefix(string(raw), `{"_simulated":true,`) || !strings.Contains(string(raw), string(text)) {
			t.Errorf("%s: %s", operator, raw)
		}
	}
	if operators.Unavailable(forwarded("wave"), why) != nil || operators.NewClient("wave", adapter.Access{}) != nil {
		t.Error("there is an operator that does not exist")
	}
}

func TestOperatorThatIsAskedUnderAnEndedContext(t *testing.T) {
	f := newFake(t, answers(202, ""))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := f.api(payments.MTN).Collect(ctx, forwarded(payments.MTN)); err == nil {
		t.Error("no error")
	}
	bad := f.access()
	bad.BaseURL = "http://[broken"
	_, err := operators.NewClient(payments.MTN, bad).Collect(t.Context(), forwarded(payments.MTN))
	if refused := new(adapter.ErrRefused); !errors.As(err, refused) || fmt.Sprint(err) != "the base URL of the operator's API cannot be read" {
		t.Errorf("got %v", err)
	}
}
