package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Fault is a simulated error between the sandbox and its merchant: in a webhook, in an answer of the API, or in the
// answers and callbacks of an operator's own API. It never changes a transaction or a balance.
//
// +kubebuilder:validation:XValidation:rule="[has(self.webhook), has(self.api), has(self.operator)].filter(x, x).size() == 1",message="write what goes wrong in exactly one of webhook, api and operator"
// +kubebuilder:validation:XValidation:rule="!has(self.api) || !has(self.when) || !has(self.when.status)",fieldPath=".when.status",message="leave status out of a fault of the api, which acts before a status is known; or write webhook instead of api"
// +kubebuilder:validation:XValidation:rule="!has(self.api) || !has(self.when) || !has(self.when.event)",fieldPath=".when.event",message="leave event out of a fault of the api, where no event is sent yet; or write webhook instead of api"
// +kubebuilder:validation:XValidation:rule="!has(self.webhook) || !has(self.when) || !has(self.when.path)",fieldPath=".when.path",message="leave path out of a fault of a webhook: it is the path of a request to the api"
// +kubebuilder:validation:XValidation:rule="!has(self.operator) || !has(self.when) || !has(self.when.event)",fieldPath=".when.event",message="leave event out of a fault of an operator, which sends callbacks and no events; or write webhook instead of operator"
// +kubebuilder:validation:XValidation:rule="!has(self.operator) || !has(self.when) || !has(self.when.status) || !has(self.operator.status) && !has(self.operator.delay) && !has(self.operator.dropConnection)",fieldPath=".when.status",message="leave status out of a fault with status, delay or dropConnection, which acts before a status is known; or write callback, statusStaysPending, statusFlickers or reason in a fault of its own"
// +kubebuilder:validation:XValidation:rule="!has(self.operator) || !has(self.when) || !has(self.when.path) && !has(self.when.attempt) || !has(self.operator.callback) && !has(self.operator.statusStaysPending) && (!has(self.operator.statusFlickers) || !self.operator.statusFlickers) && !has(self.operator.reason)",fieldPath=".when",message="leave path and attempt out of a fault with callback, statusStaysPending, statusFlickers or reason, which acts on a transaction; or write status, delay or dropConnection in a fault of its own"
// +kubebuilder:validation:XValidation:rule="!has(self.operator) || !has(self.operator.statusFlickers) || !self.operator.statusFlickers || !has(self.when) || !has(self.when.operator) || self.when.operator in ['mpesa']",fieldPath=".when.operator",message="only the status of mpesa flickers: write operator: mpesa, or leave statusFlickers out"
type Fault struct {
	// name of the fault, unique in the sandbox: 1 to 63 of a-z, 0-9 and -, starting and ending with a letter or digit,
	// for example receiver-sees-it-twice. Transactions, attempts and responses to which the fault applied show the
	// name.
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="write a name of a-z, 0-9 and -, starting and ending with a letter or digit, for example receiver-sees-it-twice"
	Name string `json:"name"`

	// when has the conditions of the fault. All given conditions must match. Without conditions, the fault applies to
	// all webhooks, to all requests except GET, or to all transactions of the operators' own APIs.
	//
	// +optional
	When *FaultCondition `json:"when,omitempty"`

	// webhook is a fault of the delivery of an event.
	//
	// +optional
	Webhook *WebhookFault `json:"webhook,omitempty"`

	// api is a fault of the answer to a request. It applies once for each reference, unless when.every is true, so that
	// a client that repeats its request gets an answer.
	//
	// +optional
	API *APIFault `json:"api,omitempty"`

	// operator is a fault of an operator's own API in the sandbox: of its answers, its callbacks, and the status that
	// it reports of a transaction. It applies once for each reference, unless when.every is true.
	//
	// +optional
	Operator *OperatorFault `json:"operator,omitempty"`
}

