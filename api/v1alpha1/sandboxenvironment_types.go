package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// SandboxFinalizer keeps a deleted SandboxEnvironment until its rows are out of the database.
const SandboxFinalizer = "cauri.dev/sandbox"

// SandboxEnvironmentSpec is what a sandbox should be like.
//
// +kubebuilder:validation:XValidation:rule="!has(self.webhook) || !has(self.webhook.signingSecretRef) || !has(self.credentialsSecretName) || self.webhook.signingSecretRef.name != self.credentialsSecretName",message="spec.webhook.signingSecretRef must not name the Secret in spec.credentialsSecretName, which the controller writes: put your signing secret into a Secret of its own"
type SandboxEnvironmentSpec struct {
	// environments are the operators whose mobile money the sandbox simulates, each in one country. There is at least
	// one, and each pair of operator and country stands once.
	//
	// +required
	// +listType=map
	// +listMapKey=operator
	// +listMapKey=country
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	Environments []Environment `json:"environments"`

	// openingFloat is the merchant's balance at the start, one entry a currency. A currency without an entry starts at 0.
	// A changed entry sets the live balance to the new amount.
	//
	// +optional
	// +listType=map
	// +listMapKey=currency
	// +kubebuilder:validation:MaxItems=2
	OpeningFloat []Money `json:"openingFloat,omitempty"`

	// stores are the merchant's applications: the values that the API takes as "application". Without any there is one
	// store, named like the resource.
	//
	// +optional
	// +listType=map
	// +listMapKey=slug
	// +kubebuilder:validation:MaxItems=100
	Stores []Store `json:"stores,omitempty"`

	// webhook is where the sandbox sends its events. Without it events are recorded and nothing is sent.
	//
	// +optional
	Webhook *Webhook `json:"webhook,omitempty"`

	// latencyPercent scales the simulated latency of outcomes, in percent, 0 to 1000. Default 100: some hundred milliseconds to
	// some seconds, half a minute for a timeout. 0 answers at once, which suits automated tests.
	//
	// +optional
	// +default=100
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000
	LatencyPercent *int32 `json:"latencyPercent,omitempty"`

	// pendingTimeout is how long a collection waits for its payer to confirm it, 1s to 24h, for example 2s in an automated
	// test. After it the collection ends TIMEOUT. Default 60m. A change holds for the collections made after it.
	//
	// +optional
	// +default="60m"
	// +kubebuilder:validation:XValidation:rule="!self.matches('^([0-9]{1,5}([.][0-9]{1,3})?(h|m|s|ms))+$') || duration(self) >= duration('1s') && duration(self) <= duration('24h')",message="write a pendingTimeout from 1s to 24h"
	PendingTimeout Duration `json:"pendingTimeout,omitempty"`

	// quota limits how many transactions the sandbox may make. Without it there is no limit.
	//
	// +optional
	Quota *Quota `json:"quota,omitempty"`

	// rateLimit limits how often the sandbox's API may be called. Without it there is no limit.
	//
	// +optional
	RateLimit *RateLimit `json:"rateLimit,omitempty"`

	// credentialsSecretName is the name of the Secret that the controller writes the API key, the webhook signing secret
	// and the base URL to. Default: the resource's name followed by -credentials. A changed name moves the Secret; the
	// key stays the same. A Secret of that name that is not the controller's is never touched.
	//
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="!format.dns1123Subdomain().validate(self).hasValue()",message="write a Secret's name: a-z, 0-9, - and ., starting and ending with a letter or digit"
	CredentialsSecretName string `json:"credentialsSecretName,omitempty"`

	// keyRotation is any text of up to 63 characters, for example "2026-11". A new value puts a new API key into the
	// credentials Secret at once; the one before it works for keyRotationGrace longer.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=63
	KeyRotation string `json:"keyRotation,omitempty"`

	// keyRotationGrace is how long an API key still works after another one replaced it, 0s to 720h. Default 24h. 0s revokes
	// it, and every older one, within a second.
	//
	// +optional
	// +default="24h"
	// +kubebuilder:validation:XValidation:rule="!self.matches('^([0-9]{1,5}([.][0-9]{1,3})?(h|m|s|ms))+$') || duration(self) <= duration('720h')",message="write a keyRotationGrace of at most 720h"
	KeyRotationGrace Duration `json:"keyRotationGrace,omitempty"`

	// reset is any text of up to 63 characters, for example "run-42". A new value empties the sandbox at one moment: its
	// transactions and events are gone, nothing of them is settled or sent any more, and balances and quota are as at the
	// start. The organization's id, the environments' ids, the keys and the configuration stay. The value that a resource is
	// made with resets nothing.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Reset string `json:"reset,omitempty"`

	// ttl is how long the resource lives: so long after its creation it deletes itself, 1m to 8760h, for example 2h. Without
	// it the resource stays until somebody deletes it. status.expiresAt tells when.
	//
	// +optional
	// +kubebuilder:validation:XValidation:rule="!self.matches('^([0-9]{1,5}([.][0-9]{1,3})?(h|m|s|ms))+$') || duration(self) >= duration('1m') && duration(self) <= duration('8760h')",message="write a ttl from 1m to 8760h"
	TTL Duration `json:"ttl,omitempty"`

	// suspend puts the sandbox to rest: the API answers 503 suspended, nothing is settled, expired or delivered, and nothing
	// is lost. What came due meanwhile is done when it is false again. Default false.
	//
	// +optional
	Suspend bool `json:"suspend,omitempty"`

	// deletionPolicy is what the deletion of the resource does to the sandbox's data. Delete, the default, removes it from
	// the database. Retain leaves it there, for example as evidence, and revokes its keys; nothing refers to it any more.
	//
	// +optional
	// +default="Delete"
	// +kubebuilder:validation:Enum=Delete;Retain
	DeletionPolicy string `json:"deletionPolicy,omitempty"`
}

