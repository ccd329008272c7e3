package system

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/payments"
)

// nativeAPI is how a client pays 100 francs through an operator's own API, and asks what became of it. A request is its
// method and path, its headers, and behind an empty line its body. Words in braces are replaced.
type nativeAPI struct {
	operator   payments.Operator
	token, pay string
	taken      string // pattern of the answer that says that the payment is recorded, by this request or by an earlier one
	page       string // the payer confirms on a page
	ask        string
	pending    string // pattern of the answer before the payment has its outcome
	paid       string
}

const (
	mtnHeaders    = "\nOcp-Apim-Subscription-Key: {mtn-subscription-key}\nX-Target-Environment: mtnrwanda\nAuthorization: "
	airtelHeaders = "\nContent-Type: application/json\nX-Country: RW\nX-Currency: RWF\nAuthorization: Bearer {token}"
	orangeHeaders = "\nContent-Type: application/json\nAuthorization: Bearer {token}"
	webPay        = "POST /operators/orange/orange-money-webpay/ci/v1/"
	soapStart     = "POST /operators/moov/com.tlc.merchant.api/UssdPush\nContent-Type: text/xml; charset=utf-8\n\n<s:Envelope " +
		`xmlns:s="http://schemas.xmlsoap.org/soap/envelope/" xmlns:api="http://api.merchant.tlc.com/"><s:Body>`
	soapEnd = "</s:Body></s:Envelope>"
)

// nativeAPIs are in the order in which a [Shopper] uses them. The payers are test numbers, but for MTN.
var nativeAPIs = []nativeAPI{
	{
		payments.MTN, "POST /operators/mtn/collection/token/" + mtnHeaders + "Basic {basic}",
		"POST /operators/mtn/collection/v1_0/requesttopay" + mtnHeaders +
			"Bearer {token}\nX-Reference-Id: {reference}\nX-Callback-Url: {callbacks}/{reference}\n\n" + string(RequestToPay("{payer}")),
		"^202|RESOURCE_ALREADY_EXIST", "", "GET /operators/mtn/collection/v1_0/requesttopay/{reference}" + mtnHeaders + "Bearer {token}",
		`"status":"PENDING"`, `"status":"SUCCESSFUL"`,
	},
	{
		payments.Airtel, "POST /operators/airtel/auth/oauth2/token\nContent-Type: application/json\n\n" +
			`{"grant_type":"client_credentials","client_id":"{airtel-client-id}","client_secret":"{airtel-client-secret}"}`,
		"POST /operators/airtel/merchant/v2/payments/" + airtelHeaders + "\n\n" +
			`{"reference":"order","subscriber":{"country":"RW","currency":"RWF","msisdn":"730000901"},` +
			`"transaction":{"amount":100,"country":"RW","currency":"RWF","id":"{reference}"}}`,
		"DP00800001006|ESB000041", "", "GET /operators/airtel/standard/v1/payments/{reference}" + airtelHeaders, `"status":"TIP"`, `"status":"TS"`,
	},
	{
		payments.Orange, "POST /operators/orange/oauth/v3/token\nAuthorization: Basic {basic}\n" +
			"Content-Type: application/x-www-form-urlencoded\n\ngrant_type=client_credentials",
		webPay + "webpayment" + orangeHeaders + "\n\n" + `{"merchant_key":"{orange-merchant-key}","currency":"XOF","order_id":"{reference}","amount":100,` +
			`"return_url":"{callbacks}","cancel_url":"{callbacks}","notif_url":"{callbacks}/{reference}","lang":"fr","reference":"shop"}`,
		"^201", "POST {page}\nContent-Type: application/x-www-form-urlencoded\n\nmsisdn=0730000901&otp=123456&action=confirm",
		webPay + "transactionstatus" + orangeHeaders + "\n\n" + `{"order_id":"{reference}","amount":100,"pay_token":"{pay_token}"}`,
		`"status":"(INITIATED|PENDING)"`, `"status":"SUCCESS"`,
	},
	{
		payments.Moov, "", soapStart + "<api:{push}><token>{moov-token}</token><msisdn>2290145000901</msisdn><message>Two tickets</message>" +
			"<amount>100</amount><externaldata1>{reference}</externaldata1><externaldata2/><fee>0</fee></api:{push}>" + soapEnd,
		"<status>(0|95|100)</status>", "", soapStart + "<api:getTransactionStatus><token>{moov-token}</token><request>" +
			"<transid>{reference}</transid></request></api:getTransactionStatus>" + soapEnd,
		"<status>100</status>", "<status>0</status>",
	},
}

