package moov

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/syntax"
)

const (
	textXML      = "text/xml;charset=UTF-8"
	envelopeName = "http://schemas.xmlsoap.org/soap/envelope/"
	merchantName = "http://api.merchant.tlc.com/"
)

// soapCall is the operation in a SOAP envelope. Its fields are the elements without children in the operation, by their
// local names. Clients differ in prefixes, namespaces and the order of fields (ThirdParty).
type soapCall struct {
	operation string
	fields    map[string]string
}

var errNoCall = errors.New("no SOAP envelope with an operation")

// maxDepth is the maximum depth of elements: Envelope, Body, operation, request, field. maxFields is the maximum number
// of fields.
const (
	maxDepth  = 5
	maxFields = 40
)

// readCall decodes an envelope. It refuses a document type, so it knows only the entities that XML predefines.
func readCall(body []byte) (*soapCall, error) {
	in := xml.NewDecoder(bytes.NewReader(body))
	in.CharsetReader = syntax.Charset // one client declares UTF-16 but sends UTF-8 (ThirdParty)
	c := &soapCall{fields: map[string]string{}}
	var path []string
	var text strings.Builder
	for {
		token, err := in.Token()
		switch {
		case errors.Is(err, io.EOF) && c.operation != "":
			return c, nil
		case err != nil:
			return nil, errNoCall
		}
		switch t := token.(type) {
		case xml.Directive:
			return nil, errNoCall
		case xml.StartElement:
			if path = append(path, t.Name.Local); !c.enter(path) {
				return nil, errNoCall
			}
			text.Reset()
		case xml.CharData:
			text.Write(t)
		case xml.EndElement:
			if len(path) >= 4 && path[1] == "Body" {
				if value := strings.TrimSpace(text.String()); value != "" {
					c.fields[t.Name.Local] = value
				}
			}
			text.Reset()
			path = path[:len(path)-1]
		}
	}
}

// enter handles the start of the element at a path. It returns false if an envelope must not have an element there.
func (c *soapCall) enter(path []string) bool {
	switch {
	case len(path) > maxDepth, path[0] != "Envelope", len(c.fields) > maxFields:
		return false
	case len(path) != 3 || path[1] != "Body":
		return len(path) != 2 || path[1] == "Body" || path[1] == "Header"
	case c.operation != "":
		return false // a second operation
	}
	c.operation = path[2]
	return true
}

// operation is an operation of the SOAP service.
type operation struct {
	name    string
	request []string // fields
	inside  bool     // whether the fields are inside an element named request
	answer  string   // name of the element around the fields of the answer
	fields  []string // of the answer
	handle  func(context.Context, operatorapi.Sandbox, operatorapi.Environment, *soapCall) (values, bool, error)
}

// values are the values of the fields of an answer.
type values map[string]string

// The names of the operations that move money. They are stored with their transactions.
const (
	pushCall        = "Push"
	pushPendingCall = "PushWithPending"
	transferCall    = "transferFlooz"
	cashInCall      = "cashintrans"
	airtimeCall     = "airtimetrans"
)

var recording = []string{pushCall, pushPendingCall, transferCall, cashInCall, airtimeCall}

var operations = newOperations()

func newOperations() []operation {
	push := []string{"msisdn", "message", "amount", "externaldata1", "externaldata2", "fee"}
	result := []string{"description", "referenceid", "status", "transid"}
	payout := []string{"amount", "destination", "referenceid", "remarks"}
	paid := []string{"message", "referenceid", "status", "transid"}
	return []operation{
		{pushCall, push, false, "result", result, pushWith(pushCall)},
		{pushPendingCall, push, false, "result", result, pushWith(pushPendingCall)},
		{"getTransactionStatus", []string{"transid"}, true, "response", result, statusAnswer},
		{transferCall, []string{"destination", "amount", "referenceid", "walletid", "extendeddata"}, true, "return", []string{
			"message", "referenceid", "senderbalanceafter", "senderbalancebefore", "senderbonus", "senderkeycost", "status", "transactionid",
		}, payOut(transferCall)},
		{"getBalance", []string{"msisdn"}, true, "return", []string{"balance", "message", "status"}, balanceValues},
		{"getMobileAccountStatus", []string{"msisdn"}, true, "return", []string{
			"accounttype", "allowedtransfer", "city", "dateofbirth", "firstname", "lastname", "message", "msisdn", "region", "secondname", "status",
			"street", "subscriberstatus",
		}, accountValues},
		{cashInCall, payout, true, "return", paid, payOut(cashInCall)},
		{airtimeCall, payout, true, "return", paid, payOut(airtimeCall)},
	}
}

func operationNames() (names []string) {
	for _, o := range operations {
		names = append(names, o.name)
	}
	return names
}

// operationOf returns the operation that a request calls. Both results are nil if the body cannot be read. The
// operation is nil if its name is unknown.
func operationOf(body []byte) (*soapCall, *operation) {
	call, err := readCall(body)
	if err != nil {
		return nil, nil
	}
	return call, operationNamed(call.operation)
}