// FaultCondition has the conditions of a fault.
//
// +kubebuilder:validation:XValidation:rule="!has(self.event) || !has(self.type) || [['payment.completed', 'collection'], ['payment.refunded', 'refund'], ['disbursement.completed', 'disbursement']].exists(pair, pair == [self.event, self.type])",fieldPath=".type",message="must be the type of the transactions that have this event: leave it out"
// +kubebuilder:validation:XValidation:rule="!has(self.from) || !has(self.until) || !self.from.matches('^2[01].*T.*[Z+-]') || !self.until.matches('^2[01].*T.*[Z+-]') || timestamp(self.until) > timestamp(self.from)",fieldPath=".until",message="write an until that is later than from"
type FaultCondition struct {
	// type of the transaction: collection, refund or disbursement.
	//
	// +optional
	// +kubebuilder:validation:Enum=collection;refund;disbursement
	Type string `json:"type,omitempty"`

	// status is the final status of the transaction, for example SUCCESS. Only with webhook, and with callback,
	// statusStaysPending, statusFlickers and reason of operator.
	//
	// +optional
	// +kubebuilder:validation:Enum=SUCCESS;PIN_INVALID;INSUFFICIENT_FUNDS;TIMEOUT;ACCOUNT_BLOCKED;USER_CANCELLED;UNKNOWN_MSISDN;LIMIT_EXCEEDED;SERVICE_UNAVAILABLE;DUPLICATE_REFERENCE
	Status string `json:"status,omitempty"`

	// operator of the transaction: mtn, orange, moov, airtel or mpesa.
	//
	// +optional
	Operator Operator `json:"operator,omitempty"`

	// country of the transaction: CI, RW, BJ, TG, KE, SN, UG, GH, CM or ZM.
	//
	// +optional
	Country Country `json:"country,omitempty"`

	// store of the transaction: a slug of spec.stores.
	//
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=80
	Store string `json:"store,omitempty"`

	// msisdn of the payer or the recipient, with its plus sign and country code.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^\\\\+[1-9][0-9]{6,14}$')",message="write the number with + and its country code, digits only"
	MSISDN string `json:"msisdn,omitempty"`

	// reference of the transaction, up to 80 characters. * matches any text, and ? any character, for example order-9*.
	//
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=80
	Reference string `json:"reference,omitempty"`

	// event is the name of the event: payment.completed, payment.refunded or disbursement.completed. Only with webhook.
	//
	// +optional
	Event WebhookEvent `json:"event,omitempty"`

	// path of the request in the sandbox's API, up to 200 characters. * matches any text, and ? any character, for
	// example /v1/payments, /v1/payments/* or /operators/mtn/collection/v1_0/requesttopay. Only a fault with a path
	// applies to GET requests, and to requests of operators' own APIs that move no money. Only with api, and with
	// status, delay and dropConnection of operator.
	//
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=200
	// +kubebuilder:validation:XValidation:rule="self.startsWith('/')",message="write a path of the API that starts with /, for example /v1/payments or /v1/payments/*"
	Path string `json:"path,omitempty"`

	// attempt is the number of the attempt to deliver the event, or the number of the request with the same reference.
	// 1 is the first, up to 1000.
	//
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	Attempt int32 `json:"attempt,omitempty"`

	// percent is the percentage of references to which the fault applies, 0 to 100. One random draw decides for each
	// reference. With spec.seed, the draw always has the same result.
	//
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	Percent *int32 `json:"percent,omitempty"`

	// first is the maximum number of times that the fault applies, 1 to 1000000, for example 1. A reset, and a change
	// of the fault, start the count again.
	//
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000
	First int64 `json:"first,omitempty"`

	// from is the sandbox time from which the fault applies, for example "2026-11-22T12:00:00Z".
	//
	// +optional
	From DateTime `json:"from,omitempty"`

	// until is the sandbox time from which the fault no longer applies.
	//
	// +optional
	Until DateTime `json:"until,omitempty"`

	// every is whether a fault applies to every request or attempt, not once for each reference. It is about faults of
	// the api and of an operator, and of a webhook with a percent. Each reference has one draw by percent. Default false.
	//
	// +optional
	Every bool `json:"every,omitempty"`
}

