package console

import (
	"cmp"
	"errors"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/cauri-dev/cauri/server/console/locale"
	"github.com/cauri-dev/cauri/server/httpfront"
	"github.com/cauri-dev/cauri/server/httpfront/static"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/operators/ussd"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/qrcode"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

const (
	// handsetsOnPage is how many phones a page has.
	handsetsOnPage = 24
	// handsetsEvery is the interval in seconds at which the browser reads the remaining times of prompts again.
	handsetsEvery = 30
	// handsetPause is the minimum interval in milliseconds between two updates. It is short, so that a phone rings
	// within a second.
	handsetPause = 500
	// messageShown is how long a phone shows its last message, in sandbox time.
	messageShown = time.Hour
)

// handsetChanges are the types of changes that phones show.
const handsetChanges = "transaction,balance"

// handset is a phone on a page.
type handset struct {
	ledger.Handset
	ussd.Texts
	now time.Time // sandbox time
}

// handsetList is a page of phones, in the order of their numbers.
type handsetList struct {
	phones []handset
	first  bool
	next   string    // address of the next page; empty: there is none
	form   *nextForm // that was refused; nil: none
}

func (c *Console) handsets(v *visit) (page, error) {
	l, err := c.listHandsets(v)
	return l.page(v), err
}

func (l *handsetList) page(v *visit) page {
	return page{
		title: v.Text("Handsets"), body: handsetsPage(v, l), live: l.live(), every: handsetsEvery, of: handsetChanges, pause: handsetPause,
	}
}

// handset shows one phone without the frame of the console, for the browser of a real phone.
func (c *Console) handset(v *visit) (page, error) {
	h, err := c.findHandset(v)
	if err != nil {
		return page{}, err
	}
	p := page{
		title: h.called(), live: []string{h.id("phone")}, every: handsetsEvery, of: handsetChanges, pause: handsetPause, frameless: true,
	}
	if hasCode(h.Operator) {
		p.live = append(p.live, h.id("code"))
	}
	p.body = handsetPage(v, h, p.replaced())
	return p, nil
}

// findHandset returns the phone with the number in the path.
func (c *Console) findHandset(v *visit) (*handset, error) {
	tenant := v.who.Sandbox.Tenant
	msisdn := chi.URLParam(v.request, "msisdn")
	client, err := c.Ledger.FindTestClient(v.ctx(), tenant, msisdn)
	if errors.Is(err, ledger.ErrNotFound) {
		return nil, newProblem(http.StatusNotFound, v.Text("There is no such phone"),
			strings.TrimSpace(v.Text("The sandbox has no test client with this number any more, or never had one.")+" "+v.lengthOf(msisdn)), "not_found")
	}
	if err != nil {
		return nil, err
	}
	found, err := c.Ledger.Handsets(v.ctx(), tenant, []ledger.TestClient{*client})
	if err != nil {
		return nil, err
	}
	return &handset{found[0], ussd.Of(client.Operator, client.Country), v.clock.Now}, nil
}

// invitation is a link that opens a phone once.
type invitation struct {
	*handset
	link string
	code *qrcode.Code
	here bool // whether the link has a loopback address, which only browsers on this machine reach
}

// linkToHandset makes a link to a phone, and shows it as a QR code. Each request of this page makes another link.
func (c *Console) linkToHandset(v *visit) (page, error) {
	h, err := c.findHandset(v)
	if err != nil {
		return page{}, err
	}
	access := sandboxes.ConsoleAccess{Role: sandboxes.ConsoleHandset, MSISDN: h.MSISDN, MadeWith: v.who.Key}
	token, _, err := c.Sandboxes.AddConsoleLink(v.ctx(), v.who.Sandbox, access)
	if err != nil {
		return page{}, err
	}
	origin, _ := static.AskedAt(v.request, nil, "")
	if c.BaseURL != nil {
		origin = strings.TrimSuffix(c.BaseURL.String(), "/")
	}
	i := invitation{handset: h, link: origin + v.who.Sandbox.ConsoleLinkPath(token)}
	if at, err := url.Parse(i.link); err == nil {
		address := net.ParseIP(at.Hostname())
		i.here = at.Hostname() == "localhost" || address != nil && address.IsLoopback()
	}
	if i.code, err = qrcode.Draw(i.link); err != nil {
		return page{}, err
	}
	return page{title: h.called(), body: invitationPage(v, &i)}, nil
}

func (c *Console) listHandsets(v *visit) (*handsetList, error) {
	after := v.request.URL.Query().Get("after")
	if !payments.ValidMSISDN(after) {
		after = ""
	}
	l := &handsetList{first: after == ""}
	tenant := v.who.Sandbox.Tenant
	clients, err := c.Ledger.ListTestClients(v.ctx(), tenant, ledger.TestClientFilter{}, after, handsetsOnPage+1)
	if err != nil {
		return l, err
	}
	if len(clients) > handsetsOnPage {
		clients = clients[:handsetsOnPage]
		l.next = pathWith("/handsets", url.Values{"after": {clients[handsetsOnPage-1].MSISDN}})
	}
	found, err := c.Ledger.Handsets(v.ctx(), tenant, clients)
	for i := range found {
		l.phones = append(l.phones, handset{found[i], ussd.Of(found[i].Operator, found[i].Country), v.clock.Now})
	}
	return l, err
}

// replaced returns the selector of the live elements of the page.
func (l *handsetList) replaced() string { return (&page{live: l.live()}).replaced() }

// live returns the ids of the live elements of the page, never nil.
func (l *handsetList) live() []string {
	all := []string{}
	for i := range l.phones {
		all = append(all, l.phones[i].id("phone"), l.phones[i].id("under"), l.phones[i].id("next"))
	}
	return all
}

// id returns the HTML id of a part of the phone.
func (h *handset) id(part string) string { return part + "-" + h.MSISDN[1:] }

// called returns the name of the holder, or the number of a test client without a name.
func (h *handset) called() string { return cmp.Or(h.Name, locale.Phone(h.MSISDN)) }

// shows returns an identifier of what the screen shows. When the identifier changes, the browser replaces the phone.
func (h *handset) shows() string {
	switch {
	case h.Prompt != nil:
		return "rings " + h.Prompt.ID.String()
	case h.Blocked:
		return "blocked"
	case h.message() != nil:
		return "message " + h.Last.ID.String()
	}
	return "idle " + h.now.UTC().Format("15:04")
}

// message returns the transaction of the last message; nil if there is none, or if the phone no longer shows it.
func (h *handset) message() *payments.Transaction {
	if h.Last == nil || h.now.Sub(*h.Last.CompletedAt) > messageShown {
		return nil
	}
	return h.Last
}

// receipt returns the message about a successful transaction of the phone.
func (h *handset) receipt(t *payments.Transaction) ussd.Message {
	if api := operators.NativeAPI(h.Operator); api != nil && api.Message != nil {
		if m, ok := api.Message(t); ok {
			return m
		}
	}
	return h.Receipt(t)
}

// answerPath returns the address that answers the shown prompt.
func (h *handset) answerPath() string {
	return "/handsets/" + h.MSISDN + "/prompts/" + h.Prompt.ID.String()
}

// linkPath returns the address that makes a link to the phone.
func (h *handset) linkPath() string { return "/handsets/" + h.MSISDN + "/link" }

// manualPath returns the address that sets who answers: a person, or the behavior again.
func (h *handset) manualPath() string { return "/handsets/" + h.MSISDN + "/manual" }

// hasCode reports whether payers confirm orders with a one-time code on the page of an operator.
func hasCode(o payments.Operator) bool {
	api := operators.NativeAPI(o)
	return api != nil && api.Page != nil && api.Page.Code
}

// others returns the number of prompts that wait after the shown one.
func (h *handset) others() int64 { return int64(max(0, h.Prompts-1)) }

// byItself returns a text. If a person answers for a limited time, the text says for how long. Otherwise it says what
// the holder does automatically.
func (h *handset) byItself(v *visit) string {
	if h.ManualUntil != nil && h.Behavior != payments.Manual {
		return v.Text("for %s", minutes(v, time.Until(*h.ManualUntil)+time.Minute))
	}
	switch h.Behavior {
	case payments.Manual:
		return v.Text("always: it is Manual")
	case payments.Cancel:
		return v.Text("now: cancels by itself")
	case payments.WrongPIN:
		return v.Text("now: enters a wrong PIN by itself")
	case payments.Ignore:
		return v.Text("now: never answers by itself")
	}
	return v.Text("now: approves by itself")
}

// minutesLeft returns the time until a prompt expires, in words.
func (h *handset) minutesLeft(v *visit) string {
	left := h.Prompt.ExpiresAt.Sub(h.now)
	if left < time.Minute {
		return v.Text("less than a minute left")
	}
	return v.Text("%s left", minutes(v, left))
}

// minutes returns a duration in hours and minutes.
func minutes(v *visit, d time.Duration) string {
	d = d.Truncate(time.Minute)
	if d < time.Hour {
		return v.Text("%d min", int(d.Minutes()))
	}
	return v.Duration(d)
}

// testClientResource returns a TestClient of the sandbox as an example.
func testClientResource(v *visit) string {
	return `apiVersion: cauri.dev/v1alpha1
kind: TestClient
metadata: {name: awa, namespace: ` + v.namespace + `}
spec:
  sandboxRef: {name: ` + v.name + `}
  msisdn: "` + v.exampleNumber() + `"
  balance: 75000
  behavior: Manual`
}

// keypad has the keys of a phone with the letters on them.
var keypad = []struct{ key, letters string }{
	{"1", ""},
	{"2", "abc"},
	{"3", "def"},
	{"4", "ghi"},
	{"5", "jkl"},
	{"6", "mno"},
	{"7", "pqrs"},
	{"8", "tuv"},
	{"9", "wxyz"},
	{"*", ""},
	{"0", "+"},
	{"#", ""},
}

// wrongPIN is the only wrong PIN. Any other one is right.
const wrongPIN = "0000"

var pinForm = regexp.MustCompile(`^[0-9]{4}$`)

// typedAnswer reads the answer to a prompt from the form. It does not store the PIN.
func typedAnswer(v *visit) (payments.Answer, error) {
	pin := v.form("pin")
	switch {
	case v.form("answer") == "cancel":
		return payments.AnswerCancel, nil
	case !pinForm.MatchString(pin):
		return "", newProblem(http.StatusUnprocessableEntity, v.Text("A PIN has four digits"),
			v.Text("Nothing was paid. Any four digits approve, and 0000 is a wrong PIN."), "invalid_body")
	case pin == wrongPIN:
		return payments.AnswerWrongPIN, nil
	}
	return payments.AnswerApprove, nil
}

// answerPrompt answers the prompt of a phone, and redirects to the page, which shows the outcome. If the prompt is
// already closed, it redirects too, and returns no error.
func (c *Console) answerPrompt(v *visit) (httpfront.Answer, error) {
	msisdn := chi.URLParam(v.request, "msisdn")
	id, err := payments.ParseID(chi.URLParam(v.request, "tx"))
	if err != nil || !payments.ValidMSISDN(msisdn) {
		return httpfront.Answer{}, errNotFound
	}
	answer, err := typedAnswer(v)
	if err != nil {
		return httpfront.Answer{}, err
	}
	_, _, err = c.Service.AnswerPrompt(v.ctx(), v.who, msisdn, id, answer)
	if closed := new(*ledger.ErrPromptClosed); err != nil && !errors.As(err, closed) {
		if errors.Is(err, ledger.ErrNotFound) {
			err = newProblem(http.StatusNotFound, v.Text("This phone has no such prompt"),
				v.Text("The sandbox was reset, or the test client is gone. Nothing was paid."), "not_found")
		}
		return httpfront.Answer{}, err
	}
	return v.goBack(), nil
}

// setManual sets who answers the prompts of a test client: a person for some time, or its behavior again.
func (c *Console) setManual(v *visit) (httpfront.Answer, error) {
	_, err := c.Service.SetManual(v.ctx(), v.who, chi.URLParam(v.request, "msisdn"), v.form("on") == "true")
	if errors.Is(err, ledger.ErrNotFound) {
		return httpfront.Answer{}, errNotFound
	}
	if err != nil {
		return httpfront.Answer{}, err
	}
	return v.goBack(), nil
}
