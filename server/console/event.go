package console

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-chi/chi/v5"

	"github.com/cauri-dev/cauri/server/advice"
	"github.com/cauri-dev/cauri/server/httpfront"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/service"
	"github.com/cauri-dev/cauri/server/webhooks"
)

// eventPage is an event with its payment, its webhook and, after a form was sent, a comparison.
type eventPage struct {
	*service.Event
	payment  *paymentDetail // nil: the event belongs to no payment
	webhook  *ledger.Webhook
	captured *service.Captured   // nil: no form was sent
	compared *service.Comparison // nil: nothing was compared
	form     map[string]string   // fields of the form, as they were sent
	wrong    string              // what is wrong with the form; empty: nothing
}

func (c *Console) event(v *visit) (page, error) {
	return c.showEvent(v, func(*eventPage) error { return nil })
}

// compareBytes shows the event, and compares it with what a receiver captured. No log keeps the fields of the form.
func (c *Console) compareBytes(v *visit) (page, error) {
	return c.showEvent(v, func(e *eventPage) (err error) {
		if e.readForm(v); e.wrong == "" {
			e.compared, err = c.Service.CompareEvent(v.ctx(), v.who, e.EventID(), e.captured)
		}
		return err
	})
}

// showEvent returns the page of an event. Before, the function complete fills in what the page needs in addition to the
// event.
func (c *Console) showEvent(v *visit, complete func(*eventPage) error) (page, error) {
	e, err := c.readEvent(v)
	if err == nil {
		err = complete(e)
	}
	if errors.Is(err, ledger.ErrNotFound) {
		return page{title: v.Text("No such event"), body: noEventPage(v), status: http.StatusNotFound}, nil
	}
	if err != nil {
		return page{}, err
	}
	p := page{title: e.Name() + " " + e.EventID().String(), body: eventShown(v, e), live: []string{"lead", "why", "attempts", "facts"}}
	if e.Signature == nil { // the page has no signature that a person may be reading
		p.live = append(p.live, "secret", "headers")
	}
	if e.wrong != "" {
		p.status = http.StatusUnprocessableEntity
	}
	return p, nil
}

// readEvent returns the event that the path names, or [ledger.ErrNotFound].
func (c *Console) readEvent(v *visit) (*eventPage, error) {
	id, err := payments.ParseEventID(chi.URLParam(v.request, "id"))
	if err != nil {
		return nil, ledger.ErrNotFound
	}
	ctx, tenant := v.ctx(), v.who.Sandbox.Tenant
	e := &eventPage{form: map[string]string{}}
	if e.Event, err = c.Service.ReadEvent(ctx, v.who, id); err != nil {
		return nil, err
	}
	if of := e.Transaction; of != nil {
		t, err := c.Ledger.GetTransaction(ctx, tenant, *of)
		if err != nil {
			return nil, err
		}
		names, err := c.Ledger.PartyNames(ctx, tenant, []payments.ID{t.ID})
		if err != nil {
			return nil, err
		}
		e.payment = &paymentDetail{paymentRow: paymentRow{Transaction: t, name: names[t.ID]}}
	}
	e.webhook, err = c.Service.ReadWebhook(ctx, v.who)
	return e, err
}

// compareFields are the fields of the form for what a receiver has captured.
var compareFields = []string{"body", "computed", "fingerprint", "timestamp"}