// WebhookFault is a fault of the delivery of an event. All given fields apply together. Times are in sandbox time.
//
// +kubebuilder:validation:XValidation:rule="[has(self.drop) && self.drop, has(self.duplicate), has(self.outOfOrder) && self.outOfOrder, has(self.delay), has(self.beforeAnswer) && self.beforeAnswer, has(self.badSignature) && self.badSignature, has(self.staleTimestamp), has(self.truncate) && self.truncate, has(self.contentType), has(self.unknownField) && self.unknownField, has(self.unknownEvent) && self.unknownEvent].exists(x, x)",message="write what goes wrong with the webhook, for example drop: true or delay: 30s"
// +kubebuilder:validation:XValidation:rule="[has(self.drop) && self.drop, has(self.duplicate), has(self.outOfOrder) && self.outOfOrder].filter(x, x).size() <= 1",message="write at most one of drop, duplicate and outOfOrder"
// +kubebuilder:validation:XValidation:rule="!has(self.spacing) || has(self.duplicate)",fieldPath=".spacing",message="write a spacing only with duplicate, for example duplicate: 2"
// +kubebuilder:validation:XValidation:rule="!has(self.overlap) || !self.overlap || has(self.duplicate)",fieldPath=".overlap",message="write overlap only with duplicate, for example duplicate: 2"
// +kubebuilder:validation:XValidation:rule="!has(self.overlap) || !self.overlap || !has(self.spacing)",message="write at most one of overlap and spacing"
type WebhookFault struct {
	// drop loses the attempt: the receiver gets nothing, and the next attempt follows as after a failure. Without
	// when.attempt and when.first, and without when.percent or with when.every, all attempts are lost.
	//
	// +optional
	Drop bool `json:"drop,omitempty"`

	// duplicate is the total number of times that the event is sent, 2 to 10.
	//
	// +optional
	// +kubebuilder:validation:Minimum=2
	// +kubebuilder:validation:Maximum=10
	Duplicate int32 `json:"duplicate,omitempty"`

	// spacing is the time between two duplicates, up to 1h. Default: none.
	//
	// +optional
	// +kubebuilder:validation:XValidation:rule="!self.matches('^([0-9]{1,5}([.][0-9]{1,3})?(h|m|s|ms))+$') || duration(self) <= duration('1h')",message="write a spacing of at most 1h"
	Spacing Duration `json:"spacing,omitempty"`

	// overlap sends all duplicates at the same moment, each on its own connection. The result of the attempt is
	// that of the copy that answered last. Default false: one after the other.
	//
	// +optional
	Overlap bool `json:"overlap,omitempty"`

	// outOfOrder sends the event after the next event of the sandbox, or after 60 s if no other event follows in this
	// time.
	//
	// +optional
	OutOfOrder bool `json:"outOfOrder,omitempty"`

	// delay is the additional time before the event is sent, up to 1h.
	//
	// +optional
	// +kubebuilder:validation:XValidation:rule="!self.matches('^([0-9]{1,5}([.][0-9]{1,3})?(h|m|s|ms))+$') || duration(self) > duration('0s') && duration(self) <= duration('1h')",message="write a delay from 1ms to 1h"
	Delay Duration `json:"delay,omitempty"`

	// beforeAnswer sends the event before the answer to the request that caused it. The answer waits for the first
	// attempt, at most 15 s. With a Manual clock, it has no effect.
	//
	// +optional
	BeforeAnswer bool `json:"beforeAnswer,omitempty"`

	// badSignature signs the event with an unknown key.
	//
	// +optional
	BadSignature bool `json:"badSignature,omitempty"`

	// staleTimestamp is the age of the signed time of the event, 1s to 24h, for example 10m.
	//
	// +optional
	// +kubebuilder:validation:XValidation:rule="!self.matches('^([0-9]{1,5}([.][0-9]{1,3})?(h|m|s|ms))+$') || duration(self) >= duration('1s') && duration(self) <= duration('24h')",message="write a staleTimestamp from 1s to 24h"
	StaleTimestamp Duration `json:"staleTimestamp,omitempty"`

	// truncate sends only the first part of the body, with the signature of the whole body.
	//
	// +optional
	Truncate bool `json:"truncate,omitempty"`

	// contentType is the media type in the header Content-Type, for example text/plain. The body is still JSON.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=100
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-zA-Z0-9][a-zA-Z0-9!#$&^_.+-]*/[a-zA-Z0-9][a-zA-Z0-9!#$&^_.+-]*( *; *[a-zA-Z0-9-]+=[a-zA-Z0-9_.+-]+)*$')",message="write a media type, for example text/plain or text/plain; charset=utf-8"
	ContentType string `json:"contentType,omitempty"`

	// unknownField adds an undocumented field to the body.
	//
	// +optional
	UnknownField bool `json:"unknownField,omitempty"`

	// unknownEvent sends an undocumented type of event.
	//
	// +optional
	UnknownEvent bool `json:"unknownEvent,omitempty"`
}

