package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// ExpectationSpec describes what has to happen in a sandbox.
//
// +kubebuilder:validation:XValidation:rule="has(self.ttl) == has(oldSelf.ttl) && (!has(self.ttl) || self.ttl == oldSelf.ttl)",message="only run can be changed: delete the Expectation and create it again to change its ttl"
type ExpectationSpec struct {
	// sandboxRef names the SandboxEnvironment, in the same namespace, in which this has to happen. It cannot be changed.
	//
	// +required
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="only run can be changed: delete the Expectation and create it again to change its sandboxRef"
	SandboxRef SandboxReference `json:"sandboxRef"`

	// within is how much real time there is from the creation of the resource on, 5s to 24h. What is not met by then has
	// failed. Default 30s. It cannot be changed.
	//
	// +optional
	// +default="30s"
	// +kubebuilder:validation:XValidation:rule="!self.matches('^([0-9]{1,5}([.][0-9]{1,3})?(h|m|s|ms))+$') || duration(self) >= duration('5s') && duration(self) <= duration('24h')",message="write a time from 5s to 24h"
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="only run can be changed: delete the Expectation and create it again to change within"
	Within Duration `json:"within,omitempty"`

	// settle is the real time for which all lines have to stay met, 0s to 1h. Default 2s. It cannot be changed.
	//
	// +optional
	// +default="2s"
	// +kubebuilder:validation:XValidation:rule="!self.matches('^([0-9]{1,5}([.][0-9]{1,3})?(h|m|s|ms))+$') || duration(self) <= duration('1h')",message="write a time from 0s to 1h"
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="only run can be changed: delete the Expectation and create it again to change settle"
	Settle Duration `json:"settle,omitempty"`

	// since is Reset (default) or Creation. With Reset, all transactions since the last reset of the sandbox count; with
	// Creation, only what comes after the creation. It cannot be changed.
	//
	// +optional
	// +default="Reset"
	// +kubebuilder:validation:Enum=Reset;Creation
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="only run can be changed: delete the Expectation and create it again to change since"
	Since string `json:"since,omitempty"`

	// run is any text of up to 63 characters, for example "42". A new value evaluates the lines again, with the whole time of
	// within. It is the only field that can be changed.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Run string `json:"run,omitempty"`

	// ttl is how long the resource stays after it was decided, 1m to 8760h, for example 2h. If it is not set the resource stays
	// until somebody deletes it. It cannot be changed.
	//
	// +optional
	// +kubebuilder:validation:XValidation:rule="!self.matches('^([0-9]{1,5}([.][0-9]{1,3})?(h|m|s|ms))+$') || duration(self) >= duration('1m') && duration(self) <= duration('8760h')",message="write a ttl from 1m to 8760h"
	TTL Duration `json:"ttl,omitempty"`

	// expect has the lines, 1 to 50. All of them have to be met at one moment. They cannot be changed.
	//
	// +required
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=50
	// +kubebuilder:validation:XValidation:rule="self.filter(l, has(l.nothingElse)).size() <= 1",message="nothingElse must be one line only"
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="only run can be changed: delete the Expectation and create it again to change its lines"
	Expect []ExpectedLine `json:"expect"`
}

// ExpectedLine is one thing that is expected.
//
// +kubebuilder:validation:XValidation:rule="[has(self.transactions), has(self.events), has(self.float), has(self.testClient), has(self.refunds), has(self.nothingElse)].filter(x, x).size() == 1",message="write exactly one of transactions, events, float, testClient, refunds and nothingElse in a line; merchant is for `cauri expect` only"
type ExpectedLine struct {
	// transactions expects a number of transactions.
	//
	// +optional
	Transactions *ExpectedTransactions `json:"transactions,omitempty"`

	// events expects a number of events. Callbacks of the operators' own APIs are events too.
	//
	// +optional
	Events *ExpectedEvents `json:"events,omitempty"`

	// float expects a balance of the merchant.
	//
	// +optional
	Float *ExpectedFloat `json:"float,omitempty"`

	// testClient expects the balance of a test client.
	//
	// +optional
	TestClient *ExpectedTestClient `json:"testClient,omitempty"`

	// refunds expects the sum of the successful refunds of an order.
	//
	// +optional
	Refunds *ExpectedRefunds `json:"refunds,omitempty"`

	// nothingElse is true: there is no transaction that no other line counts.
	//
	// +optional
	// +kubebuilder:validation:XValidation:rule="self",message="write nothingElse: true, or leave the line out if there may be other transactions"
	NothingElse *bool `json:"nothingElse,omitempty"`
}

