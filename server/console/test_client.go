package console

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/cauri-dev/cauri/server/httpfront"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// clientForm is the form of a test client. Its fields have the names of the API, except for number and market.
type clientForm struct {
	tryForm
	client *handset // nil: a new one
}

// behaviorsInOrder are the behaviors that a form offers, in its order.
var behaviorsInOrder = []payments.Behavior{payments.Manual, payments.Approve, payments.Cancel, payments.WrongPIN, payments.Ignore}

// mayChangeClients reports whether the session may change test clients, and the sandbox allows it.
func (v *visit) mayChangeClients() bool { return v.may(full) && v.who.Sandbox.API.TestClients }

// newClient shows the form of a new test client, filled in from the query.
func (c *Console) newClient(v *visit) (page, error) {
	f := &clientForm{tryForm: tryForm{set: v.request.URL.Query(), known: v.who.Sandbox.Known}}
	f.orElse("behavior", string(payments.Manual))
	return f.page(v), nil
}

// addClient sends the request of the form.
func (c *Console) addClient(v *visit) (httpfront.Answer, error) {
	f := &clientForm{tryForm: tryForm{set: v.request.PostForm, known: v.who.Sandbox.Known}}
	r := requestCode{path: "/api/v1/test_clients"}
	r.add("msisdn", f.msisdn())
	r.add("name", strings.TrimSpace(f.set.Get("name")))
	if market, chosen := f.market(); chosen {
		r.add("operator", string(market.Operator))
		r.add("country", string(market.Country))
	}
	r.add("balance", amountToSend(f.set.Get("balance")))
	r.add("behavior", f.set.Get("behavior"))
	return c.sendClient(v, f, http.MethodPost, r)
}

// client shows the form of a test client. For one of a resource, it shows how to change the resource.
func (c *Console) client(v *visit) (page, error) {
	h, err := c.findHandset(v)
	if err != nil {
		return page{}, err
	}
	state := "Active"
	if h.Blocked {
		state = "Blocked"
	}
	set := url.Values{"name": {h.Name}, "behavior": {string(h.Behavior)}, "state": {state}}
	for _, field := range changeable {
		set.Set("shown-"+field, set.Get(field))
	}
	return (&clientForm{tryForm{set: set, known: v.who.Sandbox.Known}, h}).page(v), nil
}

// changeable are the fields of a form that shows what a test client has.
var changeable = []string{"name", "state", "behavior"}

// changeClient sends the request of the form: the fields that a person changed, since others may have changed the rest
// after the form was shown. The name may be empty, and a balance that is left out stays.
func (c *Console) changeClient(v *visit) (httpfront.Answer, error) {
	f, err := c.sentForm(v)
	if err != nil {
		return httpfront.Answer{}, err
	}
	r := requestCode{path: "/api/v1/test_clients/" + f.client.MSISDN}
	for _, field := range changeable {
		value := strings.TrimSpace(f.set.Get(field))
		shown := f.set["shown-"+field]
		if unchanged := shown != nil && shown[0] == value; !unchanged && (value != "" || field == "name") {
			r.fields = append(r.fields, requestField{field, value})
		}
	}
	r.add("balance", amountToSend(f.set.Get("balance")))
	if len(r.fields) == 0 {
		return c.toPhone(v, f.client.MSISDN)
	}
	return c.sendClient(v, f, http.MethodPatch, r)
}

// deleteClient deletes the test client.
func (c *Console) deleteClient(v *visit) (httpfront.Answer, error) {
	f, err := c.sentForm(v)
	if err != nil {
		return httpfront.Answer{}, err
	}
	return c.sendClient(v, f, http.MethodDelete, requestCode{path: "/api/v1/test_clients/" + f.client.MSISDN})
}

// sentForm returns the form that was sent, with the phone in the path.
func (c *Console) sentForm(v *visit) (*clientForm, error) {
	f := &clientForm{tryForm: tryForm{set: v.request.PostForm, known: v.who.Sandbox.Known}}
	return f, c.renewing(v, func() (err error) {
		f.client, err = c.findHandset(v)
		return err
	})
}