// APIFault is a fault of the answer to a request. All given fields apply together. Times are in real time, not in
// sandbox time.
//
// +kubebuilder:validation:XValidation:rule="[has(self.status), has(self.dropConnection), has(self.delay), has(self.malformedBody) && self.malformedBody].exists(x, x)",message="write what goes wrong with the answer, for example status: 503 or dropConnection: AfterCommit"
// +kubebuilder:validation:XValidation:rule="[has(self.status), has(self.dropConnection), has(self.malformedBody) && self.malformedBody].filter(x, x).size() <= 1",message="write at most one of status, dropConnection and malformedBody"
// +kubebuilder:validation:XValidation:rule="!has(self.retryAfter) || has(self.status) && (self.status == 429 || self.status == 503)",fieldPath=".retryAfter",message="write a retryAfter only with status: 429 or status: 503"
type APIFault struct {
	// status answers with this HTTP status, before anything is recorded: 429, 500, 501, 502, 503 or 504.
	//
	// +optional
	// +kubebuilder:validation:Enum=429;500;501;502;503;504
	Status int32 `json:"status,omitempty"`

	// retryAfter is the value of the header Retry-After of a 429 or 503, 1s to 1h, in whole seconds.
	//
	// +optional
	// +kubebuilder:validation:XValidation:rule="!self.matches('^([0-9]{1,5}([.][0-9]{1,3})?(h|m|s|ms))+$') || duration(self) >= duration('1s') && duration(self) <= duration('1h')",message="write a retryAfter from 1s to 1h"
	RetryAfter Duration `json:"retryAfter,omitempty"`

	// dropConnection closes the connection without an answer: BeforeCommit, before anything is recorded, or AfterCommit, when the
	// transaction is recorded.
	//
	// +optional
	// +kubebuilder:validation:Enum=BeforeCommit;AfterCommit
	DropConnection string `json:"dropConnection,omitempty"`

	// delay is the additional time before the answer, up to 60s. If too many answers are already held, the answer is
	// sent at once.
	//
	// +optional
	// +kubebuilder:validation:XValidation:rule="!self.matches('^([0-9]{1,5}([.][0-9]{1,3})?(h|m|s|ms))+$') || duration(self) > duration('0s') && duration(self) <= duration('60s')",message="write a delay from 1ms to 60s"
	Delay Duration `json:"delay,omitempty"`

	// malformedBody answers with a body that is not valid JSON. The request is still executed.
	//
	// +optional
	MalformedBody bool `json:"malformedBody,omitempty"`
}