// payNatively pays through the operators' own APIs in turn. What an API has taken is in the API of all operators too.
func (s *Shopper) payNatively(ctx context.Context, reference string, n int) error {
	if s.Callbacks == nil {
		return nil
	}
	api := nativeAPIs[n%len(nativeAPIs)]
	credentials := operators.NativeAPI(api.operator).Derive(s.Client.key)
	words := nativeWords(credentials.Secret)
	words["basic"] = base64.StdEncoding.EncodeToString([]byte(credentials.User + ":" + credentials.UserKey))
	words["callbacks"], words["payer"] = s.Callbacks.URL, strings.TrimPrefix(s.Payers[payments.Approve], "+")
	words["push"] = []string{"Push", "PushWithPending"}[n/len(nativeAPIs)%2]
	words["reference"] = reference + "-native"
	if api.operator == payments.MTN {
		words["reference"] = operatorapi.DerivedUUID(reference, "native")
	}
	if err := s.askToPay(ctx, &api, words); err != nil {
		return fmt.Errorf("%s's own API: %w", api.operator, err)
	}
	if err := s.awaitPaid(ctx, &api, words); err != nil {
		return fmt.Errorf("%s's own API has taken %s: %w", api.operator, words["reference"], err)
	}
	return s.lookUp(ctx, words["reference"])
}

// askToPay repeats a request to pay until the operator says that it has it. An order whose answer got lost is opened
// again with another id, because nobody knows its page.
func (s *Shopper) askToPay(ctx context.Context, api *nativeAPI, words nativeWords) error {
	taken, reference := regexp.MustCompile(api.taken), words["reference"]
	for n := 2; ; n++ {
		if api.token != "" {
			answer, err := insist(ctx, "a token", func() (Answer, error) { return s.Client.native(ctx, api.token, words) })
			if err != nil {
				return err
			}
			words.learn(answer)
		}
		answer, err := s.Client.native(ctx, api.pay, words)
		lost := api.page != "" && strings.Contains(string(answer.Body), "1204")
		switch {
		case err == nil && taken.MatchString(answer.text()):
			words.learn(answer)
			return nil
		case err == nil && answer.Status/100 != 5 && !lost:
			return answer.unexpected()
		}
		if !Rest(ctx, pollEvery) {
			return fmt.Errorf("giving up on %s: %w", words["reference"], errors.Join(err, answer.unexpected()))
		}
		if lost {
			words["reference"] = fmt.Sprintf("%s-%d", reference, n)
		}
	}
}

// awaitPaid asks until the payment that an operator has taken is paid. Any other outcome is an error.
func (s *Shopper) awaitPaid(ctx context.Context, api *nativeAPI, words nativeWords) error {
	for {
		if api.page != "" {
			if _, err := s.Client.native(ctx, api.page, words); err != nil {
				Rest(ctx, pollEvery) // it is asked below, and repeated
			}
		}
		answer, err := insist(ctx, "its status", func() (Answer, error) { return s.Client.native(ctx, api.ask, words) })
		switch {
		case err != nil:
			return err
		case regexp.MustCompile(api.paid).Match(answer.Body):
			return nil
		case !regexp.MustCompile(api.pending).Match(answer.Body):
			return answer.unexpected()
		case !Rest(ctx, pollEvery):
			return fmt.Errorf("giving up on it: %w", answer.unexpected())
		}
	}
}