// ExpectedTransactions expects a number of transactions.
type ExpectedTransactions struct {
	// where says which transactions count. Default: all.
	//
	// +optional
	Where *ExpectedWhere `json:"where,omitempty"`

	// count is a number up to 9999, or a range: ">=1", "<=3" or "2..4".
	//
	// +required
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="type(self) == int ? self >= 0 && self <= 9999 : self.matches('^([0-9]{1,4}|>=[0-9]{1,4}|<=[0-9]{1,4}|[0-9]{1,4}[.][.][0-9]{1,4})$')",message="must be a number from 0 to 9999, or a range: \">=1\", \"<=3\" or \"2..4\""
	// +kubebuilder:validation:XValidation:rule="type(self) == int || !self.matches('^[0-9]{1,4}[.][.][0-9]{1,4}$') || int(self.split('..')[0]) <= int(self.split('..')[1])",message="must be a range from the smaller to the larger number, such as \"2..4\""
	Count intstr.IntOrString `json:"count"`
}

// ExpectedEvents expects a number of events.
type ExpectedEvents struct {
	// where says which events count, by their transactions and their names. Default: all.
	//
	// +optional
	Where *ExpectedEventWhere `json:"where,omitempty"`

	// state is that of the events that count: recorded, queued, delivered or failed. Default: any.
	//
	// +optional
	// +kubebuilder:validation:Enum=recorded;queued;delivered;failed
	State string `json:"state,omitempty"`

	// count is a number up to 9999, or a range: ">=1", "<=3" or "2..4".
	//
	// +required
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="type(self) == int ? self >= 0 && self <= 9999 : self.matches('^([0-9]{1,4}|>=[0-9]{1,4}|<=[0-9]{1,4}|[0-9]{1,4}[.][.][0-9]{1,4})$')",message="must be a number from 0 to 9999, or a range: \">=1\", \"<=3\" or \"2..4\""
	// +kubebuilder:validation:XValidation:rule="type(self) == int || !self.matches('^[0-9]{1,4}[.][.][0-9]{1,4}$') || int(self.split('..')[0]) <= int(self.split('..')[1])",message="must be a range from the smaller to the larger number, such as \"2..4\""
	Count intstr.IntOrString `json:"count"`

	// maxAttempts is the largest number of attempts that an event of where may need, in any state. Default: no limit.
	//
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=9999
	MaxAttempts *int32 `json:"maxAttempts,omitempty"`
}

// ExpectedFloat expects a balance of the merchant.
type ExpectedFloat struct {
	// currency of the float: XOF, RWF, KES, UGX, GHS, XAF or ZMW.
	//
	// +required
	Currency Currency `json:"currency"`

	// equals is the balance in whole units of the currency.
	//
	// +required
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000000000000000
	Equals int64 `json:"equals"`
}

// ExpectedTestClient expects the balance of a test client.
type ExpectedTestClient struct {
	// msisdn is the number of the test client.
	//
	// +required
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^\\\\+[1-9][0-9]{6,14}$')",message="write the number with + and its country code, digits only"
	MSISDN string `json:"msisdn"`

	// balance is the balance in whole units of the currency.
	//
	// +required
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000000000000000
	Balance int64 `json:"balance"`
}

// ExpectedRefunds expects the sum of the successful refunds of an order.
type ExpectedRefunds struct {
	// of is the order.
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=120
	Of string `json:"of"`

	// total is the sum in whole units of the currency.
	//
	// +required
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000000000000000
	Total int64 `json:"total"`
}

// ExpectedWhere selects transactions. A field that is left out selects all.
//
// +kubebuilder:validation:XValidation:rule="!has(self.createdAfter) || !has(self.createdBefore) || !self.createdAfter.matches('^2[01].*T.*[Z+-]') || !self.createdBefore.matches('^2[01].*T.*[Z+-]') || timestamp(self.createdBefore) > timestamp(self.createdAfter)",fieldPath=".createdBefore",message="must be later than createdAfter"
type ExpectedWhere struct {
	// orderRef is the order, or else the reference, of a transaction.
	//
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=120
	OrderRef string `json:"orderRef,omitempty"`

	// reference of the transaction.
	//
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=80
	Reference string `json:"reference,omitempty"`

	// type is collection, refund or disbursement.
	//
	// +optional
	// +kubebuilder:validation:Enum=collection;refund;disbursement
	Type string `json:"type,omitempty"`

	// status of the transaction, for example SUCCESS.
	//
	// +optional
	// +kubebuilder:validation:Enum=SUCCESS;PIN_INVALID;INSUFFICIENT_FUNDS;TIMEOUT;ACCOUNT_BLOCKED;USER_CANCELLED;UNKNOWN_MSISDN;LIMIT_EXCEEDED;SERVICE_UNAVAILABLE;DUPLICATE_REFERENCE;PENDING
	Status string `json:"status,omitempty"`

	// operator of the transaction.
	//
	// +optional
	Operator Operator `json:"operator,omitempty"`

	// country of the transaction.
	//
	// +optional
	Country Country `json:"country,omitempty"`

	// application is the slug of a store.
	//
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=80
	Application string `json:"application,omitempty"`

	// msisdn is the number of the payer or the recipient.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^\\\\+[1-9][0-9]{6,14}$')",message="write the number with + and its country code, digits only"
	MSISDN string `json:"msisdn,omitempty"`

	// createdAfter selects what was created at this time of the sandbox or later, such as 2026-12-01T00:00:00Z.
	//
	// +optional
	CreatedAfter DateTime `json:"createdAfter,omitempty"`

	// createdBefore selects what was created before this time of the sandbox, such as 2027-01-01T00:00:00Z.
	//
	// +optional
	CreatedBefore DateTime `json:"createdBefore,omitempty"`
}