// readForm reads the form. It takes a body in base64 as it is. A body that is plain text loses the blanks at its ends,
// because they come from copying.
func (e *eventPage) readForm(v *visit) {
	for _, name := range compareFields {
		e.form[name] = v.form(name)
	}
	e.captured = &service.Captured{
		Computed: e.form["computed"], SecretFingerprint: strings.ToLower(e.form["fingerprint"]), Timestamp: e.form["timestamp"],
	}
	if text := e.form["body"]; text != "" {
		e.captured.Body = []byte(strings.ReplaceAll(text, "\r\n", "\n"))
		if exact, err := base64.StdEncoding.DecodeString(text); err == nil {
			e.captured.Body = exact
		}
	}
	f := e.captured.SecretFingerprint
	for _, name := range compareFields {
		if strings.HasPrefix(e.form[name], webhooks.SecretPrefix) {
			e.form[name] = "" // the page must not show it
			e.wrong = v.Text("This is a secret. It was not kept. Write the fingerprint of it, which the command beside prints.")
		}
	}
	switch {
	case e.wrong != "":
	case e.captured.Body == nil && e.captured.Computed == "" && f == "" && e.captured.Timestamp == "":
		e.wrong = v.Text("Fill in one field at least.")
	case f != "" && !isFingerprint(f):
		e.wrong = v.Text("A fingerprint has 8 digits, 0 to 9 and a to f.")
	}
}

func isFingerprint(text string) bool {
	_, err := hex.DecodeString(text)
	return err == nil && len(text) == 8
}

// verdict is the result of a comparison for one thing.
type verdict struct{ class, icon, what, text string }

// verdicts returns a verdict for the body, one for the secret and one for the timestamp.
func (e *eventPage) verdicts(v *visit) []verdict {
	c := e.compared
	caused := func(codes ...string) bool {
		return slices.ContainsFunc(c.Causes, func(cause service.Cause) bool { return slices.Contains(codes, cause.Code) })
	}
	body := verdict{"ok", "check", v.Text("Body"), v.Text("right, byte for byte")}
	switch {
	case e.captured.Body == nil:
		body = unknownVerdict(v.Text("Body"), v.Text("not compared: paste it"))
	case c.Difference != nil:
		body = verdict{"bad", "x", v.Text("Body"), v.Text("wrong from byte %s on", v.Number(int64(c.Difference.Offset)))}
	}
	secret := unknownVerdict(v.Text("Secret"), v.Text("not known: write its fingerprint"))
	switch c.Secret {
	case service.SecretRight:
		secret = verdict{"ok", "check", v.Text("Secret"), v.Text("right")}
	case service.SecretWrong:
		secret = verdict{"bad", "x", v.Text("Secret"), v.Text("wrong")}
	}
	at := verdict{"ok", "check", v.Text("Timestamp"), v.Text("right")}
	switch {
	case e.captured.Timestamp == "":
		at = unknownVerdict(v.Text("Timestamp"), v.Text("not compared: only webhook-signature has it"))
	case caused(service.CauseOtherTimestamp, service.CauseStaleTimestamp):
		at = verdict{"bad", "x", v.Text("Timestamp"), v.Text("wrong")}
	}
	return []verdict{body, secret, at}
}

func unknownVerdict(what, text string) verdict { return verdict{"quiet", "st-skip", what, text} }

// excerpt is a part of a body, around the place where it differs.
type excerpt struct{ before, differs, after string }

// The maximum numbers of bytes in an excerpt before and after the first byte that differs.
const (
	excerptBefore = 28
	excerptAfter  = 44
)

// excerptAt returns the part of a text around the byte at an offset. It shows a blank at this offset as a dot, and the
// end of the text as ∎.
func excerptAt(text []byte, at int) (x excerpt) {
	at = min(at, len(text))
	for at > 0 && at < len(text) && !utf8.RuneStart(text[at]) {
		at--
	}
	from := max(0, at-excerptBefore)
	x.before = shownBytes(text[from:at])
	if from > 0 {
		x.before = "…" + x.before
	}
	if at == len(text) {
		x.differs = "∎"
		return x
	}
	r, size := utf8.DecodeRune(text[at:])
	x.differs = shownBytes(text[at : at+size])
	if r == ' ' {
		x.differs = "·"
	}
	rest := text[at+size:]
	x.after = shownBytes(rest[:min(len(rest), excerptAfter)])
	if len(rest) > excerptAfter {
		x.after += "…"
	}
	return x
}

