package httpapi_test

import (
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

const (
	mpesaB2C      = "/mpesa/b2c/v3/paymentrequest"
	mpesaB2C1     = "/mpesa/b2c/v1/paymentrequest"
	mpesaPochi    = "/mpesa/b2pochi/v1/paymentrequest"
	mpesaReversal = "/mpesa/reversal/v1/request"
	mpesaStatus   = "/mpesa/transactionstatus/v1/query"
	mpesaBalance  = "/mpesa/accountbalance/v1/query"
)

// credential encrypts a password for the certificate of the installation.
func (m *mpesa) credential(password string) string {
	m.f.t.Helper()
	return sealedAs(m.f.t, &credentialKey().PrivateKey.PublicKey, password, nil)
}

// initiated are the fields that all requests of an initiator have, whose result goes to a shop.
func (m *mpesa) initiated(shop string, more object) object {
	all := object{
		"Initiator": m.Secret["mpesa-initiator-name"], "SecurityCredential": m.credential(m.Secret["mpesa-initiator-password"]),
		"ResultURL": shop + "/result", "QueueTimeOutURL": shop + "/timeout", "Remarks": "remarked",
	}
	maps.Copy(all, more)
	return all
}

// payout is the body of a payout.
func (m *mpesa) payout(shop, id, msisdn string, amount any, more ...object) object {
	body := m.initiated(shop, object{
		"OriginatorConversationID": id, "CommandID": "BusinessPayment", "Amount": amount, "PartyA": m.Secret["mpesa-shortcode"],
		"PartyB": strings.TrimPrefix(msisdn, "+"), "Occassion": "",
	})
	body["InitiatorName"] = body["Initiator"]
	delete(body, "Initiator")
	for _, o := range more {
		maps.Copy(body, o)
	}
	return body
}

func (m *mpesa) reversal(shop, receipt string, amount any, more ...object) object {
	body := m.initiated(shop, object{
		"CommandID": "TransactionReversal", "TransactionID": receipt, "Amount": amount, "ReceiverParty": m.Secret["mpesa-shortcode"],
		"RecieverIdentifierType": "11",
	})
	for _, o := range more {
		maps.Copy(body, o)
	}
	return body
}

func (m *mpesa) inquiry(shop, command string, more ...object) object {
	body := m.initiated(shop, object{"CommandID": command, "PartyA": m.Secret["mpesa-shortcode"], "IdentifierType": "4"})
	for _, o := range more {
		maps.Copy(body, o)
	}
	return body
}

// ask makes a request whose result comes later, and returns what was accepted.
func (m *mpesa) ask(path string, body object) object {
	m.f.t.Helper()
	text, _ := json.Marshal(body)
	got := m.call("POST", path, string(text))
	if got.status != http.StatusOK || got.body["ResponseCode"] != "0" {
		m.f.t.Fatalf("%s is answered %d %s", path, got.status, got.raw)
	}
	return got.body
}

// refused makes a request that is refused, and returns its status, code and message.
func (m *mpesa) refused(path string, body object) string {
	m.f.t.Helper()
	text, _ := json.Marshal(body)
	got := m.call("POST", path, string(text))
	return fmt.Sprint(got.status, " ", got.body["errorCode"], " ", got.body["errorMessage"])
}

// nextResult waits for a result, and returns its text.
func nextResult(t *testing.T, came chan *http.Request) string {
	t.Helper()
	select {
	case r := <-came:
		body, _ := io.ReadAll(r.Body)
		if r.URL.Path != "/result" || r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/json;charset=UTF-8" {
			t.Errorf("%s %s came with %v", r.Method, r.URL, r.Header)
		}
		return string(body)
	case <-time.After(time.Minute):
		t.Fatal("no result came")
		return ""
	}
}

// codeOf is the code of a result, as it is written, and its text.
func codeOf(t *testing.T, result string) string {
	t.Helper()
	found := regexp.MustCompile(`"ResultCode":("?\w+"?),"ResultDesc":"([^"]+)"`).FindStringSubmatch(result)
	if found == nil {
		t.Fatalf("the result is %s", result)
	}
	return found[1] + " " + found[2]
}

// raw is what /v1 has as the operator's payload of the transaction with a reference.
func (m *mpesa) raw(reference string) (status, raw string) {
	m.f.t.Helper()
	found := m.f.page("reference=" + reference).body["data"].([]any)
	if len(found) != 1 {
		m.f.t.Fatalf("/v1 has %d transactions %s", len(found), reference)
	}
	t := found[0].(object)
	text, _ := json.Marshal(t["raw"])
	return t["status"].(string), string(text)
}