// ExpectedEventWhere selects events by their transactions and by their names.
//
// +kubebuilder:validation:XValidation:rule="!has(self.event) || !has(self.type) || self.event == 'operator.callback' || [['payment.completed', 'collection'], ['payment.refunded', 'refund'], ['disbursement.completed', 'disbursement']].exists(pair, pair == [self.event, self.type])",fieldPath=".type",message="must be the type of the transactions that have this event: leave it out"
type ExpectedEventWhere struct {
	ExpectedWhere `json:",inline"`

	// event is the name of the event.
	//
	// +optional
	// +kubebuilder:validation:Enum=payment.completed;payment.refunded;disbursement.completed;operator.callback
	Event string `json:"event,omitempty"`
}

// ExpectationStatus is what is known of an Expectation.
type ExpectationStatus struct {
	// observedGeneration is the generation of the spec that the rest of the status describes. It is -1 until the controller has
	// looked at the resource, so that no tool takes a new resource for one that is met.
	//
	// +optional
	// +kubebuilder:validation:Minimum=-1
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// conditions are Met and Failed and, while they are true, Reconciling and Stalled.
	//
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// observedRun is the value of spec.run that the rest of the status describes.
	//
	// +optional
	ObservedRun string `json:"observedRun,omitempty"`

	// startedAt is when the evaluation of this run began.
	//
	// +optional
	StartedAt *metav1.Time `json:"startedAt,omitempty"`

	// decidedAt is when this run was decided. A verdict does not change any more.
	//
	// +optional
	DecidedAt *metav1.Time `json:"decidedAt,omitempty"`

	// line is the first line that is not met.
	//
	// +optional
	Line string `json:"line,omitempty"`

	// results has one element for each line, in the order of the spec. What was observed is as of the last time that a line began
	// or ceased to be met.
	//
	// +optional
	// +listType=atomic
	Results []ExpectationResult `json:"results,omitempty"`
}

// ExpectationResult is what became of a line.
type ExpectationResult struct {
	// line in words.
	//
	// +required
	Line string `json:"line"`

	// met is whether the line is met.
	//
	// +required
	Met bool `json:"met"`

	// observed is what was found, in words.
	//
	// +required
	Observed string `json:"observed"`

	// at is since when the line is met, or is not met.
	//
	// +required
	At metav1.Time `json:"at"`
}

// Expectation says what has to happen in a sandbox: transactions, events and balances, and that nothing else happens. Cauri
// evaluates it until all lines are met, or one has failed.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=exp,categories=cauri
// +kubebuilder:selectablefield:JSONPath=`.spec.sandboxRef.name`
// +kubebuilder:printcolumn:name="Sandbox",type=string,JSONPath=`.spec.sandboxRef.name`
// +kubebuilder:printcolumn:name="Met",type=string,JSONPath=`.status.conditions[?(@.type=="Met")].status`
// +kubebuilder:printcolumn:name="Line",type=string,JSONPath=`.status.line`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Met")].reason`
// +kubebuilder:printcolumn:name="Message",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Met")].message`
type Expectation struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec describes what has to happen.
	//
	// +required
	Spec ExpectationSpec `json:"spec"`

	// status is what is known. The controller writes it.
	//
	// +optional
	// +default={"observedGeneration":-1}
	Status ExpectationStatus `json:"status,omitzero"`
}

// ExpectationList is a list of Expectations.
//
// +kubebuilder:object:root=true
type ExpectationList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Expectation `json:"items"`
}