// shownBytes returns bytes as a text in which invisible characters are escapes.
func shownBytes(text []byte) string {
	return asJSON.visible(strings.ToValidUTF8(string(text), "\uFFFD"))
}

// resend queues the event again. The request log names the session that did so.
func (c *Console) resend(v *visit) (httpfront.Answer, error) {
	id, err := payments.ParseEventID(chi.URLParam(v.request, "id"))
	if err != nil {
		return httpfront.Answer{}, errNotFound
	}
	if v.who.Sandbox.Suspended {
		return httpfront.Answer{}, newProblem(http.StatusConflict, v.Text("The sandbox is suspended"),
			v.Text("No event is sent until it goes on."), "suspended")
	}
	err = c.renewing(v, func() error {
		_, err := c.Service.ResendEvent(v.ctx(), v.who, id)
		return err
	})
	switch {
	case errors.Is(err, ledger.ErrNotFound):
		return httpfront.Answer{}, errNotFound
	case errors.Is(err, ledger.ErrNoEndpoint):
		return httpfront.Answer{}, newProblem(http.StatusConflict, v.Text("There is no webhook"),
			v.Text("Set spec.webhook.url of the sandbox, then send the event again."), "no_endpoint")
	case errors.Is(err, ledger.ErrBeingSent):
		return httpfront.Answer{}, newProblem(http.StatusConflict, v.Text("It is being sent at this moment"),
			v.Text("Wait for the end of the attempt, at most ten seconds."), "conflict")
	case err != nil:
		return httpfront.Answer{}, err
	}
	return v.goTo("/webhooks/" + id.String()), nil
}

// lead returns sentences: what the event is about, and how far its delivery is.
func (e *eventPage) lead(v *visit) string {
	text := tried(v, &e.Event.Event)
	if e.payment != nil {
		text = e.payment.lead(v) + " " + text
	}
	if e.Callback == nil {
		return text
	}
	if api := operators.NativeAPI(e.Callback.Operator); api == nil || len(api.Retries) == 0 {
		text += " " + v.Text("It is the callback of %s's own API, which sends it once.", operatorName(e.Callback.Operator))
	}
	return text
}

// subject returns the order reference of the payment. For a callback without a payment, it returns the kind of the
// callback.
func (e *eventPage) subject() string {
	if e.payment == nil {
		return e.Kind
	}
	return e.payment.OrderRef
}

// callbackKey returns the entry of the Secret that has the key of a callback's signature. It returns "" if the callback
// is not signed.
func (e *eventPage) callbackKey() string {
	api := operators.NativeAPI(e.Callback.Operator)
	if api == nil || api.Sign == nil || bytes.Equal(api.Sign(e.Body, e.Callback.Sent, ""), e.Body) {
		return ""
	}
	return api.CallbackKey
}

// last returns the last attempt; nil if there was none.
func (e *eventPage) last() *ledger.AttemptRecord {
	if len(e.History) == 0 {
		return nil
	}
	return &e.History[len(e.History)-1]
}

// problem returns why the last attempt failed. It returns false if the attempt did not fail, or if a fault of the
// sandbox acted on it.
func (e *eventPage) problem(v *visit) (deliveryProblem, bool) {
	last := e.last()
	if last == nil || last.Error == nil || e.State == ledger.EventDelivered || len(last.Faults) > 0 {
		return deliveryProblem{}, false
	}
	attempt := advice.Attempt{Failure: *last.Error, Waits: e.State == ledger.EventQueued}
	if e.Callback != nil {
		attempt.Callback, attempt.Host = true, advice.HostAndPortOf(e.Callback.URL)
	} else {
		attempt = attempt.Beside(&e.webhook.EndpointHealth, e.webhook.URL, last.RealStartedAt)
	}
	return deliveryProblemOf(v, attempt), true
}