const (
	darajaForm       = `[0-9a-f]{4}(?:-[0-9a-f]{4}){2}-[0-9a-f]{12}[0-9]{4,7}`
	conversationForm = `AG_[0-9]{8}_[0-9a-f]{20}`
	mpesaReceipt     = `[A-Z][A-L][1-9A-V][0-9A-Z]{7}`
	b2cReference     = `"ReferenceData":\{"ReferenceItem":\{"Key":"QueueTimeoutURL",` +
		`"Value":"https://internalsandbox\.safaricom\.co\.ke/mpesa/b2cresults/v1/submit"\}\}`
)

// Each form of the call pays once, and its result comes once, whatever the shop answers.
func TestMPesaPayouts(t *testing.T) {
	f, m := withMPesa(t, payments.Approve)
	shop, came := shopOfCallbacks(t, http.StatusInternalServerError)
	f.runWorker()
	left := 5000
	for path, more := range map[string]object{
		mpesaB2C: {}, mpesaB2C1: {"OriginatorConversationID": nil, "Occasion": nil, "Amount": 100, "PartyB": 254712000001},
		mpesaPochi: {"CommandID": "BusinessPayToPochi", "OriginatorConversationID": nil}, mpesaPochi + "/": {"CommandID": "BusinessPayment"},
	} {
		sent := "600997_Test_" + newReference()
		accepted := m.ask(path, m.payout(shop, sent, wanjiku, "100", more))
		id, wantOwn := accepted["OriginatorConversationID"].(string), path != mpesaB2C1 && path != mpesaPochi
		if own := id == sent; own != wantOwn || !own && !regexp.MustCompile("^"+darajaForm+"$").MatchString(id) {
			t.Errorf("%s has the id %s", path, id)
		}
		if got := accepted["ResponseDescription"]; got != "Accept the service request successfully." {
			t.Errorf("%s is answered %v", path, accepted)
		}
		left -= 100
		form := `^\{"Result":\{"ResultType":0,"ResultCode":0,"ResultDesc":"The service request is processed successfully\.",` +
			`"OriginatorConversationID":"` + id + `","ConversationID":"` + accepted["ConversationID"].(string) + `","TransactionID":"(` + mpesaReceipt + `)",` +
			`"ResultParameters":\{"ResultParameter":\[\{"Key":"TransactionAmount","Value":100\},\{"Key":"TransactionReceipt","Value":"(` + mpesaReceipt + `)"\},` +
			`\{"Key":"ReceiverPartyPublicName","Value":"254712000001 - WANJIKU"\},` +
			`\{"Key":"TransactionCompletedDateTime","Value":"[0-9]{2}\.[0-9]{2}\.20[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}"\},` +
			`\{"Key":"B2CUtilityAccountAvailableFunds","Value":` + fmt.Sprint(left) + `\.00\},\{"Key":"B2CWorkingAccountAvailableFunds","Value":0\.00\},` +
			`\{"Key":"B2CRecipientIsRegisteredCustomer","Value":"Y"\},\{"Key":"B2CChargesPaidAccountAvailableFunds","Value":0\.00\}\]\},` + b2cReference + `\}\}$`
		result := nextResult(t, came)
		if found := regexp.MustCompile(form).FindStringSubmatch(result); found == nil || found[1] != found[2] {
			t.Errorf("the result of %s is %s", path, result)
		}
		t.Run("v1 says the same", func(t *testing.T) {
			found := f.call("GET", "/v1/payments?reference="+id, nil)
			want := strings.Replace(strings.TrimSuffix(strings.TrimPrefix(result, `{"Result":`), "}"), "{", `{"_simulated":true,`, 1)
			if !strings.Contains(found.raw, want) || !strings.Contains(found.raw, `"SUCCESS"`) {
				t.Errorf("/v1 says %s, and not %s", found.raw, want)
			}
		})
	}
	if n := len(came); n > 0 {
		t.Errorf("%d results came again", n)
	}
	f.conserved()
}

