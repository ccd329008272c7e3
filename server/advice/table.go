package advice

import (
	"slices"
	"strings"

	"github.com/cauri-dev/cauri/server/english"
	"github.com/cauri-dev/cauri/server/expectations"
)

// cause is a row of the table of causes that only programs and the command line tell, which speak English.
type cause struct {
	code      Code
	title     string
	what      string // a sentence without its full stop, with a verb of package fmt for each argument
	do        string
	arguments []any // of what, as an example for the documents
}

// table has the causes of a payment, an event, an order or a number beside those of receivers, of refused requests, of outcomes and of
// signatures.
var table = []cause{
	{WaitsForPayer, "The payer has not answered", "The payer is asked to confirm, and has not answered yet. Without an answer it ends TIMEOUT at %s",
		"Answer in the place of the payer, or give the number a behavior that answers.", []any{"2026-05-31T12:02:00Z"}},
	{WaitsForOperator, "The operator works on it", "The operator has not settled the payment yet: this takes some seconds",
		"Read it again in a few seconds, or wait for its event.", nil},
	{ClockStands, "The clock stands", "The clock of the sandbox stands at %s, so nothing becomes due by itself",
		"Advance the clock. `--next` goes to where something is due.", []any{"2026-05-31T12:00:00Z"}},
	{WorkerBehind, "The worker is not at work", "It has been due since %s, and no worker has done it",
		"Look whether a worker runs, and at its log: in a cluster the Deployment cauri-worker.", []any{"2026-05-31T12:00:00Z"}},
	{NoWebhook, "There is no webhook", "The event is recorded and not sent: the sandbox has no webhook URL",
		"Set spec.webhook.url of the sandbox, start `cauri dev` with --webhook-url, or forward events to a program on your machine.", nil},
	{NotSelected, "The event is not selected", "The event is recorded and not sent: spec.webhook.events of the sandbox does not have %s",
		"Add its name to spec.webhook.events of the sandbox, or leave the list out.", []any{"payment.completed"}},
	{HeldByFault, "A fault holds the event", "A fault of the sandbox holds the event on purpose: %s",
		"Wait, advance the clock, or remove the fault. The receiver is not the cause.", []any{"late: sent 1h late"}},
	{FirstAttempt, "The event is about to be sent", "The event waits for its first attempt", "Read it again in a moment.", nil},
	{AcknowledgedTwice, "The receiver got the event more than once",
		"The receiver acknowledged the event %d times, as it has to. It must have booked it once",
		"Look whether your shop booked it once. Keep the tx_id of what is done under a unique index, and do nothing if it is there.", []any{2}},
	{PaidTwice, "The order is paid more than once", "The order has %d successful payments",
		"Send one reference for one order, however often the customer taps. Refund what is too much.", []any{2}},
	{Scenario, "The request asked for it", "The scenario %s of the request forced the outcome %s", "Leave `scenario` out of the request, or send another one.",
		[]any{"low_balance", "INSUFFICIENT_FUNDS"}},
	{NumberUnknown, "Nobody has the number", "No test client and no test number of the sandbox has %s",
		"Add a test client with this number, or take a number that exists.", []any{"+2250700000001"}},
	{NumberBlocked, "The number is blocked", "The SIM of %s is blocked: it can neither pay nor be paid", "Set its state to Active.", []any{"+2250700000001"}},
	{AmountForm, "The amount is no whole number", "The request sends the amount as %s",
		"Send `amount` as a whole number without quotes, in whole units of the currency: 1500.", []any{`"1500"`}},
	{NumberForm, "The number has a wrong form", "The number is written as %s", "Send the whole number with + and the code of its country, " +
		"digits only.", []any{`"0530000901"`}},
	{UnknownStore, "There is no such store", "The sandbox has no store %s", "Send one of the stores of the sandbox as `application`, or add it to spec.stores.",
		[]any{`"boutique"`}},
	{RequestFault, "A fault answered", "A fault of the sandbox answered the request on purpose: %s",
		"The shop has to repeat the request with the same reference. Remove the fault to go on without it.", []any{"busy: answered 503 Service Unavailable"}},
	{NoAnswer, "The request got no answer", "The connection was closed before the answer",
		"The transaction may be recorded. Repeat the request with the same `reference`: it makes no second one.", nil},
	{RefusedOther, "The request was refused", "The request was answered %s", "Read the answer, and correct the request.", []any{"409 RESOURCE_ALREADY_EXIST"}},
	{LedgerUnbalanced, "A balance is wrong", "A balance does not follow from its movements", "Look at which one, and where. This is a defect of Cauri: report it.", nil},
	{ExpectationNotMet, "A line is not met", "A line of the expectation is not met yet", "Wait, or look at what happened: transactions, events and refused requests.", nil},
	{ExpectationExceeded, "A line cannot be met", "There is more than a line of the expectation allows, so it cannot be met any more",
		"Look at what the shop did too often, for example an order that is booked twice.", nil},
	{ExpectationLate, "A line was not met in time", "A line of the expectation was not met in time",
		"Look at what did not happen: refused requests, events that are not acknowledged, a clock that stands.", nil},
	{ExpectationUnknown, "It cannot be told", "It cannot be told any more whether a line of the expectation was met in time", "Evaluate the expectation again, earlier.", nil},
	{ExpectationTooManyRows, "It looks at too much", "The lines of the expectation look at too many rows", "Write `orderRef` or `reference` under `where` of the lines.", nil},
	{ExpectationReset, "The sandbox was reset", "The sandbox was reset while the expectation was open", "Begin again with a new expectation.", nil},
	{SandboxUnreachable, "The sandbox is not reached", "No answer comes from %s", "Start the sandbox (`cauri dev`), or correct its address in .env.cauri or CAURI_URI.",
		[]any{"http://localhost:8080/sandboxes/default/shop"}},
	{NoSandbox, "No sandbox is named", "No sandbox is named", "Start `cauri dev --env-file=.env.cauri`, or set CAURI_URI and CAURI_API_KEY.", nil},
}

