package operators_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/operators/adapter"
	"github.com/cauri-dev/cauri/server/payments"
)

// A payment succeeds only if the operator reports the requested amount and currency.
func TestAnotherAmountIsNoSuccess(t *testing.T) {
	mtn := func(amount, currency string) string {
		return `{"amount":"` + amount + `","currency":"` + currency + `","status":"SUCCESSFUL","financialTransactionId":"F1"}`
	}
	orange := func(amount string) string {
		return `{"status":"SUCCESS","amount":` + amount + `,"txnid":"F1","order_id":"` + requested + `"}`
	}
	moov := func(amount string) string {
		return `{"code":"0","message":"Success","refid":"F1","details":{"mrchreference":"` + requested + `","amount":"` + amount + `"}}`
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
		"moov": {payments.Moov, moov("25000"), true}, "moov less": {payments.Moov, moov("1"), false},
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

// The payload has the merchant's reference, not the id of the payment at the operator.
func TestRawHasTheMerchantsReference(t *testing.T) {
	for operator, body := range map[payments.Operator]string{
		payments.Airtel: `{"data":{"transaction":{"airtel_money_id":"F1","id":"` + requested +
			`","status":"TS"}},"status":{"response_code":"DP00800001001"}}`,
		payments.Orange: `{"status":"SUCCESS","txnid":"F1","order_id":"` + requested + `"}`,
		payments.Moov:   `{"code":"0","refid":"F1","details":{"mrchreference":"` + requested + `","amount":"25000"}}`,
	} {
		f := newFake(t, answers(http.StatusOK, body))
		got, err := f.api(operator).Ask(t.Context(), forwarded(operator))
		if err != nil || strings.Contains(string(got.Raw), requested) || !strings.Contains(string(got.Raw), `"SHOP/1"`) ||
			!strings.Contains(string(got.Raw), `"F1"`) {
			t.Errorf("%s: %s, %v", operator, got.Raw, err)
		}
	}
}

// Airtel's answer repeats the id of the request. This is not Airtel's id.
func TestAirtelsEchoIsNoID(t *testing.T) {
	f := newFake(t, answers(200, `{"data":{"transaction":{"id":"`+requested+`","status":"SUCCESS"}},"status":{"success":true}}`))
	if got, err := f.api(payments.Airtel).Collect(t.Context(), forwarded(payments.Airtel)); err != nil || got.NativeID != "" {
		t.Errorf("got %+v, %v", got, err)
	}
}

// nativeAnswer is an answer of an operator, and what it means.
type nativeAnswer struct {
	operator payments.Operator
	code     int
	body     string
	want     payments.Status // empty: an error
	id       string
	raw      string // part of the payload; empty: not checked
	reason   string // part of the error
}

func TestAnswersToAQuestion(t *testing.T) {
	mtn := func(rest string) string {
		return `{"amount":"25000","currency":"RWF","externalId":"SHOP/1",` + rest + `}`
	}
	airtel := func(status, code string) string {
		return `{"data":{"transaction":{"airtel_money_id":"CI123","id":"` + requested + `","message":"m","status":"` + status +
			`"}},"status":{"code":"200","response_code":"` + code + `","success":true}}`
	}
	orange := func(status, txnID string) string {
		return `{"status":"` + status + `","order_id":"` + requested + `","txnid":"` + txnID + `"}`
	}
	moov := func(code, text string) string {
		return `{"code":"` + code + `","message":"` + text + `","refid":"M1","details":{"mrchreference":"` + requested + `","amount":"25000"}}`
	}
	mpesa := func(code, text string) string {
		return `{"ResponseCode":"0","ResponseDescription":"x","MerchantRequestID":"M2","CheckoutRequestID":"` + checkout + `","ResultCode":` + code +
			`,"ResultDesc":"` + text + `"}`
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

		"orange success": {payments.Orange, ok, orange("SUCCESS", "MP150709.1341.A00073"), payments.Success, "MP150709.1341.A00073",
			`{"_simulated":true,"status":"SUCCESSFULL","subscriber_msisdn":"2250707000001","amount":25000,"txnid":"MP150709.1341.A00073","pay_token":"ORANGE_MP150709.1341.A00073","inittxnstatus":"200","inittxnmessage":"Ok","confirmtxnstatus":"200","confirmtxnmessage":"Transaction successfully processed","order_id":"SHOP/1"}`,
			""},
		"orange success as in older texts": {payments.Orange, 201, orange("SUCCESS", "F1"), payments.Success, "F1", "", ""},
		"orange initiated":                 {payments.Orange, ok, orange("INITIATED", ""), payments.Pending, "", "", ""},
		"orange pending":                   {payments.Orange, ok, orange("PENDING", ""), payments.Pending, "", "", ""},
		"orange expired":                   {payments.Orange, ok, orange("EXPIRED", ""), payments.Timeout, "", "", ""},
		"orange failed":                    {payments.Orange, ok, orange("FAILED", ""), payments.ServiceUnavailable, "", "", ""},
		"orange no id":                     {payments.Orange, ok, orange("SUCCESS", `a\u0000b`), payments.Success, "", "", ""},
		"orange unknown status":            {payments.Orange, ok, orange("SUCCESSFULL", ""), "", "", "", "unknown status"},
		"orange nothing":                   {payments.Orange, ok, `{"message":"Ok"}`, "", "", "", "another payment"},
		"orange another":                   {payments.Orange, ok, `{"order_id":"SHOP/2","status":"SUCCESS"}`, "", "", "", "another payment"},
		"orange unknown":                   {payments.Orange, 404, `{"code":60}`, "", "", "", "404"},
		"orange not allowed":               {payments.Orange, 403, `{"code":50}`, "", "", "", "refused the request (403, code 50)"},

		"moov success":      {payments.Moov, ok, moov("0", "Success"), payments.Success, "M1", "", ""},
		"moov pending":      {payments.Moov, ok, moov("9", "any text"), payments.Pending, "M1", "", ""},
		"moov pushed":       {payments.Moov, ok, moov("8", ""), payments.Pending, "M1", "", ""},
		"moov not enough":   {payments.Moov, ok, moov("10", "Insufficient funds"), payments.InsufficientFunds, "M1", "", ""},
		"moov cancelled":    {payments.Moov, ok, moov("100", "Cancelled by the subscriber"), payments.UserCancelled, "M1", "", ""},
		"moov failed":       {payments.Moov, ok, moov("10", "Success"), payments.ServiceUnavailable, "M1", "", ""},
		"moov credentials":  {payments.Moov, ok, moov("99", ""), "", "", "", "refused the credentials"},
		"moov unknown code": {payments.Moov, ok, moov("1234", ""), "", "", "", "unknown code"},
		"mpesa success": {payments.MPesa, ok, mpesa(`"0"`, "The service request is processed successfully."), payments.Success, checkout,
			`{"_simulated":true,"MerchantRequestID":"M1","CheckoutRequestID":"` + checkout + `","ResultCode":0,` +
				`"ResultDesc":"The service request is processed successfully.","CallbackMetadata":{"Item":[{"Name":"Amount","Value":25000.00},` +
				`{"Name":"PhoneNumber","Value":254712000001}]}}`, ""},
		"mpesa a number":        {payments.MPesa, ok, mpesa("0", "Ok"), payments.Success, checkout, "", ""},
		"mpesa pending":         {payments.MPesa, ok, mpesa(`"4999"`, "The transaction is still under processing"), payments.Pending, checkout, "", ""},
		"mpesa not enough":      {payments.MPesa, ok, mpesa(`"1"`, "x"), payments.InsufficientFunds, checkout, `{"_simulated":true,"MerchantRequestID":"M1","CheckoutRequestID":"` + checkout + `","ResultCode":1,"ResultDesc":"x"}`, ""},
		"mpesa limit":           {payments.MPesa, ok, mpesa(`"3"`, ""), payments.LimitExceeded, checkout, "", ""},
		"mpesa no answer":       {payments.MPesa, ok, mpesa(`"1037"`, "x"), payments.Timeout, checkout, "", ""},
		"mpesa expired":         {payments.MPesa, ok, mpesa(`"1019"`, "x"), payments.Timeout, checkout, "", ""},
		"mpesa cancelled":       {payments.MPesa, ok, mpesa(`"1032"`, "x"), payments.UserCancelled, checkout, "", ""},
		"mpesa wrong PIN":       {payments.MPesa, ok, mpesa(`"2001"`, "x"), payments.PINInvalid, checkout, "", ""},
		"mpesa locked":          {payments.MPesa, ok, mpesa(`"8006"`, "x"), payments.AccountBlocked, checkout, "", ""},
		"mpesa a text":          {payments.MPesa, ok, mpesa(`"E3008"`, "x"), payments.ServiceUnavailable, checkout, `{"_simulated":true,"MerchantRequestID":"M1","CheckoutRequestID":"` + checkout + `","ResultCode":"E3008","ResultDesc":"x"}`, ""},
		"mpesa no result":       {payments.MPesa, ok, mpesa(`""`, "x"), "", "", "", "without a result"},
		"mpesa an error by 200": {payments.MPesa, ok, `{"errorCode":"500.001.1001","errorMessage":""}`, "", "", "", "500.001.1001"},
		"mpesa an error by 500": {payments.MPesa, 500, `{"errorCode":"500.001.1001","errorMessage":"x"}`, "", "", "", "answered 500"},
		"mpesa success by 500":  {payments.MPesa, 500, mpesa(`"0"`, "x"), "", "", "", "answered 500"},
		"mpesa another":         {payments.MPesa, ok, strings.Replace(mpesa(`"0"`, "x"), checkout, "ws_CO_1", 1), "", "", "", "another payment"},

		"moov nobody":  {payments.Moov, ok, `{"code":"3"}`, "", "", "", "answered 200"},
		"moov another": {payments.Moov, ok, `{"code":"0","details":{"mrchreference":"SHOP/2"}}`, "", "", "", "another payment"},
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
		if err == nil || !strings.Contains(err.Error(), c.reason) {
			t.Errorf("got %+v, %v, want an error of %q", got, err, c.reason)
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

// Benin has SOAP with other statuses. Nothing is known about Côte d'Ivoire.
func TestMoovInOtherCountries(t *testing.T) {
	said := func(name, element, code, text string) string {
		return `<soap:Envelope><soap:Body><ns2:` + name + `Response><` + element + `><status>` + code + `</status><description>` + text +
			`</description><referenceid>M1</referenceid></` + element + `></ns2:` + name + `Response></soap:Body></soap:Envelope>`
	}
	benin := forwarded(payments.Moov)
	benin.Country, benin.MSISDN = payments.Benin, "+2290195000001"
	for _, c := range []struct {
		code, text string
		want       payments.Status
		reason     string
	}{
		{"0", "SUCCESS", payments.Success, ""}, {"100", "IN PENDING STATE", payments.Pending, ""}, {"10", "", payments.InsufficientFunds, ""},
		{"7", "", payments.AccountBlocked, ""}, {"13", "", payments.LimitExceeded, ""}, {"92", "USSD timeout", payments.Timeout, ""},
		{"92", "Cancelled by the subscriber", payments.UserCancelled, ""}, {"95", "Failed: wrong PIN", payments.PINInvalid, ""},
		{"95", "Reference already used", payments.DuplicateReference, ""}, {"95", "Success", payments.ServiceUnavailable, ""},
		{"99", "", payments.ServiceUnavailable, ""}, {"555", "", payments.UnknownMSISDN, ""}, {"98", "", "", "refused the credentials"},
		{"91", "", "", "refused the request (91)"}, {"94", "", "", "unknown code"},
	} {
		for name, call := range map[string]func(adapter.Client) (adapter.Answer, error){
			"PushWithPending":      func(m adapter.Client) (adapter.Answer, error) { return m.Collect(t.Context(), benin) },
			"getTransactionStatus": func(m adapter.Client) (adapter.Answer, error) { return m.Ask(t.Context(), benin) },
		} {
			f := newFake(t, answers(http.StatusOK, said(name, "result", c.code, c.text)))
			got, err := call(f.api(payments.Moov))
			nativeAnswer{want: c.want, id: "M1", reason: c.reason}.check(t, got, err)
			if sent := f.came[0]; !strings.Contains(sent, "POST /below/com.tlc.merchant.api/UssdPush") || !strings.Contains(sent, requested) ||
				!strings.Contains(sent, "<api:"+name+" ") || !strings.Contains(sent, "<token>"+moovToken+"</token>") {
				t.Errorf("%s was sent", sent)
			}
		}
	}
	for _, body := range []string{"", "<a/>", said("Push", "result", "0", "SUCCESS")} {
		f := newFake(t, answers(http.StatusOK, body))
		if got, err := f.api(payments.Moov).Ask(t.Context(), benin); err == nil {
			t.Errorf("%q is taken as %+v", body, got)
		}
	}
	ivory := forwarded(payments.Moov)
	ivory.Country = payments.CoteDIvoire
	f := newFake(t, answers(http.StatusOK, ""))
	if _, err := f.api(payments.Moov).Collect(t.Context(), ivory); !errors.As(err, new(adapter.ErrRefused)) || len(f.came) != 0 {
		t.Errorf("in Côte d'Ivoire: %v, and %v was sent", err, f.came)
	}
}

func TestAnswersToAPayment(t *testing.T) {
	const opened = `{"status":201,"message":"OK","pay_token":"P","payment_url":"https://page.example/P","notif_token":"N"}`
	simulatedID := payments.ID{1, 2, 3}.ProviderTxID()
	const paid = `{"data":{"transaction":{"id":"CI123","status":"SUCCESS"}},"status":{"code":"200","result_code":"ESB000010","response_code":"DP00800001006","success":true}}`
	failed := func(result, code string) string {
		return `{"status":{"code":"400","result_code":"` + result + `","response_code":"` + code + `","success":false}}`
	}
	const pushed = `{"MerchantRequestID":"M1","CheckoutRequestID":"` + checkout + `","ResponseCode":"0","ResponseDescription":"x","CustomerMessage":"x"}`
	mpesa := func(code string) string { return `{"requestId":"R","errorCode":"` + code + `","errorMessage":"x"}` }
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

		"orange accepted": {payments.Orange, 201, opened, payments.Pending, "",
			`{"_simulated":true,"status":"PENDING","subscriber_msisdn":"2250707000001","amount":25000,"txnid":"` + simulatedID + `","pay_token":"P",` +
				`"inittxnstatus":"200","inittxnmessage":"Ok","confirmtxnstatus":null,"confirmtxnmessage":null,"order_id":"SHOP/1",` +
				`"payment_url":"https://page.example/P","operator_order_id":"` + requested + `"}`, ""},
		"orange no page":      {payments.Orange, 201, `{"pay_token":"P","payment_url":"javascript:alert(1)"}`, "", "", "", "without a token and a page"},
		"orange no token":     {payments.Orange, 201, `{"payment_url":"https://page.example/P"}`, "", "", "", "without a token and a page"},
		"orange duplicate":    {payments.Orange, 403, `{"code":1204}`, "", "", "", "refused the request (403, code 1204)"},
		"orange merchant key": {payments.Orange, 403, `{"code":1202}`, "", "", "", "refused the request (403, code 1202)"},
		"orange refused":      {payments.Orange, 400, "", "", "", "", "refused the request (400, code 0)"},
		"orange busy":         {payments.Orange, 403, `{"code":53}`, "", "", "", "403"},
		"orange very busy":    {payments.Orange, 429, `{"code":53}`, "", "", "", "429"},
		"orange slow":         {payments.Orange, 408, `{"code":63}`, "", "", "", "408"},
		"orange down":         {payments.Orange, 503, `{"code":5}`, "", "", "", "503"},
		"orange no route":     {payments.Orange, 404, `{"code":60}`, "", "", "", "404"},

		"mpesa accepted": {payments.MPesa, 200, pushed, payments.Pending, checkout, `{"_simulated":true,"MerchantRequestID":"M1","CheckoutRequestID":"` +
			checkout + `","ResultCode":4999,"ResultDesc":"The transaction is still under processing"}`, ""},
		"mpesa wrong field":  {payments.MPesa, 400, mpesa("400.002.02"), "", "", "", `refused the request (400 "400.002.02" "x")`},
		"mpesa locked":       {payments.MPesa, 500, mpesa("500.001.1001"), "", "", "", `refused the request (500 "500.001.1001" "x")`},
		"mpesa error by 200": {payments.MPesa, 200, mpesa("500.001.1001"), "", "", "", `refused the request (200 "500.001.1001" "x")`},
		"mpesa busy":         {payments.MPesa, 500, mpesa("500.003.02"), "", "", "", "answered 500"},
		"mpesa quota":        {payments.MPesa, 500, mpesa("500.003.03"), "", "", "", "answered 500"},
		"mpesa away":         {payments.MPesa, 503, "<html>", "", "", "", "answered 503"},
		"mpesa no product":   {payments.MPesa, 401, `{"fault":{"faultstring":"Invalid API call as no apiproduct match found"}}`, "", "", "", `refused the request (401 "" "")`},

		"moov accepted":  {payments.Moov, 200, `{"code":"0","message":"Transaction is being processed","refid":"M1"}`, payments.Pending, "M1", "", ""},
		"moov duplicate": {payments.Moov, 200, `{"code":"4"}`, payments.DuplicateReference, "", "", ""},
		"moov invalid":   {payments.Moov, 200, `{"code":"3"}`, "", "", "", "refused the request (91)"},
		"moov refused":   {payments.Moov, 422, "", "", "", "", "refused the request (422)"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t, answers(c.code, c.body))
			got, err := f.api(c.operator).Collect(t.Context(), forwarded(c.operator))
			c.check(t, got, err)
			var refused adapter.ErrRefused
			if strings.HasPrefix(c.reason, "refused") != errors.As(err, &refused) {
				t.Errorf("the error is %T", err)
			}
		})
	}
}

// Airtel's answer to an enquiry has the id of the request. The id from Airtel's first answer stays.
func TestAirtelKeepsTheIDOfThePayment(t *testing.T) {
	f := newFake(t, answers(200, `{"data":{"transaction":{"id":"`+requested+`","status":"TS"}},"status":{"code":"200"}}`))
	transaction := forwarded(payments.Airtel)
	transaction.NativeID = "CI123"
	got, err := f.api(payments.Airtel).Ask(t.Context(), transaction)
	if err != nil || got.NativeID != "CI123" || !strings.Contains(string(got.Raw), `"data":{"transaction":{"id":"CI123"`) {
		t.Errorf("got %+v, %v", got, err)
	}
}

// If a worker dies before it has stored the token of an order, the id of the order is taken. The next order has a
// longer id, of at most 30 characters.
func TestOrangeOpensAnotherOrder(t *testing.T) {
	taken := map[string]bool{requested: true, requested + "-2": true}
	f := newFake(t, func(w http.ResponseWriter, r *http.Request) {
		var asked struct {
			OrderID string `json:"order_id"`
		}
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || len(asked.OrderID) > 30 || taken[asked.OrderID] {
			w.WriteHeader(http.StatusForbidden)
			_, _ = io.WriteString(w, `{"code":1204}`)
			return
		}
		taken[asked.OrderID] = true
		_, _ = io.WriteString(w, `{"pay_token":"P3","payment_url":"https://page.example/P3"}`)
	})
	got, err := f.api(payments.Orange).Collect(t.Context(), forwarded(payments.Orange))
	if err != nil || got.Status != payments.Pending || !strings.Contains(string(got.Raw), `"operator_order_id":"`+requested+`-3"`) {
		t.Errorf("got %+v %s, %v", got, got.Raw, err)
	}
}

// The payer's browser returns to the address of the merchant's order, if the payer may open it.
func TestOrangeLeadsBackToTheOrder(t *testing.T) {
	for address, c := range map[string]struct{ protected, used bool }{
		"https://shop.example/orders/1": {false, true}, "https://shop.example/orders/2": {true, false}, "myapp:order": {false, false},
	} {
		f := newFake(t, answers(http.StatusCreated, `{}`))
		transaction := forwarded(payments.Orange)
		transaction.OrderURL, transaction.URLProtected = &address, c.protected
		_, _ = f.api(payments.Orange).Collect(t.Context(), transaction)
		sent := f.came[len(f.came)-1]
		if used := strings.Contains(sent, `"return_url":"`+address+`","cancel_url":"`+address+`","notif_url":"`+f.URL+`/"`); used != c.used {
			t.Errorf("%s: %s", address, sent)
		}
	}
}

// Without a merchant key or the token of the order, the client sends nothing.
func TestOrangeNeedsAMerchantKeyAndAnOrder(t *testing.T) {
	f := newFake(t, answers(http.StatusOK, `{}`))
	access := f.access()
	access.MerchantKey = ""
	_, err := operators.NewClient(payments.Orange, access).Collect(t.Context(), forwarded(payments.Orange))
	if !errors.As(err, new(adapter.ErrRefused)) || !strings.Contains(err.Error(), "merchant_key") {
		t.Errorf("without a merchant key: %v", err)
	}
	transaction := forwarded(payments.Orange)
	transaction.NativeRaw = nil
	if _, err := f.api(payments.Orange).Ask(t.Context(), transaction); err == nil || len(f.came) != 0 {
		t.Errorf("without an order: %v, and %v was sent", err, f.came)
	}
}