// The result of a failure has no parameters. /v1 has the status for each code.
func TestMPesaPayoutFailures(t *testing.T) {
	f, m := withMPesa(t, payments.Approve)
	m.client("blocked", "+254712000003", 50_000, func(c *sandboxes.TestClientConfig) { c.Blocked = true })
	shop, came := shopOfCallbacks(t, http.StatusOK)
	f.runWorker()
	for i, c := range []struct {
		msisdn       string
		amount       any
		more         object
		status, want string
	}{
		{wanjiku, 5001, nil, "INSUFFICIENT_FUNDS", "1 The balance is insufficient for the transaction."},
		{wanjiku, 9, nil, "LIMIT_EXCEEDED", "2 Declined due to limit rule."},
		{wanjiku, 250_001, nil, "LIMIT_EXCEEDED", "3 Declined due to limit rule: greater than the maximum transaction amount."},
		{"+254712999999", 9, nil, "LIMIT_EXCEEDED", "2 Declined due to limit rule."},
		{"+254712999999", 10, nil, "UNKNOWN_MSISDN", "2040 Credit Party customer type (Unregistered or Registered Customer) can't be supported by the service."},
		{"+254712000003", 10, nil, "ACCOUNT_BLOCKED", "2006 Declined due to account rule: The account status does not allow this transaction."},
		{wanjiku, 10, object{"InitiatorName": "testapi"}, "PIN_INVALID", "2001 The initiator information is invalid."},
		{wanjiku, 250_001, object{"InitiatorName": "testapi"}, "PIN_INVALID", "2001 The initiator information is invalid."},
	} {
		id := fmt.Sprint("payout-", i)
		m.ask(mpesaB2C, m.payout(shop, id, c.msisdn, c.amount, c.more))
		result := nextResult(t, came)
		form := `^\{"Result":\{"ResultType":0,"ResultCode":[0-9]+,"ResultDesc":"[^"]+","OriginatorConversationID":"` + id + `",` +
			`"ConversationID":"` + conversationForm + `","TransactionID":"` + mpesaReceipt + `",` + b2cReference + `\}\}$`
		if got := codeOf(t, result); got != c.want || !regexp.MustCompile(form).MatchString(result) || strings.Contains(result, `0000000"`) {
			t.Errorf("%d: the result is %s, want %s", i, result, c.want)
		}
		if status, raw := m.raw(id); status != c.status || !strings.Contains(raw, `"ResultDesc":"`+c.want[strings.Index(c.want, " ")+1:]) {
			t.Errorf("%d: /v1 has %s with %s, want %s", i, status, raw, c.status)
		}
	}
	if got := f.floatOf("KES"); got != 5000 {
		t.Errorf("after failures the float is %d", got)
	}
	t.Run("vague", func(t *testing.T) {
		f.config.Environments[3].Vague = true
		f.sandbox(f.config, key)
		f.follow()
		m.ask(mpesaB2C, m.payout(shop, "vague", wanjiku, 5001))
		if got := codeOf(t, nextResult(t, came)); got != "9999 The transaction failed." {
			t.Errorf("the result is %s", got)
		}
	})
	f.conserved()
}

// One of several requests with an OriginatorConversationID pays, also if they come at once.
func TestMPesaPayoutsAreMadeOnce(t *testing.T) {
	f, m := withMPesa(t, payments.Approve)
	m.bearer = m.token()
	body := m.payout("https://shop.example", "once", wanjiku, 100, object{"SecurityCredential": base64.StdEncoding.EncodeToString(make([]byte, 256))})
	text, _ := json.Marshal(body)
	var all sync.WaitGroup
	told := make(chan string, 10)
	for range cap(told) {
		all.Go(func() {
			got := m.call("POST", mpesaB2C, string(text))
			told <- fmt.Sprint(got.status, " ", got.body["errorCode"])
		})
	}
	all.Wait()
	close(told)
	counts := map[string]int{}
	for one := range told {
		counts[one]++
	}
	busy := counts["503 500.003.02"] // that have waited too long for a turn to decrypt
	if counts["200 <nil>"] != 1 || counts["500 500.002.1001"]+busy != 9 {
		t.Errorf("the answers are %v", counts)
	}
	if got := m.refused(mpesaB2C, m.payout("https://shop.example", "once", wanjiku, 50)); got != "500 500.002.1001 Duplicate OriginatorConversationID." {
		t.Errorf("a repetition is answered %s", got)
	}
	if got := f.call("POST", "/v1/disbursements", object{
		"reference": "once", "amount": 100, "currency": "KES", "msisdn": wanjiku, "operator": "mpesa", "country": "KE", "application": "shop",
	}); got.status != http.StatusConflict {
		t.Errorf("/v1 with the reference answered %d %s", got.status, got.raw)
	}
	if n := f.transactions(); n != 1 {
		t.Errorf("%d transactions were recorded", n)
	}
	f.conserved()
}

// paid makes a push that is paid, and returns its receipt.
func (m *mpesa) paid(amount int) (receipt, checkout string) {
	m.f.t.Helper()
	checkout = m.pushed(m.push("", wanjiku, amount))
	m.f.finish()
	return m.receipt(checkout), checkout
}