// Environment is one operator in one country.
//
// +kubebuilder:validation:XValidation:rule="self.operator != 'airtel' || self.country == 'RW'",message="airtel is available in RW only: write country: RW, or another operator"
type Environment struct {
	// operator is the mobile-money operator: mtn, orange, moov or airtel.
	//
	// +required
	Operator Operator `json:"operator"`

	// country is the market: CI, RW, BJ or TG. It decides the currency: RWF in RW, else XOF. airtel is in RW only.
	//
	// +required
	Country Country `json:"country"`

	// enabled tells whether the environment takes payments. Default true. One that is false keeps its history and its id.
	//
	// +optional
	// +default=true
	Enabled *bool `json:"enabled,omitempty"`

	// commissionBps is the commission in basis points of the amount, hundredths of a percent: 150 is 1.5 %. 0 to 10000,
	// default 0.
	//
	// +optional
	// +default=0
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=10000
	CommissionBps int32 `json:"commissionBps,omitempty"`

	// merchantAbsorptionPct is the part of the commission that the merchant bears, in percent, 0 to 100; the customer pays
	// the rest on top of the amount. Default 100.
	//
	// +optional
	// +default=100
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	MerchantAbsorptionPct *int32 `json:"merchantAbsorptionPct,omitempty"`

	// unknownMsisdnPolicy is what happens to numbers that no TestClient of the sandbox has. reject, the default, refuses
	// them with UNKNOWN_MSISDN; passthrough forwards their payments to the operator's API. That is the one of the operator
	// that Cauri simulates, which approves them, unless the store's operatorCredentials name another.
	//
	// +optional
	// +default="reject"
	// +kubebuilder:validation:Enum=reject;passthrough
	UnknownMSISDNPolicy string `json:"unknownMsisdnPolicy,omitempty"`

	// maxAmount is the operator's limit for one collection, in whole units of the currency, 1 to 1000000000000: a larger
	// one ends LIMIT_EXCEEDED. Without it there is no limit.
	//
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000000000
	MaxAmount *int64 `json:"maxAmount,omitempty"`
}

// Store is one of the merchant's applications.
type Store struct {
	// slug is the store's name in the API: 1 to 80 of a-z, 0-9, - and _, starting and ending with a letter or digit, for
	// example shop.
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=80
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([a-z0-9_-]*[a-z0-9])?$')",message="write a slug of a-z, 0-9, - and _, starting and ending with a letter or digit, for example shop"
	Slug string `json:"slug"`

	// operatorCredentials are what the store has of operators: collections from numbers without a TestClient are forwarded
	// with them, where the policy is passthrough. airtel takes none without credentials; they end SERVICE_UNAVAILABLE.
	//
	// +optional
	// +listType=map
	// +listMapKey=operator
	// +listMapKey=country
	// +kubebuilder:validation:MaxItems=16
	OperatorCredentials []OperatorCredentials `json:"operatorCredentials,omitempty"`
}

// SandboxEnvironmentStatus is what a sandbox is like.
type SandboxEnvironmentStatus struct {
	// observedGeneration is the generation of the spec that the rest of the status was found for.
	//
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// conditions are Ready, which sums up SpecAccepted, DatabaseReady and CredentialsReady; OperatorCredentialsReady, where
	// stores name Secrets for operators; WebhookReady, where there is a webhook; and, while they are true, ProcessingFailing,
	// Reconciling and Stalled.
	//
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// organizationID is the organization's id in the API, org_<code>. It stays the same for the life of the resource and is
	// never used again.
	//
	// +optional
	OrganizationID string `json:"organizationID,omitempty"`

	// url is the base URL of the sandbox's API; the routes follow it as /api/v1/... .
	//
	// +optional
	URL string `json:"url,omitempty"`

	// binding names the credentials Secret, as the Service Binding specification has it.
	//
	// +optional
	Binding *SecretReference `json:"binding,omitempty"`

	// environments are the sandbox's environments as the API knows them.
	//
	// +optional
	// +listType=map
	// +listMapKey=operator
	// +listMapKey=country
	Environments []EnvironmentStatus `json:"environments,omitempty"`

	// environmentsSummary is how many of the environments are enabled, for example 2/3.
	//
	// +optional
	EnvironmentsSummary string `json:"environmentsSummary,omitempty"`

	// balances are the merchant's live balances, one entry a currency. They follow a change within 15 seconds.
	//
	// +optional
	// +listType=map
	// +listMapKey=currency
	Balances []Balance `json:"balances,omitempty"`

	// testClients is how many TestClients the sandbox has.
	//
	// +optional
	TestClients *int64 `json:"testClients,omitempty"`

	// transactions are how many transactions the sandbox has. They follow a change within 15 seconds.
	//
	// +optional
	Transactions *TransactionCounts `json:"transactions,omitempty"`

	// webhook is how the deliveries to the webhook endpoint go. It follows a change within 15 seconds.
	//
	// +optional
	Webhook *WebhookStatus `json:"webhook,omitempty"`

	// observedKeyRotation is the value of spec.keyRotation that the API key in the credentials Secret was issued for.
	//
	// +optional
	ObservedKeyRotation string `json:"observedKeyRotation,omitempty"`

	// observedReset is the value of spec.reset that was carried out last.
	//
	// +optional
	ObservedReset string `json:"observedReset,omitempty"`

	// expiresAt is when the resource deletes itself, where spec.ttl is set.
	//
	// +optional
	ExpiresAt *metav1.Time `json:"expiresAt,omitempty"`
}

