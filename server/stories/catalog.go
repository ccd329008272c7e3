package stories

import (
	"github.com/cauri-dev/cauri/server/english"
	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/payments"
)

// Story is something that happens to a shop. Its resources are in the file NAME.yaml of config/samples/stories. The
// documents, the command line and the console take what they say about it from [All].
type Story struct {
	Name    string
	Title   english.Text
	What    english.Text      // what happens, in one sentence
	Correct english.Text      // what a correct shop does, in one sentence
	Payer   payments.Behavior // of the number that pays
	steps   [3]english.Text   // what to do; the first has the number that pays as its argument
}

// Steps returns what to do, with the number that pays.
func (s *Story) Steps(msisdn string) []english.Phrase {
	return []english.Phrase{english.Say(s.steps[0], msisdn), english.Say(s.steps[1]), english.Say(s.steps[2])}
}

// All returns the stories in their order: first those that need only faults.
func All() []Story { return all }

// Named returns the story of this name, nil for none.
func Named(name string) *Story {
	for i := range all {
		if all[i].Name == name {
			return &all[i]
		}
	}
	return nil
}

var all = []Story{
	{
		"double-tap", "The customer taps twice",
		"The answer to a payment takes two seconds, the customer taps Pay again, and the webhook comes twice.",
		"The shop sends one reference for one order, however often the customer taps, and ships once for one tx_id.",
		payments.Approve, [3]english.Text{
			"Pay with %s in your shop: the answer takes two seconds.",
			"Tap Pay again before the answer comes: the shop sends the same reference.",
			"Wait for the webhook: it comes twice, and there is one payment.",
		},
	},
	{
		"network-drop-after-pin", "The network drops after the PIN",
		"The payment is recorded, and the answer to the request gets lost.",
		"The shop does not know whether the payment was recorded: it repeats the request with the same reference, and gets the payment.",
		payments.Approve, [3]english.Text{
			"Pay with %s in your shop: the connection ends without an answer.",
			"The shop sends the same request again, and gets the payment.",
			"Wait for the webhook: there is one payment.",
		},
	},
	{
		"twice-at-once", "The webhook comes twice at once",
		"The webhook of a payment comes twice at the same moment, on two connections.",
		faults.PresetNamed("twice-at-once").Correct,
		payments.Approve, [3]english.Text{
			"Pay with %s in your shop.",
			"Wait for the webhook: both copies come at the same moment.",
			"Look into your shop: it has booked the payment once.",
		},
	},
	{
		"lost-webhook", "The webhook gets lost",
		"The payment succeeds, and its webhook never comes.",
		faults.PresetNamed("no-webhook").Correct,
		payments.Approve, [3]english.Text{
			"Pay with %s in your shop.",
			"Wait a while: the payment succeeds, and no webhook comes.",
			"Look into your shop: it has asked for the payment, and has booked it.",
		},
	},
	{
		"silent-operator", "The operator is silent",
		"The customer never answers the prompt, and the webhook with TIMEOUT never comes.",
		"The shop does not wait for the webhook alone: it asks for the payment until its status is final, and releases the order.",
		payments.Ignore, [3]english.Text{
			"Pay with %s in your shop: nobody answers the prompt.",
			"Advance the clock by 3h: the payment expires, and no attempt to send its webhook succeeds.",
			"Look into your shop: it has asked for the payment, and has released the order.",
		},
	},
	{
		"late-callback-at-midnight", "The webhook comes after midnight",
		"A payment succeeds at 23:58 on the last day of the month, and its webhook comes after midnight.",
		"The shop books by completedAt, and not by the time at which the webhook comes.",
		payments.Approve, [3]english.Text{
			"Pay with %s in your shop: the clock of the sandbox stands at 23:58.",
			"Advance the clock by 20m: the payment succeeds before midnight, and its webhook comes after it.",
			"Look into your shop: it has booked the payment in the month that has ended.",
		},
	},
	{
		"maintenance-at-noon", "Maintenance at noon",
		"The API answers 503 for an hour.",
		"The shop repeats the request after Retry-After, with the same reference, and shows the customer that the payment was not made yet.",
		payments.Approve, [3]english.Text{
			"Pay with %s in your shop, and advance the clock by 1m: it is noon.",
			"Pay again: the answer is 503 with Retry-After.",
			"Advance the clock by 1h: the shop repeats the request, and there are two payments.",
		},
	},
	{
		"salary-day", "Salary day",
		"Of twenty payments some are answered 429, and some webhooks come after the next one.",
		"The shop repeats the request after Retry-After, with the same reference, and takes webhooks in any order.",
		payments.Approve, [3]english.Text{
			"Make twenty payments with %s in your shop.",
			"The shop repeats each request that was answered 429 after Retry-After, with the same reference.",
			"Advance the clock by 5m: there are twenty payments, and each has its webhook.",
		},
	},
	{
		"mtn-in-doubt", "The operator is in doubt",
		"A payment by the operator's own API succeeds, its answer and its callback get lost, and its status stays pending for ten minutes.",
		"The shop asks for the status with growing pauses until it is final, books the order by that, and takes no second payment.",
		payments.Approve, [3]english.Text{
			"Ask the operator's own API for a payment of %s, with an address for the callback: no answer comes.",
			"Advance the clock by 1m, and ask for the status: the payment has ended, and its status is still pending.",
			"Advance the clock by 10m, and ask again: the status says that it has succeeded.",
		},
	},
	{
		"flapping-query", "The query flickers",
		"A push of M-Pesa is paid after 20 seconds, its callback gets lost, and its query answers in three ways, some of them an error.",
		"The shop books nothing on 500.001.1001: it asks until a ResultCode other than 4999 comes, and does not ask the payer again.",
		payments.Approve, [3]english.Text{
			"Ask M-Pesa's own API for a payment of %s, with an address for the callback, and query it some times: some answers are errors.",
			"Advance the clock by 20s: the payer has paid, and no callback comes.",
			"Query until a ResultCode other than 4999 comes: one answer in four is an error still.",
		},
	},
	{
		"lost-callback", "A payment that Pull finds",
		"A push of M-Pesa is paid, and its answer and its callback get lost, so that the shop has no id to ask with.",
		"The shop finds the payment by Pull, with the reference that it gave, books it once, and does not ask the payer again.",
		payments.Approve, [3]english.Text{
			"Register the short code for Pull, and ask M-Pesa's own API for a payment of %s: no answer comes.",
			"Advance the clock by 1m: the payer has paid, and no callback comes.",
			"Ask Pull what was paid in the last hour: it lists the payment with your reference.",
		},
	},
	{
		"duplicate-confirmation", "The confirmation comes twice",
		"A customer pays the short code of M-Pesa, and the confirmation comes twice.",
		"The shop books the payment once for its TransID, and answers both confirmations with ResultCode 0.",
		payments.Approve, [3]english.Text{
			"Register the addresses of your shop for the short code, and let %s pay it by the call simulate.",
			"Advance the clock by 1m: the confirmation comes, and the same one again.",
			"Look into your shop: it has booked the payment once.",
		},
	},
}
