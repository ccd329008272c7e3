package rules

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"

	"github.com/cauri-dev/cauri/test/conformance/suite"
)

// nativeRules are the rules about the operators' own APIs, which are an optional part of the service. MTN's stands for them.
func nativeRules() []suite.Rule {
	return []suite.Rule{
		{ID: "native/token", Check: nativeToken,
			Text: "the credentials that follow from the API key get a token of MTN's API for an hour"},
		{ID: "native/pay", Check: nativePay,
			Text: "a request to pay is accepted without a body, ends SUCCESSFUL, and is listed by /v1 with the source native"},
		{ID: "native/duplicate", Check: nativeDuplicate,
			Text: "a reference that is taken, by MTN's API or by /v1, is MTN's 409, and no second payment"},
		{ID: "native/callback", Check: nativeCallback,
			Text: "a callback is the event operator.callback beside its payment's, is attempted once, and is sent again by resend"},
		{ID: "native/credentials", Check: nativeCredentials,
			Text: "a wrong subscription key, user or token is refused in MTN's form"},
	}
}

// nativeCaller calls MTN's API.
type nativeCaller struct {
	c                *suite.Check
	key, user, token string // the last two as the header Authorization
	callback         string // URL; empty: none is asked for
}

// newNativeCaller has the credentials of MTN's API, which follow from the API key, and no token yet.
func newNativeCaller(c *suite.Check) *nativeCaller {
	needsCapability(c, "native_apis")
	c.NeedsSIM(suite.Payer)
	derived := func(purpose string) []byte {
		mac := hmac.New(sha256.New, []byte(c.Client.Key))
		mac.Write([]byte("cauri mtn " + purpose))
		return mac.Sum(nil)[:16]
	}
	user := derived("api user")
	userKey := hex.EncodeToString(derived("api key"))
	return &nativeCaller{c: c, key: hex.EncodeToString(derived("subscription key")), user: basic(uuid4(user), userKey)}
}

// uuid4 makes a UUID of version 4 of 16 bytes.
func uuid4(b []byte) string {
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

func basic(user, password string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
}

func newNativeReference() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return uuid4(b[:])
}

// call makes a call. The form of its answer is the operator's.
func (n *nativeCaller) call(method, path, authorization string, body any, reference string) suite.Answer {
	return n.c.Send(n.request(method, path, authorization, body, reference))
}

func (n *nativeCaller) request(method, path, authorization string, body any, reference string) suite.Request {
	return suite.Request{
		Method: method, Base: n.c.Client.Root + "/operators/mtn", Path: path, Body: body, Foreign: true,
		Header: map[string]string{
			"Ocp-Apim-Subscription-Key": n.key, "X-Target-Environment": "mtnrwanda", "Authorization": authorization, "X-Reference-Id": reference,
			"X-Callback-Url": n.callback,
		},
	}
}

func (n *nativeCaller) askToken() suite.Answer {
	return n.call("POST", "/collection/token/", n.user, nil, "")
}

const nativePayPath = "/collection/v1_0/requesttopay"

// pay asks the SIM "payer" for money.
func (n *nativeCaller) pay(reference string) suite.Answer {
	if n.token == "" {
		n.token = "Bearer " + suite.TextOf(n.c.Expect(n.askToken(), http.StatusOK), "access_token")
	}
	return n.call("POST", nativePayPath, n.token, n.order(suite.Payer, "1000"), reference)
}

// order is the body of a request to a SIM to pay an amount.
func (n *nativeCaller) order(payer suite.SimCard, amount string) suite.Object {
	return suite.Object{
		"amount": amount, "currency": "RWF", "externalId": "order-" + n.c.Unique(), "payerMessage": "Two tickets", "payeeNote": "shop",
		"payer": suite.Object{"partyIdType": "MSISDN", "partyId": strings.TrimPrefix(payer.MSISDN, "+")},
	}
}

// accepted ends the check if the answer is not MTN's to a good request.
func (n *nativeCaller) accepted(a suite.Answer) {
	if a.Status != http.StatusAccepted || len(a.Body) > 0 {
		n.c.Fail("%s, want 202 without a body", a)
	}
}

func nativeToken(c *suite.Check) {
	n := newNativeCaller(c)
	c.Fields("the token", c.Expect(n.askToken(), http.StatusOK), suite.Object{
		"access_token": suite.AnyText, "token_type": "access_token", "expires_in": 3600,
	})
}