// receipt is the receipt of a push that was paid.
func (m *mpesa) receipt(checkout string) string {
	m.f.t.Helper()
	_, raw := m.raw(checkout)
	found := regexp.MustCompile(`"Name":"MpesaReceiptNumber","Value":"(` + mpesaReceipt + `)"`).FindStringSubmatch(raw)
	if found == nil {
		m.f.t.Fatalf("%s was not paid: %s", checkout, raw)
	}
	return found[1]
}

func TestMPesaReversals(t *testing.T) {
	f, m := withMPesa(t, payments.Approve)
	shop, came := shopOfCallbacks(t, http.StatusOK)
	receipt, checkout := m.paid(500)
	f.runWorker()
	if got := m.refused(mpesaReversal, m.reversal(shop, receipt, 200)); got != "400 400.002.02 Bad Request - Invalid Amount" {
		t.Errorf("a part is answered %s", got)
	}
	accepted := m.ask(mpesaReversal, m.reversal(shop, receipt, "500"))
	result := nextResult(t, came)
	id := accepted["OriginatorConversationID"].(string)
	form := `^\{"Result":\{"ResultType":0,"ResultCode":0,"ResultDesc":"The service request is processed successfully\.",` +
		`"OriginatorConversationID":"` + id + `","ConversationID":"` + accepted["ConversationID"].(string) + `","TransactionID":"` + mpesaReceipt + `",` +
		`"ResultParameters":\{"ResultParameter":\[\{"Key":"DebitAccountBalance","Value":"Utility Account\|KES\|[0-9]+\.00\|[0-9]+\.00\|0\.00\|0\.00"\},` +
		`\{"Key":"Amount","Value":500\.00\},\{"Key":"TransCompletedTime","Value":20[0-9]{12}\},\{"Key":"OriginalTransactionID","Value":"` + receipt + `"\},` +
		`\{"Key":"Charge","Value":0\.00\},\{"Key":"CreditPartyPublicName","Value":"254712000001 - WANJIKU"\},` +
		`\{"Key":"DebitPartyPublicName","Value":"` + m.Secret["mpesa-shortcode"] + ` - [a-z-]+"\}\]\},` +
		`"ReferenceData":\{"ReferenceItem":\{"Key":"QueueTimeoutURL",` +
		`"Value":"https://internalsandbox\.safaricom\.co\.ke/mpesa/reversalresults/v1/submit"\}\}\}\}$`
	if !regexp.MustCompile(form).MatchString(result) {
		t.Errorf("the result is %s", result)
	}
	if status, raw := m.raw(id); status != "SUCCESS" || !strings.Contains(raw, `"_simulated":true`) || !strings.Contains(raw, receipt) {
		t.Errorf("/v1 has %s with %s", status, raw)
	}
	if got := f.page("reference=" + checkout).body["data"].([]any)[0].(object); got["refundableAmount"] != 0.0 {
		t.Errorf("after the reversal the payment is %v", got)
	}
	payout := m.ask(mpesaB2C, m.payout("https://shop.example", "payout", wanjiku, 10))["OriginatorConversationID"].(string)
	_, raw := m.raw(payout)
	ofPayout := regexp.MustCompile(`"TransactionID":"(` + mpesaReceipt + `)"`).FindStringSubmatch(raw)[1]
	before := f.transactions()
	for name, c := range map[string]struct{ receipt, want string }{
		"again":              {receipt, `"R000001" The transaction has already been reversed.`},
		"an unknown payment": {"OEI2AK4Q16", `"R000002" The OriginalTransactionID is invalid.`},
		"no receipt":         {checkout, `"R000002" The OriginalTransactionID is invalid.`},
		"a payout":           {ofPayout, `"R000002" The OriginalTransactionID is invalid.`},
	} {
		m.ask(mpesaReversal, m.reversal(shop, c.receipt, 500, object{"RecieverIdentifierType": "4"}))
		result := nextResult(t, came)
		if got := codeOf(t, result); got != c.want || !regexp.MustCompile(`"TransactionID":"[A-Z]{2}[1-9A-V]0000000","ReferenceData"`).MatchString(result) {
			t.Errorf("%s: the result is %s, want %s", name, result, c.want)
		}
	}
	if n := f.transactions(); n != before {
		t.Errorf("%d refunds were recorded", n-before)
	}
	f.conserved()
}