// sendClient sends a request. After a success it redirects to the phone. Otherwise it shows the form again, with what
// is wrong.
func (c *Console) sendClient(v *visit, f *clientForm, method string, r requestCode) (httpfront.Answer, error) {
	f.sent = c.send(v, method, r)
	switch {
	case !f.sent.succeeded():
		f.readAnswer()
		return c.again(v, f.sent.pageStatus(), f.page(v), f.sent.answer.Error)
	case method == http.MethodDelete:
		return v.goTo("/handsets"), nil
	case f.client != nil:
		return c.toPhone(v, f.client.MSISDN)
	}
	return c.toPhone(v, f.msisdn())
}

// toPhone redirects to the page of phones that has this phone: the first page, or one that begins shortly before its
// number.
func (c *Console) toPhone(v *visit, msisdn string) (httpfront.Answer, error) {
	query := url.Values{}
	err := c.renewing(v, func() error {
		first, err := c.Ledger.ListTestClients(v.ctx(), v.who.Sandbox.Tenant, ledger.TestClientFilter{}, "", handsetsOnPage)
		if len(first) == handsetsOnPage && first[len(first)-1].MSISDN < msisdn {
			query.Set("after", msisdn[:len(msisdn)-1])
		}
		return err
	})
	return v.goTo(pathWith("/handsets", query) + "#phone-" + msisdn[1:]), err
}

func (f *clientForm) page(v *visit) page {
	if f.client == nil {
		return page{title: v.Text("Add a test client"), body: newClientPage(v, f)}
	}
	return page{title: f.client.called(), body: clientPage(v, f)}
}

// problem returns why nothing was changed, and the language of this text. Both are empty if the text of a field already
// says it.
func (f *clientForm) problem(v *visit) (text, language string) {
	a := f.sent
	switch {
	case a == nil || len(a.answer.Detail.FieldErrors) > 0 || fieldsOfCodes[a.answer.Error] != "":
		return "", ""
	case a.status == 0:
		return v.Text("The connection was closed without an answer.") + " " + v.Text("Look at the phones before you send it again."), v.Tag
	case a.answer.Message != "":
		return a.answer.Message, "en"
	}
	return v.Text("Refused with %s.", fmt.Sprint(a.status)), v.Tag
}

// ofResource reports whether only a resource of the cluster changes the test client.
func (h *handset) ofResource() bool { return h.Source == sandboxes.SourceResource }

// clientPath returns the address of the form that changes the test client.
func (h *handset) clientPath() string { return "/handsets/" + h.MSISDN + "/change" }

// patchCommand returns the command that changes the behavior of the test client's resource.
func (h *handset) patchCommand(v *visit) string {
	behavior := payments.Manual
	if h.Behavior == behavior {
		behavior = payments.Approve
	}
	if v.dev {
		return "spec:\n  behavior: " + string(behavior)
	}
	return "kubectl -n " + v.namespace + " patch testclient " + h.Name +
		` --type=merge -p '{"spec":{"behavior":"` + string(behavior) + `"}}'`
}

// deniedText says that the sandbox does not allow it, and how its owner can.
func deniedText(v *visit) string {
	if v.dev {
		return v.Text("This sandbox does not let the console add or change test clients. Write `testClients: true` under `api` in `spec` of its file, and start `cauri dev` again; with `--watch`, save the file.")
	}
	return v.Text("This sandbox does not let the console add or change test clients: its owner allows it with `spec.api.testClients`.")
}

// balanceHint returns the hint for the field of the balance. It says what an empty field means.
func (f *clientForm) balanceHint(v *visit) string {
	if f.client == nil {
		return v.Text("In the currency of its country. Empty: 0.")
	}
	return v.Text("%s now. Empty: it stays.", v.Money(string(f.client.Currency()), f.client.Balance))
}

// action returns the address to which the form is sent.
func (f *clientForm) action() string {
	if f.client == nil {
		return "/handsets/new"
	}
	return f.client.clientPath()
}

// submitText returns the text of the button.
func (f *clientForm) submitText(v *visit) string {
	if f.client == nil {
		return v.Text("Add the test client")
	}
	return v.Text("Change the test client")
}

// chosen reports whether the form has this value in a field.
func (f *clientForm) chosen(field, value string) bool { return f.set.Get(field) == value }