// OperatorFault is a fault of an operator's own API. All given fields apply together.
//
// +kubebuilder:validation:XValidation:rule="[has(self.status), has(self.dropConnection), has(self.delay), has(self.callback), has(self.statusStaysPending), has(self.statusFlickers) && self.statusFlickers, has(self.reason)].exists(x, x)",message="write what goes wrong at the operator, for example status: 503 or callback: {drop: true}"
// +kubebuilder:validation:XValidation:rule="!has(self.status) || !has(self.dropConnection)",message="write at most one of status and dropConnection"
type OperatorFault struct {
	// status answers with this HTTP status and the operator's own error, before anything is recorded: 401, 429, 500,
	// 501, 502, 503 or 504.
	//
	// +optional
	// +kubebuilder:validation:Enum=401;429;500;501;502;503;504
	Status int32 `json:"status,omitempty"`

	// dropConnection closes the connection without an answer: BeforeCommit, before anything is recorded, or AfterCommit, when the
	// transaction is recorded.
	//
	// +optional
	// +kubebuilder:validation:Enum=BeforeCommit;AfterCommit
	DropConnection string `json:"dropConnection,omitempty"`

	// delay is the additional real time before the answer, up to 60s. If too many answers are already held, the answer
	// is sent at once.
	//
	// +optional
	// +kubebuilder:validation:XValidation:rule="!self.matches('^([0-9]{1,5}([.][0-9]{1,3})?(h|m|s|ms))+$') || duration(self) > duration('0s') && duration(self) <= duration('60s')",message="write a delay from 1ms to 60s"
	Delay Duration `json:"delay,omitempty"`

	// callback is a fault of the callback of the transaction.
	//
	// +optional
	Callback *CallbackFault `json:"callback,omitempty"`

	// statusStaysPending is the sandbox time for which the operator still reports a transaction as pending after its
	// outcome, up to 24h. The sandbox's own API shows the outcome at once.
	//
	// +optional
	// +kubebuilder:validation:XValidation:rule="!self.matches('^([0-9]{1,5}([.][0-9]{1,3})?(h|m|s|ms))+$') || duration(self) > duration('0s') && duration(self) <= duration('24h')",message="write a statusStaysPending from 1ms to 24h"
	StatusStaysPending Duration `json:"statusStaysPending,omitempty"`

	// statusFlickers gives some status calls about a transaction a wrong answer of the operator, before and after its
	// outcome. spec.seed draws which ones. Only for operators whose own sandbox does this. The sandbox's own API tells the truth.
	//
	// +optional
	StatusFlickers bool `json:"statusFlickers,omitempty"`

	// reason is the operator's code for a failure in its answers and callbacks, instead of the right code: 1 to 64 of
	// A-Z, 0-9, _ and ., for example INTERNAL_PROCESSING_ERROR or 1019.
	//
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Z0-9][A-Z0-9_.]*$')",message="write a code of A-Z, 0-9, _ and . that starts with a letter or a digit, for example INTERNAL_PROCESSING_ERROR or 1019"
	Reason string `json:"reason,omitempty"`
}

// CallbackFault is a fault of the callback of an operator's own API. All given fields apply together. Times are in
// sandbox time.
//
// +kubebuilder:validation:XValidation:rule="[has(self.drop) && self.drop, has(self.duplicate), has(self.delay), has(self.beforeAnswer) && self.beforeAnswer].exists(x, x)",message="write what goes wrong with the callback, for example drop: true or delay: 30s"
// +kubebuilder:validation:XValidation:rule="!has(self.duplicate) || !has(self.drop) || !self.drop",message="write at most one of drop and duplicate"
// +kubebuilder:validation:XValidation:rule="!has(self.overlap) || !self.overlap || has(self.duplicate)",fieldPath=".overlap",message="write overlap only with duplicate, for example duplicate: 2"
type CallbackFault struct {
	// drop loses the callback: the receiver gets nothing, because operators do not repeat callbacks.
	//
	// +optional
	Drop bool `json:"drop,omitempty"`

	// duplicate is the total number of times that the callback is sent, 2 to 10.
	//
	// +optional
	// +kubebuilder:validation:Minimum=2
	// +kubebuilder:validation:Maximum=10
	Duplicate int32 `json:"duplicate,omitempty"`

	// overlap sends all duplicates at the same moment, each on its own connection. Default false: one after the
	// other.
	//
	// +optional
	Overlap bool `json:"overlap,omitempty"`

	// delay is the additional time before the callback is sent, up to 1h.
	//
	// +optional
	// +kubebuilder:validation:XValidation:rule="!self.matches('^([0-9]{1,5}([.][0-9]{1,3})?(h|m|s|ms))+$') || duration(self) > duration('0s') && duration(self) <= duration('1h')",message="write a delay from 1ms to 1h"
	Delay Duration `json:"delay,omitempty"`

	// beforeAnswer sends the callback before the answer to its request. The answer waits until the callback was sent,
	// at most 15 s. With a Manual clock, it has no effect.
	//
	// +optional
	BeforeAnswer bool `json:"beforeAnswer,omitempty"`
}

// FaultStatus is how often a fault has applied.
type FaultStatus struct {
	// name of the fault.
	//
	// +required
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`

	// times is the number of times that the fault has applied, since the last reset or the last change of the fault.
	//
	// +required
	Times int64 `json:"times"`

	// lastTime is the sandbox time at which the fault last applied.
	//
	// +optional
	LastTime *metav1.Time `json:"lastTime,omitempty"`
}