// Of several reversals of a payment at once, one gives it back.
func TestMPesaReversalsAtOnce(t *testing.T) {
	f, m := withMPesa(t, payments.Approve)
	shop, came := shopOfCallbacks(t, http.StatusOK)
	receipt, _ := m.paid(500)
	f.runWorker()
	bodies := make([]object, 4)
	for i := range bodies {
		bodies[i] = m.reversal(shop, receipt, 500)
	}
	var all sync.WaitGroup
	for _, body := range bodies {
		all.Go(func() { m.ask(mpesaReversal, body) })
	}
	all.Wait()
	counts := map[string]int{}
	for range bodies {
		counts[codeOf(t, nextResult(t, came))]++
	}
	if counts["0 The service request is processed successfully."] != 1 || counts[`"R000001" The transaction has already been reversed.`] != 3 {
		t.Errorf("the results are %v", counts)
	}
	f.conserved()
}

func TestMPesaInquiries(t *testing.T) {
	f, m := withMPesa(t, payments.Approve)
	shop, came := shopOfCallbacks(t, http.StatusOK)
	receipt, _ := m.paid(500)
	payout := m.ask(mpesaB2C, m.payout("https://shop.example", "payout", wanjiku, 100))
	f.runWorker()
	code := m.Secret["mpesa-shortcode"]
	status := func(more object) string {
		accepted := m.ask(mpesaStatus, m.inquiry(shop, "TransactionStatusQuery", more))
		result := nextResult(t, came)
		begins := fmt.Sprintf(`{"Result":{"ConversationID":%q,"OriginatorConversationID":%q,"ReferenceData":{"ReferenceItem":{"Key":"Occasion"`,
			accepted["ConversationID"], accepted["OriginatorConversationID"])
		if !strings.HasPrefix(result, begins) || !regexp.MustCompile(`"ResultType":0,"TransactionID":"[A-Z]{2}[1-9A-V]0000000"\}\}$`).MatchString(result) {
			t.Errorf("the result is %s", result)
		}
		return result
	}
	const time14 = `"20[0-9]{12}"`
	form := `"ReferenceItem":\{"Key":"Occasion","Value":"OK"\}\},"ResultCode":0,"ResultDesc":"The service request is processed successfully\.",` +
		`"ResultParameters":\{"ResultParameter":\[\{"Key":"DebitPartyName","Value":"254712000001 - WANJIKU"\},` +
		`\{"Key":"CreditPartyName","Value":"` + code + ` - [a-z-]+"\},\{"Key":"OriginatorConversationID","Value":"` + darajaForm + `"\},` +
		`\{"Key":"InitiatedTime","Value":` + time14 + `\},\{"Key":"DebitAccountType","Value":"MMF Account For Customer"\},\{"Key":"DebitPartyCharges"\},` +
		`\{"Key":"TransactionReason"\},\{"Key":"ReasonType","Value":"Pay Bill Online"\},\{"Key":"TransactionStatus","Value":"Completed"\},` +
		`\{"Key":"FinalisedTime","Value":` + time14 + `\},\{"Key":"Amount","Value":"500"\},\{"Key":"ConversationID","Value":"` + conversationForm + `"\},` +
		`\{"Key":"ReceiptNo","Value":"` + receipt + `"\}\]\}`
	if got := status(object{"TransactionID": receipt, "Occasion": "OK"}); !regexp.MustCompile(form).MatchString(got) {
		t.Errorf("the status of a push is %s", got)
	}
	form = `"DebitPartyName","Value":"` + code + ` - [a-z-]+"\},\{"Key":"CreditPartyName","Value":"254712000001 - WANJIKU"\},` +
		`\{"Key":"OriginatorConversationID","Value":"payout"\},.*"Value":"Utility Account"\},` +
		`\{"Key":"DebitPartyCharges","Value":"Fee For B2C Payment\|KES\|0\.00"\},.*"ReasonType","Value":"Business Payment to Customer via API"` +
		`.*"ConversationID","Value":"` + payout["ConversationID"].(string) + `"`
	for _, more := range []object{
		{"TransactionID": "", "OriginalConversationID": "payout"}, {"OriginatorConversationID": "payout"}, {"TransactionID": nil, "OriginatorConversationID": "payout"},
	} {
		if got := status(more); !regexp.MustCompile(form).MatchString(got) {
			t.Errorf("the status of a payout is %s", got)
		}
	}
	for _, more := range []object{{"TransactionID": "OEI2AK4Q16"}, {"OriginalConversationID": "none"}, {"TransactionID": "payout"}} {
		if got := status(more); codeOf(t, got) != `"R000002" The OriginalTransactionID is invalid.` || strings.Contains(got, "ResultParameters") {
			t.Errorf("the status of %v is %s", more, got)
		}
	}
	if got := m.refused(mpesaStatus, m.inquiry(shop, "TransactionStatusQuery")); got != "400 400.003.02 Bad Request" {
		t.Errorf("without an id it is answered %s", got)
	}

	accepted := m.ask(mpesaBalance, m.inquiry(shop, "AccountBalance"))
	if accepted["ResponseDescription"] != "Accept the service request successfully" {
		t.Errorf("the balance query is answered %v", accepted)
	}
	float := f.floatOf("KES")
	others := `|KES|0.00|0.00|0.00|0.00&`
	balance := fmt.Sprintf(`^{"Result":{"ResultType":"0","ResultCode":"0","ResultDesc":"The service request is processed successfully",`+
		`"OriginatorConversationID":%q,"ConversationID":%q,"TransactionID":"GENERIC","ResultParameters":{"ResultParameter":[{"Key":"AccountBalance","Value":`+
		`"Working Account%[3]sFloat Account%[3]sUtility Account|KES|%[4]d.00|%[4]d.00|0.00|0.00&Charges Paid Account%[3]s`+
		`Organization Settlement Account|KES|0.00|0.00|0.00|0.00"},{"Key":"BOCompletedTime","Value":"TIME"}]},"ReferenceData":{"ReferenceItem":{`+
		`"Key":"QueueTimeoutURL","Value":"https://internalsandbox.safaricom.co.ke/mpesa/abresults/v1/submit"}}}}$`,
		accepted["OriginatorConversationID"], accepted["ConversationID"], others, float)
	balance = strings.NewReplacer("GENERIC", "[A-Z]{2}[1-9A-V]0000000", "TIME", "20[0-9]{12}", `\^`, "^", `\$`, "$").Replace(regexp.QuoteMeta(balance))
	if got := nextResult(t, came); !regexp.MustCompile(balance).MatchString(got) {
		t.Errorf("the balance is %s, want %s", got, balance)
	}

	f.config.Environments[3].Quirks = map[string]bool{"mpesaDoubledPartyName": true, "mpesaNumericBalanceCodes": true}
	f.sandbox(f.config, key)
	f.follow()
	if got := status(object{"TransactionID": receipt}); strings.Count(got, `"Key":"DebitPartyName"`) != 2 || strings.Contains(got, "CreditPartyName") {
		t.Errorf("with the quirk the status is %s", got)
	}
	m.ask(mpesaBalance, m.inquiry(shop, "AccountBalance"))
	if got := nextResult(t, came); !strings.HasPrefix(got, `{"Result":{"ResultType":0,"ResultCode":0,`) {
		t.Errorf("with the quirk the balance is %s", got)
	}
	f.conserved()
}

