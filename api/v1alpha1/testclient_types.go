package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// TestClientState is the state of a SIM: Active or Blocked.
//
// +kubebuilder:validation:Enum=Active;Blocked
type TestClientState string

// The states of a TestClient.
const (
	TestClientActive  TestClientState = "Active"
	TestClientBlocked TestClientState = "Blocked"
)

// TestClientSpec describes a customer's SIM.
//
// +kubebuilder:validation:XValidation:rule="!has(self.operator) || !has(self.country) || self.operator != 'mtn' || self.country in ['CI', 'RW', 'BJ', 'TG', 'UG', 'GH', 'CM']",message="mtn is available in CI, RW, BJ, TG, UG, GH and CM only: write country: CI, RW, BJ, TG, UG, GH or CM, or another operator"
// +kubebuilder:validation:XValidation:rule="!has(self.operator) || !has(self.country) || self.operator != 'orange' || self.country in ['CI', 'RW', 'BJ', 'TG', 'SN', 'CM']",message="orange is available in CI, RW, BJ, TG, SN and CM only: write country: CI, RW, BJ, TG, SN or CM, or another operator"
// +kubebuilder:validation:XValidation:rule="!has(self.operator) || !has(self.country) || self.operator != 'moov' || self.country in ['CI', 'RW', 'BJ', 'TG']",message="moov is available in CI, RW, BJ and TG only: write country: CI, RW, BJ or TG, or another operator"
// +kubebuilder:validation:XValidation:rule="!has(self.operator) || !has(self.country) || self.operator != 'airtel' || self.country in ['RW', 'KE', 'UG', 'ZM']",message="airtel is available in RW, KE, UG and ZM only: write country: RW, KE, UG or ZM, or another operator"
// +kubebuilder:validation:XValidation:rule="!has(self.operator) || !has(self.country) || self.operator != 'mpesa' || self.country in ['KE']",message="mpesa is available in KE only: write country: KE, or another operator"
type TestClientSpec struct {
	// sandboxRef names the SandboxEnvironment of the SIM, in the same namespace. The SandboxEnvironment may be created
	// later: the TestClient waits for it. sandboxRef cannot be changed.
	//
	// +required
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="sandboxRef cannot be changed: delete the TestClient and create it again"
	SandboxRef SandboxReference `json:"sandboxRef"`

	// msisdn is the phone number with its plus sign and country code. It is unique in the
	// sandbox and cannot be changed. Numbers of Benin (+229) have ten digits and begin with 01.
	//
	// +required
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^\\\\+[1-9][0-9]{6,14}$')",message="write the number with + and its country code, digits only"
	// +kubebuilder:validation:XValidation:rule="!self.matches('^\\\\+229[0-9]{8}$')",message="numbers of BJ have 10 digits since 30 November 2024: write 01 after +229",messageExpression="'numbers of BJ have 10 digits since 30 November 2024: write +22901' + self.substring(4)"
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="msisdn cannot be changed: delete the TestClient and create it again"
	MSISDN string `json:"msisdn"`

	// operator is the SIM's mobile-money operator: mtn, orange, moov, airtel or mpesa. Default: the operator of the number's
	// prefix. It cannot be changed after status.operator is set. But you may always write the value of status.operator
	// here.
	//
	// +optional
	Operator Operator `json:"operator,omitempty"`

	// country is the SIM's market: CI, RW, BJ, TG, KE, SN, UG, GH, CM or ZM.
	// It determines the currency. Default: the country of the number's country code. It cannot be changed after
	// status.country is set. But you may always write the value of status.country here.
	//
	// +optional
	Country Country `json:"country,omitempty"`

	// state is Active (default) or Blocked. Payments and payouts of a blocked SIM end with ACCOUNT_BLOCKED. Refunds to
	// it still work.
	//
	// +optional
	// +default="Active"
	State TestClientState `json:"state,omitempty"`

	// balance is the SIM's opening balance, in whole units of the currency, 0 to 1000000000000. Default 0. A change
	// sets the live balance, which status.balance shows, to the new value.
	//
	// +optional
	// +default=0
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000000000000
	Balance int64 `json:"balance,omitempty"`

	// behavior is the customer's reaction to the request to confirm a payment. Approve (default) pays. Cancel declines.
	// WrongPin enters a wrong PIN. Ignore never answers, so that the payment expires. Manual waits for an answer
	// through the test-client endpoints of the API.
	//
	// +optional
	// +default="Approve"
	// +kubebuilder:validation:Enum=Approve;Cancel;WrongPin;Ignore;Manual
	Behavior string `json:"behavior,omitempty"`
}