// lookUp remembers a paid collection of 100 francs that an operator has told of, as the API of all operators lists it.
func (s *Shopper) lookUp(ctx context.Context, reference string) error {
	answer, err := s.Client.InsistOnGet(ctx, "/payments?reference="+reference)
	if err != nil {
		return err
	}
	var listed struct{ Data []Transaction }
	if err := json.Unmarshal(answer.Body, &listed); err != nil {
		return err
	}
	if len(listed.Data) != 1 || listed.Data[0].Status != string(payments.Success) || listed.Data[0].Amount != 100 {
		return fmt.Errorf("an operator says that %s is paid; the list of payments has %s", reference, answer.Body)
	}
	s.remember(listed.Data[0])
	return nil
}

// nativeWords replace the words in braces of a request.
type nativeWords map[string]string

// learn takes the token, and the page of an order with its token, from an answer.
func (w nativeWords) learn(a Answer) {
	var said struct {
		Token    string `json:"access_token"`
		PayToken string `json:"pay_token"`
		Page     string `json:"payment_url"`
	}
	if json.Unmarshal(a.Body, &said) != nil {
		return // an answer in XML, or none
	}
	w["token"], w["pay_token"] = cmp.Or(said.Token, w["token"]), cmp.Or(said.PayToken, w["pay_token"])
	if page, err := url.Parse(said.Page); err == nil {
		w["page"] = page.RequestURI() // of whichever replica
	}
}

// native sends a request of a [nativeAPI] to the next replica.
func (c *Client) native(ctx context.Context, request string, words nativeWords) (Answer, error) {
	for word, value := range words {
		request = strings.ReplaceAll(request, "{"+word+"}", value)
	}
	head, body, _ := strings.Cut(request, "\n\n")
	lines := strings.Split(head, "\n")
	method, path, _ := strings.Cut(lines[0], " ")
	header := http.Header{}
	for _, line := range lines[1:] {
		name, value, _ := strings.Cut(line, ": ")
		header.Set(name, value)
	}
	return c.sendTo(ctx, strings.TrimSuffix(c.base(), "/v1"), method, path, []byte(body), header)
}

func (a Answer) text() string { return fmt.Sprintf("%d %s", a.Status, a.Body) }

// Callbacks is an endpoint for the callbacks of the operators' own APIs. It notes when those of each payment
// came.
type Callbacks struct {
	*httptest.Server
	mu   sync.Mutex
	came map[string][]time.Time
}

var nativeReference = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f-]{21}|[a-z]+-[0-9-]+-native(-[0-9]+)?`)

// NewCallbacks opens an endpoint.
func NewCallbacks() *Callbacks {
	c := &Callbacks{came: map[string][]time.Time{}}
	c.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		c.mu.Lock()
		defer c.mu.Unlock()
		reference := nativeReference.FindString(r.URL.Path + " " + string(body))
		c.came[reference] = append(c.came[reference], time.Now())
	}))
	return c
}

// Audit compares the callbacks with the payments that operators have told of, when all were sent: each came.
func (c *Callbacks) Audit(told map[string]Transaction) (problems []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for reference := range told {
		if nativeReference.MatchString(reference) && len(c.came[reference]) == 0 {
			problems = append(problems, "the callback of "+reference+" never came")
		}
	}
	for reference := range c.came {
		if _, known := told[reference]; !known {
			problems = append(problems, fmt.Sprintf("a callback is of %q, which nobody was told of", reference))
		}
	}
	return problems
}

// Repeated returns the payments whose callback came again, with the time at which it first came.
func (c *Callbacks) Repeated() map[string]time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	repeated := map[string]time.Time{}
	for reference, times := range c.came {
		if len(times) > 1 {
			repeated[reference] = times[0]
		}
	}
	return repeated
}