// operationNamed returns the operation with a name; nil for an unknown name.
func operationNamed(name string) *operation {
	for i := range operations {
		if operations[i].name == name {
			return &operations[i]
		}
	}
	return nil
}

// soap answers a request to the SOAP service.
func soap(ctx context.Context, s operatorapi.Sandbox, r *operatorapi.Request) (operatorapi.Answer, error) {
	e, err := environmentIn(s, payments.Benin)
	if err != nil {
		return operatorapi.Answer{}, err
	}
	call, o := operationOf(r.Body)
	switch {
	case call == nil:
		return operatorapi.Answer{}, unreadable(r)
	case o == nil:
		return operatorapi.Answer{}, operatorapi.Refuse(noOperation).Expect("the element in the Body", strings.Join(operationNames(), ", "))
	case r.Param("endpoint") != "UssdPush" && r.Param("endpoint") != o.name:
		return operatorapi.Answer{}, operatorapi.Refuse(operatorapi.NoRoute).Expect("path", soapPath+", or "+soapFolder+o.name)
	}
	if !slices.Contains(recording, o.name) {
		if err := s.ApplyFault(ctx); err != nil {
			return operatorapi.Answer{}, err
		}
	}
	fields, outcome, err := o.handle(ctx, s, e, call)
	if err != nil {
		return operatorapi.Answer{}, err
	}
	a := operatorapi.Answer{Status: http.StatusOK, Body: envelope(o.response(fields)), Outcome: outcome}
	if o.name == pushCall {
		a.Await = func(p *operatorapi.Payment) any { return envelope(o.response(stateOf(p))) }
	}
	return a, nil
}

// unreadable returns the refusal of a body without an operation. Its Detail says what is wrong with the body.
func unreadable(r *operatorapi.Request) *operatorapi.Refusal {
	refused := r.UnreadableXML(operatorapi.Invalid)
	if refused.Detail == "" {
		refused.Detail = "the body is not readable: it is no SOAP envelope with one operation"
	}
	return refused
}

// refuseCall returns the answer to a refused request to the SOAP service. It is the response of the operation with a
// status, or a SOAP fault (ThirdParty).
func refuseCall(r *operatorapi.Refusal, sent []byte) operatorapi.Answer {
	if r.Reason == operatorapi.NoRoute {
		return refuse(r)
	}
	refusal := refusalFor(r)
	call, o := operationOf(sent)
	switch {
	case o != nil && refusal.benin != "":
		return operatorapi.Answer{Status: refusal.http, Body: envelope(o.response(values{"status": refusal.benin, o.says(): refusal.text}))}
	case refusal.http == http.StatusOK: // the request names no known operation
		a := operatorapi.Answer{Status: http.StatusInternalServerError, Body: fault("soap:Client", "Error reading XMLStreamReader.")}
		if call == nil { // the token was not found, because the body cannot be read
			a.Reason, a.Detail = operatorapi.Invalid, unreadable(&operatorapi.Request{Body: sent}).Detail
		}
		return a
	}
	text := refusal.text
	if r.Reason == notANumber && call != nil { // in the words of Java (ThirdParty)
		text += fmt.Sprintf(": %q", call.fields["amount"])
	}
	return operatorapi.Answer{Status: refusal.http, Body: fault("soap:Server", text)}
}

// says returns the name of the field that has the text of an answer.
func (o *operation) says() string {
	if slices.Contains(o.fields, "message") {
		return "message"
	}
	return "description"
}

// response returns the response element of an operation. Clients depend on its literal prefix ns2 (ThirdParty).
func (o *operation) response(v values) string {
	var b strings.Builder
	fmt.Fprintf(&b, `<ns2:%sResponse xmlns:ns2="%s"><%s>`, o.name, merchantName, o.answer)
	for _, name := range o.fields {
		if value, given := v[name]; given {
			fmt.Fprintf(&b, "<%s>%s</%[1]s>", name, escaped(value))
		}
	}
	fmt.Fprintf(&b, "</%s></ns2:%sResponse>", o.answer, o.name)
	return b.String()
}

func fault(code, text string) operatorapi.Text {
	return envelope(fmt.Sprintf("<soap:Fault><faultcode>%s</faultcode><faultstring>%s</faultstring></soap:Fault>", code, escaped(text)))
}

func envelope(content string) operatorapi.Text {
	return operatorapi.Text{ContentType: textXML, Text: fmt.Sprintf(
		`<soap:Envelope xmlns:soap="%s"><soap:Body>%s</soap:Body></soap:Envelope>`, envelopeName, content)}
}

func escaped(text string) string {
	var b strings.Builder
	if err := xml.EscapeText(&b, []byte(text)); err != nil {
		panic(err) // writing to a builder does not fail
	}
	return b.String()
}