// floatOf is the float in a currency.
func (f *fixture) floatOf(currency string) int64 {
	f.t.Helper()
	return read[int64](f, "select balance from floats where currency = '"+currency+"' and tenant = (select tenant from organizations where name = 'checkout')")
}

// A credential for the certificate of the installation has to have the password. One for another is taken, as those are that clients
// encrypt for Safaricom's. The answer is the same for all.
func TestMPesaCredentials(t *testing.T) {
	f, m := withMPesa(t, payments.Approve)
	shop, came := shopOfCallbacks(t, http.StatusOK)
	f.runWorker()
	other, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	name, password := m.Secret["mpesa-initiator-name"], m.Secret["mpesa-initiator-password"]
	theirs := f.mpesa(otherKey).Secret
	binary := make([]byte, 60)
	for i := range binary {
		binary[i] = byte(i)
	}
	const right, wrong = "0", "2001"
	for what, c := range map[string]struct{ name, credential, want string }{
		"right":                              {name, m.credential(password), right},
		"for another certificate":            {name, sealedAs(t, &other.PublicKey, "Safaricom999!*!", nil), right},
		"not readable":                       {name, base64.StdEncoding.EncodeToString(make([]byte, 256)), right},
		"above the modulus":                  {name, base64.StdEncoding.EncodeToString([]byte(strings.Repeat("\xff", 256))), right},
		"ours, and no password":              {name, m.credential(string(binary)), right},
		"ours, and short":                    {name, m.credential("nope"), wrong},
		"ours, and nothing":                  {name, m.credential(""), wrong},
		"ours, and the end of a line":        {name, m.credential(password + "\n"), wrong},
		"ours, and not English":              {name, m.credential("mot de passe oublié"), wrong},
		"another password":                   {name, m.credential("Safaricom999!*!"), wrong},
		"another password of its length":     {name, m.credential(strings.Repeat("x", len(password))), wrong},
		"the end of it":                      {name, m.credential(password[1:]), wrong},
		"something before it":                {name, m.credential("x" + password), wrong},
		"something after it":                 {name, m.credential(password + "x"), wrong},
		"another sandbox's password":         {name, m.credential(theirs["mpesa-initiator-password"]), wrong},
		"another name":                       {"testapi", m.credential(password), wrong},
		"another name, for another":          {"testapi", sealedAs(t, &other.PublicKey, "Safaricom999!*!", nil), wrong},
		"another sandbox's name":             {theirs["mpesa-initiator-name"], m.credential(password), wrong},
		"another sandbox's, all of them":     {theirs["mpesa-initiator-name"], m.credential(theirs["mpesa-initiator-password"]), wrong},
		"another name, and another password": {"testapi", m.credential("Safaricom999!*!"), wrong},
	} {
		m.ask(mpesaB2C, m.payout(shop, newReference(), wanjiku, 10, object{"InitiatorName": c.name, "SecurityCredential": c.credential}))
		if got := codeOf(t, nextResult(t, came)); !strings.HasPrefix(got, c.want+" ") {
			t.Errorf("%s: the result is %s, want %s", what, got, c.want)
		}
	}
	for _, credential := range []any{
		"", "x", "Safaricom999!*!", password, sealedAs(t, &smallKey().PublicKey, password, nil), base64.StdEncoding.EncodeToString(make([]byte, 257)), nil,
	} {
		got := m.refused(mpesaB2C, m.payout(shop, newReference(), wanjiku, 10, object{"SecurityCredential": credential}))
		if got != "400 400.002.02 Bad Request - Invalid SecurityCredential" {
			t.Errorf("the credential %.20v is answered %s", credential, got)
		}
	}
	before := f.transactions()
	receipt, _ := m.paid(500)
	bad := object{"SecurityCredential": m.credential("Safaricom999!*!")}
	m.ask(mpesaReversal, m.reversal(shop, receipt, 500, bad))
	m.ask(mpesaStatus, m.inquiry(shop, "TransactionStatusQuery", bad, object{"TransactionID": receipt}))
	m.ask(mpesaBalance, m.inquiry(shop, "AccountBalance", bad))
	got := map[string]bool{}
	for range 3 {
		result := nextResult(t, came)
		if got[codeOf(t, result)] = true; strings.Contains(result, "ResultParameters") || strings.Contains(result, "500.00") {
			t.Errorf("the result is %s", result)
		}
	}
	if !got[`"2001" The initiator information is invalid.`] || !got[`2001 The initiator information is invalid.`] ||
		!got[`"18" Initiator Credential Check Failure`] {
		t.Errorf("the results are %v", got)
	}
	if n := f.transactions(); n != before+1 {
		t.Errorf("%d transactions were recorded", n-before)
	}
	f.conserved()
}