// address returns the URL to which the event is sent; "" if there is none.
func (e *eventPage) address() string {
	if e.Callback != nil {
		return e.Callback.URL
	}
	return e.webhook.URL
}

// doubted reports whether the receiver answered 401 or 403, as it does for a wrong signature.
func (e *eventPage) doubted() bool {
	last := e.last()
	if last == nil || last.ResponseStatus == nil {
		return false
	}
	return *last.ResponseStatus == http.StatusUnauthorized || *last.ResponseStatus == http.StatusForbidden
}

// unsent reports whether the event goes only to those who follow the sandbox, because there is no webhook URL.
func (e *eventPage) unsent() bool { return e.Callback == nil && e.webhook.URL == "" }

// mayResend reports whether the page has the button that sends the event again.
func (e *eventPage) mayResend(v *visit) bool {
	return v.may(full) && !v.who.Sandbox.Suspended
}

// fingerprints returns the fingerprints of the secrets that signed the last attempt. Without an attempt, it returns the
// fingerprint of the present secret; nil if there is no secret.
func (e *eventPage) fingerprints() []string {
	if e.Signature == nil {
		if e.webhook.Secret == nil {
			return nil
		}
		return []string{e.webhook.Secret.Fingerprint}
	}
	var all []string
	for _, one := range e.Signature.Schemes[1].Signatures {
		all = append(all, one.SecretFingerprint)
	}
	return all
}

// rotation returns a text with the time since which the secret signs, and the times until which former secrets sign; ""
// if there is no secret, or if the time is not known.
func (e *eventPage) rotation(v *visit) string {
	s := e.webhook.Secret
	if s == nil || s.Since == nil {
		return ""
	}
	texts := []string{v.Text("signs since %s", v.Date(*s.Since))}
	if len(e.webhook.Previous) == 0 {
		return texts[0] + ", " + v.Text("no rotation under way")
	}
	for _, p := range e.webhook.Previous {
		texts = append(texts, v.Text("%s signs too %s", p.Fingerprint, v.Until(*p.Until, v.clockAt)))
	}
	return v.Joined(texts)
}

// digestOf returns the first 16 hexadecimal digits of the SHA-256 of a text.
func digestOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// fingerprintCommand prints the fingerprint of a receiver's secret.
const fingerprintCommand = "printf %s \"$CAURI_WEBHOOK_SECRET\" |\n  sha256sum | cut -c1-8"

// headers returns the headers of the last attempt; nil if there was none.
func (e *eventPage) headers(v *visit) []webhooks.HeaderField {
	if e.Signature == nil {
		return nil
	}
	return append(slices.Clone(e.Signature.Headers), webhooks.HeaderField{Name: "User-Agent", Value: "Cauri-Webhooks/" + v.version})
}

// headersText returns the headers as they are in a request.
func (e *eventPage) headersText(v *visit) string {
	var lines []string
	for _, h := range e.headers(v) {
		lines = append(lines, h.Name+": "+h.Value)
	}
	return strings.Join(lines, "\n")
}

// following returns the times of the retries after the next attempt; nil if no attempt is planned, or for a callback.
// It assumes that every attempt fails at once. The real times differ by up to a tenth of each delay.
func (e *eventPage) following() (all []time.Time) {
	if e.NextAttemptAt == nil || e.Callback != nil {
		return nil
	}
	r := e.webhook.Retry
	s := webhooks.Schedule{MaxRetries: r.MaxRetries, InitialDelay: r.InitialDelay, Factor: r.Factor, MaxDelay: r.MaxDelay}
	at := *e.NextAttemptAt
	for counted := e.Counted + 1; ; counted++ {
		delay, again := s.Next(counted, webhooks.Result{}, func() float64 { return 0.5 })
		if !again || len(all) == mostFollowing {
			return all
		}
		at = at.Add(delay)
		all = append(all, at)
	}
}

// mostFollowing is the maximum number of future retries on the page of an event.
const mostFollowing = 10