// TransactionCounts are how many transactions a sandbox has.
type TransactionCounts struct {
	// total of collections, refunds and disbursements of any status.
	//
	// +required
	Total int64 `json:"total"`

	// pending are the collections that wait for their outcome.
	//
	// +required
	Pending int64 `json:"pending"`
}

// WebhookStatus is how the deliveries to a webhook endpoint go.
type WebhookStatus struct {
	// delivered is how many events the endpoint acknowledged.
	//
	// +required
	Delivered int64 `json:"delivered"`

	// failed is how many events it did not acknowledge with any retry. They stay, and can be sent again through the API.
	//
	// +required
	Failed int64 `json:"failed"`

	// lastFailure is the last attempt that was not acknowledged.
	//
	// +optional
	LastFailure *WebhookFailure `json:"lastFailure,omitempty"`
}

// WebhookFailure is an attempt to deliver an event that was not acknowledged.
type WebhookFailure struct {
	// time of the attempt.
	//
	// +required
	Time metav1.Time `json:"time"`

	// message says what went wrong, for example: the receiver answered 500.
	//
	// +required
	Message string `json:"message"`
}

// Balance is a live balance. Unlike what a spec may ask for it has no upper bound.
type Balance struct {
	// currency of the balance.
	//
	// +required
	Currency Currency `json:"currency"`

	// amount in whole units of the currency.
	//
	// +required
	Amount int64 `json:"amount"`
}

// EnvironmentStatus is an environment as the API knows it.
type EnvironmentStatus struct {
	// operator of the environment.
	//
	// +required
	Operator Operator `json:"operator"`

	// country of the environment.
	//
	// +required
	Country Country `json:"country"`

	// currency that follows from the country.
	//
	// +required
	Currency Currency `json:"currency"`

	// id of the environment in the API, env_<code>.
	//
	// +required
	ID string `json:"id"`

	// enabled tells whether the environment takes payments.
	//
	// +required
	Enabled bool `json:"enabled"`
}

// SandboxEnvironment is a mobile-money sandbox: a merchant's organization of its own at the simulated operators, with its
// API key, its balances, its stores and its webhook endpoint. The credentials stand in the Secret that status.binding
// names.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=sbx,categories=cauri
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="URL",type=string,JSONPath=`.status.url`
// +kubebuilder:printcolumn:name="Environments",type=string,JSONPath=`.status.environmentsSummary`,description="enabled/all"
// +kubebuilder:printcolumn:name="Pending",type=integer,JSONPath=`.status.transactions.pending`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Org",type=string,priority=1,JSONPath=`.status.organizationID`
// +kubebuilder:printcolumn:name="Message",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].message`
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 63 && !self.metadata.name.contains('.')",message="the name stands in URLs and names the default store: write a DNS label, at most 63 of a-z, 0-9 and - without a dot"
// +kubebuilder:validation:XValidation:rule="!has(self.spec.webhook) || !has(self.spec.webhook.signingSecretRef) || has(self.spec.credentialsSecretName) || self.spec.webhook.signingSecretRef.name != self.metadata.name + '-credentials'",message="spec.webhook.signingSecretRef must not name the sandbox's own credentials Secret, which the controller writes: put your signing secret into a Secret of its own"
type SandboxEnvironment struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is what the sandbox should be like.
	//
	// +required
	Spec SandboxEnvironmentSpec `json:"spec"`

	// status is what the sandbox is like, written by the controller.
	//
	// +optional
	Status SandboxEnvironmentStatus `json:"status,omitzero"`
}

// SandboxEnvironmentList is a list of SandboxEnvironments.
//
// +kubebuilder:object:root=true
type SandboxEnvironmentList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []SandboxEnvironment `json:"items"`
}

// CredentialsSecretName is the name of the Secret that the sandbox's credentials are written to.
func (s *SandboxEnvironment) CredentialsSecretName() string {
	if s.Spec.CredentialsSecretName != "" {
		return s.Spec.CredentialsSecretName
	}
	return s.Name + "-credentials"
}