func TestMPesaPayoutRefusals(t *testing.T) {
	f, m := withMPesa(t, payments.Approve)
	const shop, wrong = "https://shop.example", "400 400.002.02 Bad Request - Invalid "
	payout := func(more object) object { return m.payout(shop, newReference(), wanjiku, 10, more) }
	for _, c := range []struct {
		path string
		body object
		want string
	}{
		{mpesaB2C, payout(object{"OriginatorConversationID": nil}), wrong + "OriginatorConversationID"},
		{mpesaB2C, payout(object{"OriginatorConversationID": strings.Repeat("x", 81)}), wrong + "OriginatorConversationID"},
		{mpesaB2C, payout(object{"InitiatorName": ""}), wrong + "InitiatorName"},
		{mpesaB2C, payout(object{"CommandID": "BusinessPayToPochi"}), wrong + "CommandID"},
		{mpesaPochi, payout(object{"CommandID": "BusinessPayBill"}), wrong + "CommandID"},
		{mpesaB2C, payout(object{"Amount": 0}), wrong + "Amount"},
		{mpesaB2C, payout(object{"Amount": "10.5"}), wrong + "Amount"},
		{mpesaB2C, payout(object{"PartyA": "600992"}), wrong + "PartyA"},
		{mpesaB2C, payout(object{"PartyA": f.mpesa(otherKey).Secret["mpesa-shortcode"]}), wrong + "PartyA"},
		{mpesaB2C, payout(object{"PartyB": "0712000001"}), wrong + "PartyB"},
		{mpesaB2C, payout(object{"Remarks": "x"}), wrong + "Remarks"},
		{mpesaB2C, payout(object{"Remarks": strings.Repeat("x", 101)}), wrong + "Remarks"},
		{mpesaB2C, payout(object{"ResultURL": "https://other.example/x"}), wrong + "ResultURL"},
		{mpesaB2C, payout(object{"QueueTimeOutURL": nil}), wrong + "QueueTimeOutURL"},
		{mpesaB2C, payout(object{"Occassion": strings.Repeat("x", 101)}), wrong + "Occassion"},
		{mpesaB2C1, payout(object{"Occasion": strings.Repeat("x", 101)}), wrong + "Occasion"},
		{mpesaReversal, m.reversal(shop, "", 10), wrong + "TransactionID"},
		{mpesaReversal, m.reversal(shop, "OEI2AK4Q16", 10, object{"RecieverIdentifierType": nil, "ReceiverIdentifierType": "11"}), wrong + "RecieverIdentifierType"},
		{mpesaReversal, m.reversal(shop, "OEI2AK4Q16", 10, object{"ReceiverParty": "600992"}), wrong + "ReceiverParty"},
		{mpesaReversal, m.reversal(shop, "OEI2AK4Q16", 10, object{"Initiator": nil}), wrong + "Initiator"},
		{mpesaBalance, m.inquiry(shop, "AccountBalance", object{"IdentifierType": "3"}), wrong + "IdentifierType"},
		{mpesaBalance, m.inquiry(shop, "TransactionStatusQuery"), wrong + "CommandID"},
		{mpesaStatus, m.inquiry(shop, "TransactionStatusQuery", object{"TransactionID": "OEI2AK4Q16", "IdentifierType": "x"}), "400 400.003.02 Bad Request"},
	} {
		if got := m.refused(c.path, c.body); got != c.want {
			t.Errorf("%s is answered %s, want %s", c.path, got, c.want)
		}
	}
	if got := m.call("POST", mpesaB2C, "{}", "Content-Type", "text/plain"); got.body["errorMessage"] != "Bad Request - Invalid InitiatorName" {
		t.Errorf("another content type is answered %d %s", got.status, got.raw)
	}
	for call, want := range map[string]string{
		"GET " + mpesaB2C: "405 405.001", "POST /mpesa/b2c/v2/paymentrequest": "404 404.002.01", "GET " + mpesaBalance: "405 405.001",
		"GET " + mpesaStatus: "404 404.001.04", "POST /mpesa/transactionstatus/v1": "404 404.003.01", "POST /mpesa/b2cs/v3": "404 404.001.01",
	} {
		method, path, _ := strings.Cut(call, " ")
		if got := m.call(method, path, ""); fmt.Sprint(got.status, " ", got.body["errorCode"]) != want {
			t.Errorf("%s is answered %d %s", call, got.status, got.raw)
		}
	}
	theirs := f.mpesa(otherKey)
	theirs.bearer = strings.Repeat("0", 28)
	for path, want := range map[string]string{
		mpesaB2C: "401 401.002.01", mpesaB2C1: "401 401.002.01", mpesaPochi: "401 401.002.01", mpesaBalance: "401 401.002.01",
		mpesaStatus: "400 400.003.01", mpesaReversal: "404 404.001.03", "/mpesa/b2b/v1/paymentrequest": "401 401.002.01",
		"/standingorder/v1/createStandingOrderExternal": "404 404.001.03", "/mpesa/c2b/v9/simulate": "400 400.003.01",
	} {
		if got := theirs.call("POST", path, "{}"); fmt.Sprint(got.status, " ", got.body["errorCode"]) != want {
			t.Errorf("%s with a wrong token is answered %d %s", path, got.status, got.raw)
		}
	}
	if n := f.transactions(); n != 0 {
		t.Errorf("%d transactions were recorded", n)
	}
}

