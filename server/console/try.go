package console

import (
	"cmp"
	"crypto/rand"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/a-h/templ"

	"github.com/cauri-dev/cauri/server/console/locale"
	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/httpfront"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/ledger/lists"
	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/server/service"
)

const (
	// mostClients is the maximum number of test clients that the form offers.
	mostClients = 50
	// mostRefundable is the maximum number of payments that the form offers for a refund.
	mostRefundable = 20
	// firstAmount is the amount in a new form.
	firstAmount = "15000"
)

// tryForm is the form of a request that records a transaction. Its fields have the names of the API, except for these
// four: payer is a number from the list, number is any other number, market is the operator and the country, payment is
// the payment to refund.
type tryForm struct {
	kind       payments.Type
	set        url.Values          // values of the fields
	wrong      map[string]string   // what is wrong with each field, in the words of the API
	clients    []ledger.TestClient // to choose from
	more       bool                // whether there are more test clients
	numbers    []operators.TestNumber
	known      *payments.Known // what the sandbox knows
	refundable []paymentRow
	fault      string       // name of the fault for which the form is filled in; empty: none
	sent       *sentRequest // nil: nothing was sent
}

// tryIt shows the form, filled in from the query. The query has fields of the form, the id of a transaction in the
// parameter like, or the name of a fault in the parameter fault.
func (c *Console) tryIt(v *visit) (page, error) {
	query := v.request.URL.Query()
	f := &tryForm{kind: payments.Type(query.Get("kind")), set: query, known: v.who.Sandbox.Known}
	if id, err := payments.ParseID(query.Get("like")); err == nil {
		t, err := c.Ledger.GetTransaction(v.ctx(), v.who.Sandbox.Tenant, id)
		if err != nil && !errors.Is(err, ledger.ErrNotFound) {
			return page{}, err
		}
		if t != nil {
			f.fillLike(t)
		}
	}
	if fault := v.faults().Named(query.Get("fault")); fault != nil {
		f.fillFor(v, fault)
	}
	return c.tryPage(v, f)
}

// tryNow sends the request of the form.
func (c *Console) tryNow(v *visit) (httpfront.Answer, error) {
	f := &tryForm{kind: payments.Type(v.form("kind")), set: v.request.PostForm, known: v.who.Sandbox.Known}
	if f.set.Has("answering") {
		_, err := c.Service.SetManual(v.ctx(), v.who, f.msisdn(), true)
		if err != nil && !errors.Is(err, ledger.ErrNotFound) {
			return httpfront.Answer{}, err
		}
	}
	p, err := c.completed(v, f)
	if err != nil {
		return httpfront.Answer{}, err
	}
	if _, err := payments.ParseID(f.payment()); err != nil && f.kind == payments.Refund {
		f.wrong = map[string]string{"payment": v.Text("Write the id of a payment. It begins with TX_.")}
		return c.again(v, http.StatusUnprocessableEntity, p, "invalid_body")
	}
	f.sent = c.send(v, http.MethodPost, f.request(v))
	f.readAnswer()
	if f.sent.succeeded() {
		f.set.Set("reference", newReference(v, f.store(v), f.operation())) // for the next request
	}
	return c.again(v, f.sent.pageStatus(), p, f.sent.answer.Error)
}

// completed returns the page for a form that was sent. It also reads the frame, and repeats both if the configuration
// changed.
func (c *Console) completed(v *visit, f *tryForm) (p page, err error) {
	err = c.renewing(v, func() error {
		if err := c.readFrame(v.ctx(), v); err != nil {
			return err
		}
		p, err = c.tryPage(v, f)
		return err
	})
	return p, err
}

// tryPage returns the page with a form. It reads the choices of the form, and fills in its empty fields.
func (c *Console) tryPage(v *visit, f *tryForm) (page, error) {
	if !slices.Contains(payments.Types, f.kind) {
		f.kind = payments.Collection
	}
	err := c.readOffers(v, f)
	f.fillIn(v)
	return page{title: v.Text("Try it"), body: tryItPage(v, f)}, err
}

// readOffers reads the test clients, or the payments to refund, that the form offers.
func (c *Console) readOffers(v *visit, f *tryForm) (err error) {
	ctx, tenant := v.ctx(), v.who.Sandbox.Tenant
	if f.kind == payments.Refund {
		succeeded := lists.Filter{Type: payments.Collection, Status: payments.Success}
		found, err := c.Ledger.ListTransactions(ctx, tenant, succeeded, nil, mostRefundable)
		if err != nil {
			return err
		}
		found = slices.DeleteFunc(found, func(t *payments.Transaction) bool { return t.Refundable() == 0 })
		f.refundable, err = c.paymentRows(v, found)
		return err
	}
	f.numbers = service.TestNumbers(v.who.Sandbox)
	f.clients, err = c.Ledger.ListTestClients(ctx, tenant, ledger.TestClientFilter{}, "", mostClients+1)
	if f.more = len(f.clients) > mostClients; f.more {
		f.clients = f.clients[:mostClients]
	}
	return err
}