// The causes of a transaction, an order, an event or a number.
const (
	WaitsForPayer     Code = "payment.waits_for_payer"
	WaitsForOperator  Code = "payment.waits_for_operator"
	Scenario          Code = "payment.scenario"
	PaidTwice         Code = "order.paid_twice"
	NoWebhook         Code = "event.no_webhook"
	NotSelected       Code = "event.not_selected"
	HeldByFault       Code = "event.held_by_fault"
	FirstAttempt      Code = "event.not_sent_yet"
	AcknowledgedTwice Code = "event.acknowledged_twice"
	ClockStands       Code = "clock.stands"
	WorkerBehind      Code = "worker.not_at_work"
	NumberUnknown     Code = "number.unknown"
	NumberBlocked     Code = "number.blocked"
)

// The causes of an expectation that is not met, by the reason of its verdict, and of a ledger.
const (
	LedgerUnbalanced       Code = "ledger.unbalanced"
	ExpectationNotMet      Code = "expectation.not_met"
	ExpectationExceeded    Code = "expectation.exceeded"
	ExpectationLate        Code = "expectation.deadline_exceeded"
	ExpectationUnknown     Code = "expectation.evaluated_late"
	ExpectationTooManyRows Code = "expectation.too_many_rows"
	ExpectationReset       Code = "expectation.sandbox_reset"
)

// expectationCodes are the causes by the reasons of a verdict.
var expectationCodes = map[string]Code{
	expectations.ReasonNotMet: ExpectationNotMet, expectations.ReasonExceeded: ExpectationExceeded,
	expectations.ReasonDeadlineExceeded: ExpectationLate, expectations.ReasonEvaluatedLate: ExpectationUnknown,
	expectations.ReasonUnreadable: ExpectationTooManyRows, expectations.ReasonSandboxReset: ExpectationReset,
}

// OfExpectation returns why an expectation is not met. The parameter reason is that of its verdict.
func OfExpectation(reason string) Advice {
	if code := expectationCodes[reason]; code != "" {
		return Of(code)
	}
	return Of(ExpectationNotMet)
}

// The causes of a refused request, beside those by the code of the API's error.
const (
	AmountForm         Code = "request.amount_form"
	NumberForm         Code = "request.number_form"
	UnknownStore       Code = "request.unknown_store"
	RequestFault       Code = "request.fault"
	NoAnswer           Code = "request.no_answer"
	RefusedOther       Code = "request.refused" // with a code that is none of /v1
	SandboxUnreachable Code = "sandbox.unreachable"
	NoSandbox          Code = "sandbox.none"
)

// requestPrefix begins the codes of causes that are an error code of /v1.
const requestPrefix = "request."

// Of returns the cause with a code of this file or of signatures. The arguments are those of its sentence. It panics for another code.
func Of(code Code, arguments ...any) Advice {
	i := slices.IndexFunc(rows(), func(c cause) bool { return c.code == code })
	return rows()[i].advice(arguments)
}

func rows() []cause { return slices.Concat(table, signatures) }

func (c *cause) advice(arguments []any) Advice {
	return Advice{
		Code: c.code, Title: english.Say(english.Text(c.title)), What: english.Say(english.Text(c.what), arguments...),
		Do: english.Say(english.Text(c.do)),
	}
}

// OfRefusal returns the cause of a request that /v1 answered with an error code and a message. For a code that /v1 does not have, it
// returns [RefusedOther].
func OfRefusal(code, message string) Advice {
	do := Instead(code)
	if do == "" {
		return Of(RefusedOther, strings.TrimSpace(code+" "+message))
	}
	if message == "" {
		message = "The API refuses the request: " + code
	}
	a := (&cause{code: Code(requestPrefix + code), title: "The request is refused", what: "%s"}).advice([]any{strings.TrimSuffix(message, ".")})
	a.Do = english.Say(do)
	return a
}