// A sandbox does not find what another one has.
func TestMPesaResultsOfAnotherSandbox(t *testing.T) {
	f, m := withMPesa(t, payments.Approve)
	shop, came := shopOfCallbacks(t, http.StatusOK)
	receipt, _ := m.paid(500)
	m.ask(mpesaB2C, m.payout("https://shop.example", "payout", wanjiku, 100))
	other := f.config
	other.UID, other.Name = "22222222-2222-2222-2222-222222222222", "other"
	f.sandbox(other, otherKey)
	theirs := f.mpesa(otherKey)
	f.runWorker()
	theirs.ask(mpesaReversal, theirs.reversal(shop, receipt, 500))
	if got := codeOf(t, nextResult(t, came)); got != `"R000002" The OriginalTransactionID is invalid.` {
		t.Errorf("another sandbox reverses a payment: %s", got)
	}
	for _, more := range []object{{"TransactionID": receipt}, {"OriginalConversationID": "payout"}} {
		theirs.ask(mpesaStatus, theirs.inquiry(shop, "TransactionStatusQuery", more))
		if got := codeOf(t, nextResult(t, came)); got != `"R000002" The OriginalTransactionID is invalid.` {
			t.Errorf("another sandbox finds a transaction: %s", got)
		}
	}
	theirs.ask(mpesaB2C, theirs.payout(shop, "payout", wanjiku, 100)) // the same id
	nextResult(t, came)
	f.conserved()
}