// fillIn sets the fields that the query or the form does not have.
func (f *tryForm) fillIn(v *visit) {
	if f.kind == payments.Refund {
		if len(f.refundable) > 0 {
			f.orElse("payment", f.refundable[0].ID.String())
		}
		f.orElse("reference", newReference(v, f.store(v), f.operation()))
		return
	}
	if msisdn := f.set.Get("payer"); msisdn != "" && !f.offers(msisdn) { // the list does not have the number of the query
		f.set.Set("payer", "")
		f.orElse("number", msisdn)
	}
	f.orElse("payer", f.firstNumber())
	f.orElse("amount", firstAmount)
	f.orElse("application", v.who.Sandbox.FirstStore)
	f.orElse("reference", newReference(v, f.store(v), f.operation()))
}

func (f *tryForm) orElse(field, value string) {
	if !f.set.Has(field) {
		f.set.Set(field, value)
	}
}

// offers reports whether the list of the form has a number.
func (f *tryForm) offers(msisdn string) bool {
	return f.client(msisdn) != nil || slices.ContainsFunc(f.numbers, func(n operators.TestNumber) bool { return n.MSISDN == msisdn })
}

// numbersOf returns the test numbers of a market that the form offers.
func (f *tryForm) numbersOf(m sandboxes.Market) (all []operators.TestNumber) {
	for _, n := range f.numbers {
		if n.Operator == m.Operator && n.Country == m.Country {
			all = append(all, n)
		}
	}
	return all
}

// client returns the test client of the list with a number; nil for none.
func (f *tryForm) client(msisdn string) *ledger.TestClient {
	for i := range f.clients {
		if f.clients[i].MSISDN == msisdn {
			return &f.clients[i]
		}
	}
	return nil
}

// firstNumber returns the number of the first phone that a person answers. Without one, it returns the first number of
// the list, or "".
func (f *tryForm) firstNumber() string {
	for i := range f.clients {
		if asksAPerson(&f.clients[i]) && !f.clients[i].Blocked {
			return f.clients[i].MSISDN
		}
	}
	switch {
	case len(f.clients) > 0:
		return f.clients[0].MSISDN
	case len(f.numbers) > 0:
		return f.numbers[0].MSISDN
	}
	return ""
}

// asksAPerson reports whether the phone of a test client rings until a person answers.
func asksAPerson(c *ledger.TestClient) bool {
	return c.Behavior == payments.Manual || c.ManualUntil != nil
}

// answersByItself reports whether the chosen phone answers automatically.
func (f *tryForm) answersByItself() bool {
	client := f.client(f.msisdn())
	return client != nil && !client.Blocked && !asksAPerson(client)
}

// fillLike fills the form in for a transaction like this one.
func (f *tryForm) fillLike(t *payments.Transaction) {
	f.kind = t.Type
	if t.ParentID != nil {
		f.set.Set("payment", t.ParentID.String())
		f.set.Set("amount", strconv.FormatInt(t.Amount, 10))
		return
	}
	for _, field := range requestOf(f.known, t).fields {
		switch value := field.value.(type) {
		case string:
			f.set.Set(field.name, value)
		case int64:
			f.set.Set(field.name, strconv.FormatInt(value, 10))
		}
	}
	if f.set.Has("operator") {
		f.set.Set("market", f.set.Get("operator")+" "+f.set.Get("country"))
	}
	f.set.Set("payer", t.MSISDN)
	f.set.Del("reference") // the new request needs another one
}

// fillFor sets fields of the form so that the fault acts on the request. It sets only the fields that the condition of
// the fault names.
func (f *tryForm) fillFor(v *visit, fault *faults.Fault) {
	when := &fault.When
	f.kind, f.fault = cmp.Or(when.Type, payments.Collection), fault.Name
	for _, s := range payments.Scenarios {
		if status, _ := s.Status(); status == when.Status && f.kind == payments.Collection {
			f.set.Set("scenario", string(s))
		}
	}
	for field, value := range map[string]string{"payer": when.MSISDN, "application": when.Store} {
		if value != "" {
			f.set.Set(field, value)
		}
	}
	if when.Operator != "" && when.Country != "" {
		f.set.Set("market", string(when.Operator)+" "+string(when.Country))
	}
	if when.Reference != "" { // a glob
		code := newReference(v, "", payments.OpPayment)
		f.set.Set("reference", strings.NewReplacer("*", code[len(code)-12:], "?", "0").Replace(when.Reference))
	}
}

