package console

import (
	"cmp"
	"fmt"

	"github.com/cauri-dev/cauri/server/console/locale"
	"github.com/cauri-dev/cauri/server/english"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// result has the texts about the answer to a request.
type result struct {
	icon, class string
	what, text  string // two sentences; text may be empty
	api         bool   // whether text is a message of the API
}

// result returns what the answer to the sent request means.
func (f *tryForm) result(v *visit) result {
	s := f.sent
	switch {
	case s.status == 0:
		return result{"bolt", "wait", v.Text("The connection was closed without an answer."),
			v.Text("Send it again as it is: with the same reference it is recorded once at most."), false}
	case len(s.answer.Detail.FieldErrors) > 0:
		n := int64(len(s.answer.Detail.FieldErrors))
		return result{"st-fail", "bad", v.Count(n, "Refused: one field is wrong.", "Refused: %s fields are wrong."), v.Text("It says what to write."), false}
	case !s.succeeded() && s.answer.Message == "":
		return result{"st-fail", "bad", v.Text("Refused with %s.", fmt.Sprint(s.status)), "", false}
	case !s.succeeded():
		return result{"st-fail", "bad", v.Text("Refused with %s:", fmt.Sprint(s.status)), s.answer.Message, true}
	case s.replayed():
		return result{"info", "", v.Text("This reference was sent before."), v.Text("So it is the same transaction, and nothing more was recorded."), false}
	}
	return f.outcome(v)
}

// outcome returns what the status of the recorded transaction means.
func (f *tryForm) outcome(v *visit) result {
	client, status := f.client(f.msisdn()), payments.Status(f.sent.answer.Status)
	if status == payments.Pending && client != nil && asksAPerson(client) && !client.Blocked {
		return result{"bell", "ok", v.Text("%s's phone rings.", holderOf(client)), v.Text("Type any four digits there."), false}
	}
	if status == payments.Pending {
		return result{"st-pending", "ok", v.Text("The payment is made, and its payer is asked."), v.Text("Its outcome follows in a moment."), false}
	}
	shown, known := appearances[status]
	if !known { // a fault broke the body of the answer
		return result{"bolt", "wait", v.Text("It is recorded, and its answer is broken."), "", false}
	}
	if status == payments.Success {
		return result{"st-ok", "ok", v.Text("It is done."), v.Text("Its status is %s.", string(status)), false}
	}
	return result{shown.icon, shown.class, v.Text("It is recorded, and nothing moved: %s.", v.Text(shown.text)), v.Text("Its status is %s.", string(status)), false}
}

// holderOf returns the name of a test client for a sentence.
func holderOf(c *ledger.TestClient) string { return isolated(cmp.Or(c.Name, locale.Phone(c.MSISDN))) }

// answers returns what happens at the chosen number, as a text. It returns "" if the market is not known.
func (f *tryForm) answers(v *visit) string {
	m, _ := f.market()
	if m.Operator == "" || m.Country == "" {
		return ""
	}
	at := operatorName(m.Operator) + " " + string(m.Country) + ". "
	client := f.client(f.msisdn())
	switch {
	case client == nil:
		return at + f.unregistered(v, m)
	case client.Blocked:
		return at + v.Text("The SIM is blocked.")
	case f.kind == payments.Disbursement:
		return at + v.Text("It has %s.", v.Money(string(client.Currency()), client.Balance))
	}
	behavior := client.Behavior
	if asksAPerson(client) {
		behavior = payments.Manual
	}
	return at + v.Text(behaviors[behavior]) + " " + v.Text("It has %s.", v.Money(string(client.Currency()), client.Balance))
}

// unregistered returns what happens at a number without a SIM, as a text.
func (f *tryForm) unregistered(v *visit, m sandboxes.Market) string {
	for i := range f.numbers {
		if f.numbers[i].MSISDN == f.msisdn() {
			return v.Text(f.numbers[i].Description)
		}
	}
	length := v.lengthOf(f.msisdn())
	if length != "" {
		length = " " + length
	}
	if v.who.Sandbox.Environments[m].UnknownPolicy == payments.Passthrough {
		return v.Text("No test client has this number: the operator is asked.") + length
	}
	return v.Text("No test client has this number: it is unknown.") + length
}

// behaviors are sentences that say what the holder of a SIM does with a payment.
var behaviors = map[payments.Behavior]english.Text{
	payments.Approve: "Its holder approves at once.", payments.Cancel: "Its holder cancels.",
	payments.WrongPIN: "Its holder enters a wrong PIN.", payments.Ignore: "Its holder never answers.",
	payments.Manual: "Its phone rings until somebody answers.",
}

// submit returns the text of the button.
func (f *tryForm) submit(v *visit) string {
	amount, _ := f.amount().(int64)
	money := v.Money(f.currency(v), amount)
	switch {
	case f.kind == payments.Refund:
		return v.Text("Refund, on a button")
	case f.kind == payments.Disbursement && amount > 0:
		return v.Text("Send %s", money)
	case f.kind == payments.Disbursement:
		return v.Text("Send")
	case amount > 0:
		return v.Text("Pay %s", money)
	}
	return v.Text("Pay")
}
