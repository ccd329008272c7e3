package moov

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/operators/operatorapi/operatorapitest"
	"github.com/cauri-dev/cauri/server/payments"
)

var countries = []operatorapi.Environment{
	{Country: payments.Benin, Currency: payments.XOF}, {Country: payments.Togo, Currency: payments.XOF},
}

func checkOrder(t *testing.T, o operatorapi.Order) {
	code := "+" + o.Country.CallingCode()
	if o.Amount < 1 || o.Amount > payments.MaxAmount || !payments.ValidMSISDN(o.MSISDN) || !strings.HasPrefix(o.MSISDN, code) ||
		o.Reference == "" || len([]rune(o.Reference)) > maxReference || o.Description != nil && len([]rune(*o.Description)) > maxText {
		t.Errorf("it is recorded: %+v", o)
	}
	paid := &payments.Transaction{
		Details: payments.Details{Reference: o.Reference}, Type: payments.Collection, Status: payments.Success,
		Amount: o.Amount,
	}
	if body := newCallback(paid, nil, operatorapi.StatusView{}).Body; !json.Valid(body) {
		t.Errorf("the callback is %s", body)
	}
}

// FuzzRequest sends any body to every call of Togo and Benin. Each call answers, or refuses as its description says.
// Every answer of SOAP is an envelope.
func FuzzRequest(f *testing.F) {
	api := NewAPI()
	for _, route := range api.Routes {
		f.Add([]byte(route.Doc.Body), route.Doc.Answer, "UssdPush")
	}
	for _, o := range operations {
		v := values{"token": exampleToken}
		for _, name := range o.request {
			v[name] = "5"
		}
		v["msisdn"], v["destination"] = "2290195000001", "0195000001"
		f.Add([]byte(requestOf(o.name, v)), newToken("0", "a", "b"), o.name)
	}
	f.Add([]byte(`<?xml version="1.0" encoding="utf-16"?><!DOCTYPE a [<!ENTITY b "c">]><Envelope><Body><Push>&b;</Push></Body></Envelope>`), "QUJD:QUJD", "")
	f.Fuzz(func(t *testing.T, body []byte, token, text string) {
		operatorapitest.CallAll(operatorapitest.Recorder{T: t, Check: checkOrder, Sent: "{}", In: countries}, api, http.Header{}, body, text)
		if user, password, ok := readToken(token); ok && (user == "" || password == "" || strings.Contains(user, ":")) {
			t.Errorf("the token %q is of %q and %q", token, user, password)
		}
		r := &http.Request{URL: &url.URL{Path: soapPath, RawQuery: text}, Header: http.Header{authorization: {token}}}
		if key := keyOf(r, func() []byte { return body }); len(key) > 2*len(body)+200 {
			t.Errorf("the key is %q", key)
		}
		for _, route := range api.Routes {
			if route.Refuse == nil {
				continue
			}
			for _, reason := range slices.Concat(api.Refusals(&route), []operatorapi.Reason{"made up"}) {
				answer := route.Refuse(operatorapi.Refuse(reason), body)
				if answer.Body != nil && !isXML(answer.Body.(operatorapi.Text).Text) {
					t.Errorf("%s is answered %+v", reason, answer)
				}
			}
		}
	})
}

func isXML(text string) bool {
	for in := xml.NewDecoder(strings.NewReader(text)); ; {
		if _, err := in.Token(); err != nil {
			return errors.Is(err, io.EOF)
		}
	}
}