// mayTry reports whether the form can make a request on which the fault acts. The form makes no requests of the
// operators' own APIs.
func mayTry(f *faults.Fault) bool { return f.Kind() != faults.OperatorKind && f.When.Path == "" }

// operation returns the kind of operation that a new reference names.
func (f *tryForm) operation() payments.Operation {
	switch f.kind {
	case payments.Refund:
		return payments.OpRefund
	case payments.Disbursement:
		return payments.OpDisbursement
	}
	return payments.OpPayment
}

// store returns the store of the request: the one in the form, or else the first store of the sandbox. A new reference
// may begin with its name.
func (f *tryForm) store(v *visit) string {
	return cmp.Or(f.set.Get("application"), v.who.Sandbox.FirstStore)
}

// originForm matches the origin with which a reference may begin.
var originForm = regexp.MustCompile(`^[A-Z0-9]{2,12}$`)

// newReference returns a new reference. It begins with the name of the store if a reference may begin with that name.
func newReference(v *visit, store string, op payments.Operation) string {
	origin := strings.ToUpper(store)
	if !originForm.MatchString(origin) {
		origin = payments.OwnOrigin
	}
	r, _ := payments.NewReference(origin, op, v.clock.Now, rand.Reader) // crypto/rand never fails
	return r.String()
}

// payment returns the id of the payment to refund, as it was written.
func (f *tryForm) payment() string { return strings.TrimSpace(f.set.Get("payment")) }

// msisdn returns the number of the request: the field number, or else the field payer.
func (f *tryForm) msisdn() string {
	plain := strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, f.set.Get("number"))
	return cmp.Or(plain, f.set.Get("payer"))
}

// market returns the operator and the country of the request: the chosen ones, or else those of the number. Both are
// empty if those of the number are not known. chosen is true for the chosen ones.
func (f *tryForm) market() (m sandboxes.Market, chosen bool) {
	operator, country, chosen := strings.Cut(f.set.Get("market"), " ")
	if chosen {
		return sandboxes.Market{Operator: payments.Operator(operator), Country: payments.Country(country)}, true
	}
	msisdn := f.msisdn()
	if client := f.client(msisdn); client != nil {
		return sandboxes.Market{Operator: client.Operator, Country: client.Country}, false
	}
	if n, ok := operators.FindTestNumber(msisdn); ok && f.known.Has(n.Operator, n.Country) {
		return sandboxes.Market{Operator: n.Operator, Country: n.Country}, false
	}
	m.Operator, m.Country, _ = operators.Detect(f.known, msisdn)
	return m, false
}

// currency returns the currency of the request: that of its country, or else that of the first environment.
func (f *tryForm) currency(v *visit) string {
	m, _ := f.market()
	currency, ok := m.Country.Currency()
	if !ok && len(v.who.Sandbox.Markets) > 0 {
		currency = v.who.Sandbox.Environments[v.who.Sandbox.Markets[0]].Currency
	}
	return string(currency)
}

// grouped matches an amount with separators between groups of three digits.
var grouped = regexp.MustCompile(`^[0-9]{1,3}([,.\x{a0}\x{202f} ][0-9]{3})+$`)

// amountToSend returns the value of an amount for a request: an int64, or nil for an empty text. It returns any other text
// unchanged, so that the API says what is wrong with it.
func amountToSend(text string) any {
	text = strings.TrimSpace(text)
	if grouped.MatchString(text) {
		text = strings.Map(func(r rune) rune {
			if r < '0' || r > '9' {
				return -1
			}
			return r
		}, text)
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n
	}
	if text == "" {
		return nil
	}
	return text
}

func (f *tryForm) amount() any { return amountToSend(f.set.Get("amount")) }

// request returns the request that the form describes.
func (f *tryForm) request(v *visit) (r requestCode) {
	r.add("amount", f.amount())
	if f.kind == payments.Refund {
		r.path = "/api/v1/payments/" + cmp.Or(f.payment(), "TX_…") + "/refund"
		r.add("reference", f.set.Get("reference"))
		return r
	}
	r.path = "/api/v1/payments"
	market, chosen := f.market()
	if f.kind == payments.Disbursement {
		r.path, chosen = "/api/v1/disbursements", true // a disbursement must name its operator and country
	}
	r.add("currency", f.currency(v))
	if chosen {
		r.add("operator", string(market.Operator))
		r.add("country", string(market.Country))
	}
	r.add("msisdn", f.msisdn())
	for _, field := range []string{"reference", "application", "order_ref", "description"} {
		r.add(field, strings.TrimSpace(f.set.Get(field)))
	}
	if f.kind == payments.Collection {
		r.add("scenario", f.set.Get("scenario"))
	}
	return r
}