// TestClientStatus is the observed state of a customer's SIM.
type TestClientStatus struct {
	// observedGeneration is the generation of the spec that the rest of the status describes. It is -1 until the first
	// reconciliation, so that tools do not consider a new resource ready.
	//
	// +optional
	// +kubebuilder:validation:Minimum=-1
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// conditions are Ready, and Reconciling and Stalled while they are True.
	//
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// operator of the SIM, from the spec or the number.
	//
	// +optional
	Operator Operator `json:"operator,omitempty"`

	// country of the SIM, from the spec or the number.
	//
	// +optional
	Country Country `json:"country,omitempty"`

	// currency of the country.
	//
	// +optional
	Currency Currency `json:"currency,omitempty"`

	// balance is the live balance in whole units of the currency. It shows a change within 15 seconds. It is not set
	// while the SIM is not registered with the sandbox.
	//
	// +optional
	Balance *int64 `json:"balance,omitempty"`
}

// TestClient is a customer of a sandbox: a SIM with a phone number, a balance, and a behavior for requests to confirm a
// payment. A TestClient that is deleted and created again is a new SIM.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=tc,categories=cauri
// +kubebuilder:selectablefield:JSONPath=`.spec.sandboxRef.name`
// +kubebuilder:printcolumn:name="Sandbox",type=string,JSONPath=`.spec.sandboxRef.name`
// +kubebuilder:printcolumn:name="MSISDN",type=string,JSONPath=`.spec.msisdn`
// +kubebuilder:printcolumn:name="Operator",type=string,JSONPath=`.status.operator`
// +kubebuilder:printcolumn:name="State",type=string,JSONPath=`.spec.state`
// +kubebuilder:printcolumn:name="Behavior",type=string,JSONPath=`.spec.behavior`
// +kubebuilder:printcolumn:name="Balance",type=integer,JSONPath=`.status.balance`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Message",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].message`
// +kubebuilder:validation:XValidation:rule="has(self.spec.operator) == has(oldSelf.spec.operator) && (!has(self.spec.operator) || self.spec.operator == oldSelf.spec.operator) || has(oldSelf.status) && (has(oldSelf.status.operator) ? has(self.spec.operator) && self.spec.operator == oldSelf.status.operator : has(oldSelf.status.conditions))",fieldPath=".spec.operator",message="operator cannot be changed: delete the TestClient and create it again"
// +kubebuilder:validation:XValidation:rule="has(self.spec.country) == has(oldSelf.spec.country) && (!has(self.spec.country) || self.spec.country == oldSelf.spec.country) || has(oldSelf.status) && (has(oldSelf.status.country) ? has(self.spec.country) && self.spec.country == oldSelf.status.country : has(oldSelf.status.conditions))",fieldPath=".spec.country",message="country cannot be changed: delete the TestClient and create it again"
type TestClient struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec describes the SIM.
	//
	// +required
	Spec TestClientSpec `json:"spec"`

	// status is the observed state of the SIM. The controller writes it.
	//
	// +optional
	// +default={"observedGeneration":-1}
	Status TestClientStatus `json:"status,omitzero"`
}

// TestClientList is a list of TestClients.
//
// +kubebuilder:object:root=true
type TestClientList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []TestClient `json:"items"`
}
