package faults

import (
	"time"

	"github.com/cauri-dev/cauri/server/english"
	"github.com/cauri-dev/cauri/server/payments"
)

// Preset is a named fault with what a tester needs to know about it. The documents, the command line and the console
// take the presets from [Presets].
type Preset struct {
	Name    string       // also the name of the fault
	What    english.Text // what happens, in one sentence
	Correct english.Text // what a correct shop does, in one sentence
	Fault   Fault
}

// Presets returns the presets in their order: those of answers, of webhooks, and of an operator's own API.
func Presets() []Preset {
	after := func(d time.Duration) *Duration { return new(Duration(d)) }
	presets := []Preset{
		{
			"lost-answer", "The payment is recorded, and its answer gets lost.",
			"The shop repeats the request with the same reference, and gets the recorded payment.",
			Fault{API: &API{DropConnection: AfterCommit}},
		},
		{
			"unavailable", "Each request is answered 503 with Retry-After, and nothing is recorded.",
			"The shop keeps the order open, and repeats the request with the same reference after that time.",
			Fault{When: When{Every: true}, API: &API{Status: 503, RetryAfter: after(2 * time.Second)}},
		},
		{
			"too-many-requests", "The first request of each reference is answered 429 with Retry-After, and nothing is recorded.",
			"The shop waits for that time, and repeats the request with the same reference.",
			Fault{API: &API{Status: 429, RetryAfter: after(time.Second)}},
		},
		{
			"slow", "The payment is recorded, and its answer comes 15 seconds late.",
			"The shop has a timeout, and repeats the request with the same reference after it.",
			Fault{API: &API{Delay: after(15 * time.Second)}},
		},
		{
			"not-json", "The payment is recorded, and the body of its answer is not JSON.",
			"The shop takes it for a lost answer, and repeats the request with the same reference.",
			Fault{API: &API{MalformedBody: true}},
		},
		{
			"late-webhook", "The webhook comes a minute late.",
			"The shop asks for the payment after a while, and changes nothing when the webhook comes.",
			Fault{Webhook: &Webhook{Delay: after(time.Minute)}},
		},
		{
			"no-webhook", "The webhook never comes.",
			"The shop asks for the payment after a while, and does not wait for the webhook alone.",
			Fault{Webhook: &Webhook{Drop: true}},
		},
		{
			"twice", "The webhook comes twice, the second time after the first was answered.",
			"The shop books the payment once, and answers 204 both times.",
			Fault{Webhook: &Webhook{Duplicate: 2, Spacing: after(500 * time.Millisecond)}},
		},
		{
			"twice-at-once", "The webhook comes twice at the same moment.",
			"The shop lets its database decide which copy is the first, books the payment once, and answers 204 to both.",
			Fault{Webhook: &Webhook{Duplicate: 2, Overlap: true}},
		},
		{
			"out-of-order", "The webhook comes after the next one.",
			"The shop takes webhooks in any order.",
			Fault{Webhook: &Webhook{OutOfOrder: true}},
		},
		{
			"webhook-first", "The webhook comes before the answer to the request.",
			"The shop stores the order with its reference before the request, so that the webhook finds it.",
			Fault{Webhook: &Webhook{BeforeAnswer: true}},
		},
		{
			"forged", "The webhook comes with a wrong signature first, and later with the right one.",
			"The shop answers 401 to the first, changes nothing, and books the payment by the second.",
			Fault{When: When{Attempt: 1}, Webhook: &Webhook{BadSignature: true}},
		},
		{
			"silent-operator", "The operator's own API sends no callback, and its status stays pending for 10 minutes.",
			"The shop keeps the order open, asks for the status again with growing pauses, and takes no second payment.",
			Fault{Operator: &Operator{Callback: &Callback{Drop: true}, StatusStaysPending: after(10 * time.Minute)}},
		},
		{
			"flapping-query", "The query of a payment by M-Pesa's own API answers in three ways while it is pending, and one time in four wrong after it.",
			"The shop books nothing on an error of the query: it asks again until a ResultCode other than 4999 comes, and takes no second payment.",
			Fault{When: When{Operator: payments.MPesa}, Operator: &Operator{StatusFlickers: true}},
		},
	}
	for i := range presets {
		presets[i].Fault.Name = presets[i].Name
	}
	return presets
}

// PresetNamed returns the preset of this name, nil for none.
func PresetNamed(name string) *Preset {
	for _, p := range Presets() {
		if p.Name == name {
			return &p
		}
	}
	return nil
}