// fieldsOfCodes maps error codes to fields of the form. It has the codes whose answers name no field.
var fieldsOfCodes = map[string]string{
	"env_not_found": "market", "duplicate_reference": "reference", "exceeds_refundable": "amount", "not_refundable": "payment",
	"duplicate_msisdn": "number",
}

// readAnswer fills the map f.wrong from the answer of the API.
func (f *tryForm) readAnswer() {
	f.wrong = map[string]string{}
	a := &f.sent.answer
	for name, all := range a.Detail.FieldErrors {
		f.wrong[f.fieldOf(name)] = strings.Join(all, "; ")
	}
	if w := operators.CheckLength(f.known, f.msisdn()); w != nil && f.wrong["market"] != "" && f.set.Get("market") == "" {
		delete(f.wrong, "market") // the wrong length of the number is the cause
		f.wrong[f.fieldOf("msisdn")] = w.String()
	}
	switch field := fieldsOfCodes[a.Error]; {
	case field != "":
		f.wrong[field] = a.Message
	case a.Error == "not_found" && f.kind == payments.Refund:
		f.wrong["payment"] = a.Message
	case a.Error == "not_found":
		f.wrong["application"] = a.Message
	}
}

// fieldOf returns the field of the form for a field of the request.
func (f *tryForm) fieldOf(name string) string {
	switch {
	case name == "operator" || name == "country":
		return "market"
	case name == "msisdn" && f.set.Get("number") == "" && f.set.Get("payer") != "":
		return "payer"
	case name == "msisdn":
		return "number"
	}
	return name
}

// firstWrong reports whether a field is the first wrong one. The cursor is placed there.
func (f *tryForm) firstWrong(field string) bool {
	for _, each := range []string{"payment", "payer", "number", "name", "state", "amount", "currency", "application", "order_ref", "market", "balance", "behavior", "reference", "description"} {
		if f.wrong[each] != "" {
			return each == field
		}
	}
	return false
}

// invalid returns the attributes of a wrong field; nil if the field is right.
func (f *tryForm) invalid(name string) templ.Attributes {
	return invalid(f.wrong[name], "w-"+name, f.firstWrong(name))
}

// languageOf returns the language of the texts in f.wrong: that of the API, or that of the page if nothing was sent.
func (f *tryForm) languageOf(v *visit) string {
	if f.sent == nil {
		return v.Tag
	}
	return locale.English.Tag
}

// shown returns the request that the page shows: the sent one, or else that of the form.
func (f *tryForm) shown(v *visit) *requestCode {
	if f.sent != nil {
		return &f.sent.requestCode
	}
	return new(f.request(v))
}

// previewed returns the selector of the elements that the browser replaces while a person types.
func (f *tryForm) previewed() string {
	ids := []string{"#h-payer", "#answering", "#t-currency", "#submit-text"}
	for _, l := range languages {
		ids = append(ids, "#code-"+l.name)
	}
	return strings.Join(ids, ",")
}

// label returns the text of a test client in the list.
func (f *tryForm) label(c *ledger.TestClient) string {
	if c.Name == "" {
		return locale.Phone(c.MSISDN)
	}
	return isolated(c.Name) + ", " + locale.Phone(c.MSISDN)
}

// stores returns the stores of the sandbox. It adds the store of the form, if that is another one.
func (f *tryForm) stores(v *visit) []string {
	all := slices.Sorted(maps.Keys(v.who.Sandbox.Stores))
	if store := f.set.Get("application"); store != "" && !slices.Contains(all, store) {
		all = append(all, store)
	}
	return all
}

// markets returns the markets of the sandbox, as values of the field market. It adds the market of the form, if that is
// another one.
func (f *tryForm) markets(v *visit) (all []string) {
	for _, m := range v.who.Sandbox.Markets {
		all = append(all, string(m.Operator)+" "+string(m.Country))
	}
	if market := f.set.Get("market"); market != "" && !slices.Contains(all, market) {
		all = append(all, market)
	}
	return all
}

// marketName returns the text for a value of the field market.
func marketName(market string) string {
	operator, country, _ := strings.Cut(market, " ")
	return operatorName(payments.Operator(operator)) + " " + country
}

// restIsOpen reports whether the page shows the fields that are seldom changed.
func (f *tryForm) restIsOpen() bool {
	return f.set.Get("market")+f.set.Get("description") != "" || f.wrong["market"]+f.wrong["reference"]+f.wrong["description"] != ""
}
