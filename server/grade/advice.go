package grade

import (
	cause "github.com/cauri-dev/cauri/server/advice"
	"github.com/cauri-dev/cauri/server/english"
	"github.com/cauri-dev/cauri/server/webhooks"
)

// Advice says why a line matters, and what to change so that it holds.
type Advice struct{ Why, Fix english.Text }

// Advice returns the advice about a line.
func (l *Line) Advice() Advice { return advice[l.Anchor] }

// Advice returns the advice about the line of the result: why it matters, and what to change. A genuine event that was not
// accepted has the cause that any event of the sandbox with this answer has, so that all parts of Cauri say the same.
func (r *Result) Advice() (why english.Text, fix english.Phrase) {
	line := r.Of()
	advice := line.Advice()
	if fails := r.Outcome == Failed && r.Reason == ""; fails && r.Line == lineGenuine && len(r.Answers) > 0 {
		return advice.Why, r.Answers[0].cause().Do
	}
	return advice.Why, english.Say(advice.Fix)
}

// cause returns why an event with this answer is not delivered.
func (a Answer) cause() cause.Advice {
	failure := a.Error
	if a.Status != 0 {
		failure = webhooks.Answered(a.Status)
	}
	return cause.OfAttempt(cause.Attempt{Failure: failure, Host: a.Host})
}

// advice is by the anchors of docs/grade.md, which has the same for each framework.
var advice = map[string]Advice{
	lineGenuine: {
		"A receiver that refuses genuine events learns of no payment.",
		"If no answer came, start your program or correct the URL. Otherwise verify the bytes that arrived, before anything parses them, with the whole text of the secret as the key.",
	},
	lineWrongSignature: {
		"Everybody can send a request to your URL. Only the signature says that it is from Cauri.",
		"Compute the HMAC-SHA256 of the body, compare it in constant time with X-Service-Signature, and answer 401 if it differs.",
	},
	lineNoSignature: {
		"Who sends no signature has no secret.",
		"Answer 401 where the header is missing, before you look at the body.",
	},
	lineOtherBody: {
		"A signature that was once seen must not be good for another body.",
		"Sign the bytes of this request, not a part of them and not a text from the body.",
	},
	lineOtherSecret: {
		"Another sandbox, and everybody else, has another secret.",
		"Use the secret as the key of the HMAC, and refuse everything while your program has none.",
	},
	lineTwice: {
		"Events come at least once: after a lost answer, the same event can come again.",
		"Keep the tx_id of what is done, under a unique index. If it is there already, do nothing and answer 204.",
	},
	lineAtOnce: {
		"Two copies can arrive together. Who looks first and writes later books both.",
		"Let the database decide: insert the tx_id under a unique index, and do the work only if the row was inserted. Answer 204 to both.",
	},
	lineEarlyRefund: {
		"Events come in any order: a payment that is sent again may arrive after its refund.",
		"Branch on event. Keep a refund whose payment you do not know by its parent_tx_id, and answer 204.",
	},
	"failed-payments": {
		"Each payment that ends has an event, also one that fails. Without it an order waits forever.",
		"Take SUCCESS as paid and every other status as not paid, and answer 204 to both.",
	},
	utf8Anchor: {
		"Names and descriptions of real payments are in every script, and have emoji.",
		"Verify the bytes that arrive, before anything decodes them. Then decode them as UTF-8, and store texts with all its characters: in MySQL, as utf8mb4.",
	},
	lineSplit: {
		"A body arrives in pieces, and a piece may end inside of a character.",
		"Collect the pieces as bytes, and decode them when all are there.",
	},
	lineUnknownField: {
		"Fields are added to events without a new version.",
		"Read the fields that you need, and ignore the others.",
	},
	lineUnknownEvent: {
		"New events may come. One that is refused can come again and again.",
		"Answer 204 to an event whose name you do not know.",
	},
	lineOtherForm: {
		"The order of the fields and the blanks of an event may change.",
		"Verify the bytes, then parse them as JSON: take nothing out of them by its position.",
	},
	lineLarge: {
		"The field raw has what the operator answered, which may be long.",
		"Allow bodies of 1 MiB, in your framework and in the proxy before it.",
	},
	lineInTime: {
		"An answer that takes longer than 10 s counts as none, and the event can come again.",
		"Store the event, answer 204, and do the rest of the work afterwards.",
	},
	lineFast: {
		"A receiver that answers fast is not in the way of its own next events.",
		"Store the event, answer 204, and do the rest of the work afterwards.",
	},
	lineOldTimestamp: {
		"Who has recorded a request must not be able to send it again much later.",
		"Refuse what is more than five minutes away from webhook-timestamp.",
	},
	lineSecondSignature: {
		"While a secret is being changed, each event has a signature of the old one and of the new one.",
		"Compare with each signature in webhook-signature, and accept the event if one of them is right.",
	},
}
