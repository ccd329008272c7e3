package operatorstest_test

import (
	"fmt"
	"net/http"

	"github.com/cauri-dev/cauri/server/payments"
)

// call is a request to an operator.
type call struct {
	method, path, body string
	header             map[string]string
}

// with returns a copy of the call with a header added or replaced.
func (c call) with(name, value string) call {
	header := map[string]string{name: value}
	for n, v := range c.header {
		if n != name {
			header[n] = v
		}
	}
	c.header = header
	return c
}

// dialect has the requests to one operator, and its answers.
type dialect struct {
	operator payments.Operator
	token    func(id, secret string) call
	pay      call // with the reference r1, or a UUID for MTN
	find     call
	again    string // path of a payment that was never made; empty if paths have no reference

	badCredentials, badToken, duplicate, unknown, unknownPath string // status and body
	pending, success                                          string // {id} is the operator's id
	accepted                                                  string
}

const uuid = "6f1f7e0e-3c1c-4a0b-9d55-0123456789ab"

var dialects = []dialect{
	{
		operator: payments.MTN,
		token: func(id, secret string) call {
			r, _ := http.NewRequest(http.MethodPost, "/", nil)
			r.SetBasicAuth(id, secret)
			return call{method: "POST", path: "/collection/token/", header: map[string]string{"Authorization": r.Header.Get("Authorization")}}
		},
		pay: call{
			method: "POST",
			path:   "/collection/v1_0/requesttopay",
			header: map[string]string{"X-Reference-Id": uuid,
				"X-Target-Environment": "sandbox"},
			body: `{"amount":"5000","currency":"RWF","externalId":"r1","payer":{"partyIdType":"MSISDN","partyId":"250788000009"},"payerMessage":"<Payment>","payeeNote":"r1"}`,
		},
		find:           call{method: "GET", path: "/collection/v1_0/requesttopay/" + uuid},
		again:          "/collection/v1_0/requesttopay/00000000-0000-4000-8000-000000000000",
		badCredentials: `401 {"error":"login_failed"}`,
		badToken:       `401 {"error":"invalid_token"}`,
		duplicate:      `409 {"code":"RESOURCE_ALREADY_EXIST","message":"there is a payment of this id already"}`,
		unknown:        `404 {"code":"RESOURCE_NOT_FOUND","message":"no such payment"}`,
		unknownPath:    `404 {"code":"RESOURCE_NOT_FOUND","message":"no such resource"}`,
		accepted:       `202 `,
		pending:        `200 {"amount":"5000","currency":"RWF","externalId":"r1","payer":{"partyIdType":"MSISDN","partyId":"250788000009"},"payerMessage":"<Payment>","payeeNote":"r1","status":"PENDING"}`,
		success:        `200 {"amount":"5000","currency":"RWF","externalId":"r1","payer":{"partyIdType":"MSISDN","partyId":"250788000009"},"payerMessage":"<Payment>","payeeNote":"r1","status":"SUCCESSFUL","financialTransactionId":"{id}"}`,
	},
	{
		operator: payments.Airtel,
		token: func(id, secret string) call {
			return call{method: "POST", path: "/auth/oauth2/token",
				body: fmt.Sprintf(`{"client_id":%q,"client_secret":%q,"grant_type":"client_credentials"}`, id, secret)}
		},
		pay: call{
			method: "POST",
			path:   "/merchant/v1/payments/",
			header: map[string]string{"X-Country": "RW", "X-Currency": "RWF"},
			body:   `{"reference":"r1","subscriber":{"country":"RW","currency":"RWF","msisdn":"250730000009"},"transaction":{"amount":5000,"country":"RW","currency":"RWF","id":"r1"}}`,
		},
		find:           call{method: "GET", path: "/standard/v1/payments/r1", header: map[string]string{"X-Country": "RW", "X-Currency": "RWF"}},
		again:          "/standard/v1/payments/r2",
		badCredentials: `401 {"error":"invalid_client","error_description":"the credentials are not valid"}`,
		badToken:       `401 {"error":"invalid_token","error_description":"the access token is {id}"}`,
		duplicate:      `400 {"status":{"code":"400","message":"there is a payment of this id already","result_code":"ESB000041","response_code":"","success":false}}`,
		unknown:        `404 {"status":{"code":"404","message":"no such payment","result_code":"ESB000045","response_code":"","success":false}}`,
		unknownPath:    `404 {"status":{"code":"404","message":"no such resource","result_code":"ESB000045","response_code":"","success":false}}`,
		accepted:       `200 {"data":{"transaction":{"id":"{id}","status":"SUCCESS"}},"status":{"code":"200","message":"SUCCESS","result_code":"ESB000010","response_code":"DP00800001006","success":true}}`,
		pending:        `200 {"data":{"transaction":{"airtel_money_id":"{id}","id":"{id}","message":"In process","status":"TIP"}},"status":{"code":"200","message":"In process","result_code":"ESB000010","response_code":"DP00800001006","success":true}}`,
		success:        `200 {"data":{"transaction":{"airtel_money_id":"{id}","id":"{id}","message":"Success","status":"TS"}},"status":{"code":"200","message":"Success","result_code":"ESB000010","response_code":"DP00800001001","success":true}}`,
	},
	{
		operator: payments.Orange,
		token: func(id, secret string) call {
			r, _ := http.NewRequest(http.MethodPost, "/", nil)
			r.SetBasicAuth(id, secret)
			return call{method: "POST", path: "/oauth/v3/token", body: "grant_type=client_credentials",
				header: map[string]string{"Authorization": r.Header.Get("Authorization")}}
		},
		pay: call{
			method: "POST", path: "/orange-money-webpay/dev/v1/webpayment",
			body: `{"merchant_key":"m","currency":"OUV","order_id":"r1","amount":5000,"return_url":"https://a","cancel_url":"https://b","notif_url":"https://c","lang":"fr","reference":"Shop"}`,
		},
		find: call{
			method: "POST", path: "/orange-money-webpay/dev/v1/transactionstatus", body: `{"order_id":"r1","amount":5000,"pay_token":"{token}"}`,
		},
		badCredentials: `401 {"error":"invalid_client","error_description":"the credentials are not valid"}`,
		badToken:       `401 {"code":42,"description":"the access token is {id}","message":"the access token is {id}"}`,
		duplicate:      `403 {"code":1204,"description":"there is a payment of this id already","message":"there is a payment of this id already"}`,
		unknown:        `404 {"code":60,"description":"no such payment","message":"no such payment"}`,
		unknownPath:    `404 {"code":60,"description":"no such resource","message":"no such resource"}`,
		accepted:       `201 {"message":"OK","notif_token":"{token:32}","pay_token":"{token}","payment_url":"https://webpayment.example/payment/pay_token/{token}","status":201}`,
		pending:        `200 {"order_id":"r1","status":"INITIATED","txnid":""}`,
		success:        `200 {"order_id":"r1","status":"SUCCESS","txnid":"{id}"}`,
	},
}