func nativePay(c *suite.Check) {
	n, reference := newNativeCaller(c), newNativeReference()
	n.accepted(n.pay(reference))
	c.Eventually(func() (problem string) {
		status := c.Expect(n.call("GET", nativePayPath+"/"+reference, n.token, nil, ""), http.StatusOK)
		if status["status"] == "PENDING" {
			return fmt.Sprintf("the request stays PENDING: %v", status)
		}
		c.Fields("the status", status, suite.Object{
			"status": "SUCCESSFUL", "amount": "1000", "currency": "RWF", "financialTransactionId": suite.AnyText,
		})
		return ""
	})
	n.listed(reference)
}

// listed is the one payment with the reference in the list of /v1.
func (n *nativeCaller) listed(reference string) suite.Object {
	items := n.c.Items(n.c.Expect(n.c.Get("/payments?reference="+reference), http.StatusOK))
	if len(items) != 1 {
		n.c.Fail("/v1 lists %d payments with the reference %s, want 1", len(items), reference)
	}
	n.c.Fields("the payment in /v1", items[0], suite.Object{
		"reference": reference, "source": "native", "operator": "mtn", "amount": 1000, "msisdn": suite.Payer.MSISDN,
	})
	return items[0]
}

func nativeDuplicate(c *suite.Check) {
	n, reference := newNativeCaller(c), newNativeReference()
	n.accepted(n.pay(reference))
	taken := newNativeReference()
	c.Pay(suite.MtnRW, suite.Object{"reference": taken})
	for _, again := range []string{reference, strings.ToUpper(reference), taken} {
		c.Fields("the answer to a taken reference", c.Expect(n.pay(again), http.StatusConflict), suite.Object{"code": "RESOURCE_ALREADY_EXIST"})
	}
	c.Refused(c.Post("/payments", c.Collection(suite.MtnRW, suite.Object{"reference": reference})), http.StatusConflict, "duplicate_reference")
	n.listed(reference)
}

// nowhere is where nothing listens, and where a service may refuse to send anything.
const nowhere = "http://127.0.0.1:1/callback"

func nativeCallback(c *suite.Check) {
	n, reference := newNativeCaller(c), newNativeReference()
	n.callback = nowhere
	n.accepted(n.pay(reference))
	tx := suite.TextOf(n.listed(reference), "id")
	own := "/events?event=operator.callback&tx_id=" + tx
	attempted := func(times int) (event suite.Object) {
		c.Eventually(func() (problem string) {
			items := c.Items(c.Expect(c.Get(own), http.StatusOK))
			if len(items) != 1 || fmt.Sprint(items[0]["attemptCount"]) != fmt.Sprint(times) {
				return fmt.Sprintf("the callbacks are %v, want one with %d attempts", items, times)
			}
			event = items[0]
			return ""
		})
		return event
	}
	event := attempted(1)
	c.Fields("the callback", event, suite.Object{
		"event": "operator.callback", "txId": tx, "status": "SUCCESS", "state": "failed", "nextAttemptAt": nil, "lastError": suite.AnyText,
	})
	id := suite.TextOf(event, "id")
	detail := c.Expect(c.Get(eventPath(id)), http.StatusOK)
	c.Fields("the callback", detail, suite.Object{"method": "POST", "url": nowhere, "body": suite.AnyText})
	payload, _ := detail["payload"].(suite.Object)
	c.Fields("the payload of the callback", payload, suite.Object{"status": "SUCCESSFUL", "amount": "1000"})
	for _, item := range c.Items(c.Expect(c.Get("/events?event=payment.completed&tx_id="+tx), http.StatusOK)) {
		if item["id"] == id {
			c.Problem("the event of the payment has the id of the callback, %s", id)
		}
	}
	c.Expect(c.Post(eventPath(id)+"/resend", nil), http.StatusAccepted)
	attempted(2)
	if again := c.Expect(c.Get(eventPath(id)), http.StatusOK); again["body"] != detail["body"] {
		c.Problem("sent again, the callback is %v; first it was %v", again["body"], detail["body"])
	}
}

func nativeCredentials(c *suite.Check) {
	n := newNativeCaller(c)
	wrong := *n
	wrong.key = "wrong"
	c.Fields("a wrong key", c.Expect(wrong.askToken(), http.StatusUnauthorized), suite.Object{"statusCode": 401, "message": suite.AnyText})
	wrong = *n
	wrong.user = basic(newNativeReference(), "wrong")
	c.Fields("a wrong user", c.Expect(wrong.askToken(), http.StatusUnauthorized), suite.Object{"error": "login_failed"})
	wrong = *n
	wrong.token = "Bearer wrong"
	c.Fields("a wrong token", c.Expect(wrong.pay(newNativeReference()), http.StatusUnauthorized), suite.Object{"error": "invalid_token"})
}
