package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// SandboxFinalizer keeps a deleted SandboxEnvironment until its rows are deleted from the database.
const SandboxFinalizer = "cauri.dev/sandbox"

// SandboxEnvironmentSpec describes a sandbox.
//
// +kubebuilder:validation:XValidation:rule="!has(self.webhook) || !has(self.webhook.signingSecretRef) || !has(self.credentialsSecretName) || self.webhook.signingSecretRef.name != self.credentialsSecretName",message="spec.webhook.signingSecretRef must not name the Secret in spec.credentialsSecretName, which the controller writes: put your signing secret into a Secret of its own"
// +kubebuilder:validation:XValidation:rule="!has(self.credentials) || !has(self.credentials.apiKeySecretRef) || !has(self.credentialsSecretName) || self.credentials.apiKeySecretRef.name != self.credentialsSecretName",message="spec.credentials.apiKeySecretRef must not name the Secret in spec.credentialsSecretName, which the controller writes: put your API key into a Secret of its own"
// +kubebuilder:validation:XValidation:rule="!has(self.faults) || self.environments.exists(e, e.operator in ['mpesa']) || !self.faults.exists(f, has(f.operator) && has(f.operator.statusFlickers) && f.operator.statusFlickers && (!has(f.when) || !has(f.when.operator)))",fieldPath=".faults",message="only the status of mpesa flickers: write an environment of mpesa, or leave statusFlickers out"
type SandboxEnvironmentSpec struct {
	// environments are the operators whose mobile money the sandbox simulates, each in one country. There is at least
	// one, and each pair of operator and country is unique.
	//
	// +required
	// +listType=map
	// +listMapKey=operator
	// +listMapKey=country
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	Environments []Environment `json:"environments"`

	// openingFloat is the merchant's opening balance, with one entry for each currency. Without an entry, the opening
	// balance is zero. A change of an entry sets the live balance to the new amount.
	//
	// +optional
	// +listType=map
	// +listMapKey=currency
	// +kubebuilder:validation:MaxItems=7
	OpeningFloat []Money `json:"openingFloat,omitempty"`

	// stores are the merchant's applications. The API accepts their slugs as "application". Without entries, there is
	// one store with the name of the resource.
	//
	// +optional
	// +listType=map
	// +listMapKey=slug
	// +kubebuilder:validation:MaxItems=100
	Stores []Store `json:"stores,omitempty"`

	// webhook is the endpoint that gets the sandbox's events. If it is not set, events are recorded but not sent.
	//
	// +optional
	Webhook *Webhook `json:"webhook,omitempty"`

	// latencyPercent scales the simulated latency of outcomes, in percent, 0 to 1000. With the default, 100, latencies
	// are some hundred milliseconds to some seconds, and half a minute for a timeout. With 0, the API answers at once,
	// for automated tests.
	//
	// +optional
	// +default=100
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000
	LatencyPercent *int32 `json:"latencyPercent,omitempty"`

	// pendingTimeout is the time for which a collection waits for its payer, 1s to 24h, for example 2s in an automated
	// test. After it, the collection ends with TIMEOUT. Default 60m. A change applies to later collections.
	//
	// +optional
	// +default="60m"
	// +kubebuilder:validation:XValidation:rule="!self.matches('^([0-9]{1,5}([.][0-9]{1,3})?(h|m|s|ms))+$') || duration(self) >= duration('1s') && duration(self) <= duration('24h')",message="write a pendingTimeout from 1s to 24h"
	PendingTimeout Duration `json:"pendingTimeout,omitempty"`

	// testNumbers is the set of phone numbers with a fixed behavior that need no TestClient. For example, one approves,
	// one has not enough money, and one never answers. With None, the default, there are none. With Standard, there is
	// a block of numbers for each enabled environment, which GET /v1/test_numbers lists. A TestClient with the same
	// number takes precedence.
	//
	// +optional
	// +default="None"
	// +kubebuilder:validation:Enum=None;Standard
	TestNumbers string `json:"testNumbers,omitempty"`

	// clock is the clock of the sandbox. Default: a Real clock.
	//
	// +optional
	Clock *Clock `json:"clock,omitempty"`

	// faults are simulated errors between the sandbox and its merchant, at most 50. Only the first matching fault of
	// the list applies to a request or to an attempt to send an event. Faults change no transaction and no balance.
	//
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=50
	Faults []Fault `json:"faults,omitempty"`

	// seed makes random values the same in every run, for requests with a reference: latencies, the jitter of retries,
	// faults with a percent and the operators' reference numbers. -9007199254740991 to 9007199254740991. If it is not
	// set, the values differ in each run.
	//
	// +optional
	// +kubebuilder:validation:Minimum=-9007199254740991
	// +kubebuilder:validation:Maximum=9007199254740991
	Seed *int64 `json:"seed,omitempty"`

	// callbackHosts are the allowed hosts for callbacks of the operators' own APIs: names such as shop.example,
	// patterns such as *.shop.example, and IP addresses. * allows every host. Other patterns match only names. The
	// holder of the API key chooses the URLs of callbacks. Default: the host of spec.webhook.url with its port, 80 and
	// 443, Services of the sandbox's namespace, and names with only public addresses.
	//
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	CallbackHosts []CallbackHost `json:"callbackHosts,omitempty"`

	// quota limits the number of transactions of the sandbox. If it is not set, there is no limit.
	//
	// +optional
	Quota *Quota `json:"quota,omitempty"`

	// rateLimit limits how often the sandbox's API may be called. If it is not set, there is no limit.
	//
	// +optional
	RateLimit *RateLimit `json:"rateLimit,omitempty"`

	// api has permissions of the sandbox's API key beside payments, for users without access to the cluster. Default:
	// none.
	//
	// +optional
	API *APIAccess `json:"api,omitempty"`

	// credentialsSecretName is the name of the Secret to which the controller writes the API key, the webhook signing
	// secret and the base URL. Default: the resource's name followed by -credentials. A new name moves the Secret; the
	// key stays the same. The controller never changes a Secret of that name that does not belong to the sandbox.
	//
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$')",message="write a Secret's name: a-z, 0-9, - and ., starting and ending with a letter or digit"
	CredentialsSecretName string `json:"credentialsSecretName,omitempty"`

	// credentials say what the credentials Secret has: your own API key, and labels and annotations. Default: a generated
	// key, and the controller's labels only.
	//
	// +optional
	Credentials *Credentials `json:"credentials,omitempty"`

	// keyRotation is any text of up to 63 characters, for example "2026-11". A new value puts a new API key into the
	// credentials Secret at once. The previous key still works for keyRotationGrace. It has no effect while
	// credentials.apiKeySecretRef names your own key.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=63
	KeyRotation string `json:"keyRotation,omitempty"`

	// keyRotationGrace is the time for which an API key still works after another key replaced it, 0s to 720h. Default
	// 24h. 0s revokes the replaced key, and every older key, within a second.
	//
	// +optional
	// +default="24h"
	// +kubebuilder:validation:XValidation:rule="!self.matches('^([0-9]{1,5}([.][0-9]{1,3})?(h|m|s|ms))+$') || duration(self) <= duration('720h')",message="write a keyRotationGrace of at most 720h"
	KeyRotationGrace Duration `json:"keyRotationGrace,omitempty"`

	// reset is any text of up to 63 characters, for example "run-42". A new value resets the sandbox at once: its
	// transactions and events are deleted, and are not settled or sent any more. Balances and quota return to their
	// initial values. The organization's id, the environments' ids, the keys and the configuration stay. The value at
	// the creation of the resource has no effect.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Reset string `json:"reset,omitempty"`

	// ttl is the lifetime of the resource, 1m to 8760h, for example 2h. The resource is deleted this long after its
	// creation. status.expiresAt shows the time. If ttl is not set, the resource stays until you delete it.
	//
	// +optional
	// +kubebuilder:validation:XValidation:rule="!self.matches('^([0-9]{1,5}([.][0-9]{1,3})?(h|m|s|ms))+$') || duration(self) >= duration('1m') && duration(self) <= duration('8760h')",message="write a ttl from 1m to 8760h"
	TTL Duration `json:"ttl,omitempty"`

	// suspend pauses the sandbox: the API answers 503 suspended, and nothing is settled, expired or delivered. Nothing
	// is lost: due work is done when suspend is false again. Default false.
	//
	// +optional
	Suspend bool `json:"suspend,omitempty"`

	// deletionPolicy decides what happens to the sandbox's data when the resource is deleted. Delete, the default,
	// deletes the data from the database. Retain keeps the data, for example as evidence, and revokes the keys. No
	// resource refers to the kept data.
	//
	// +optional
	// +default="Delete"
	// +kubebuilder:validation:Enum=Delete;Retain
	DeletionPolicy string `json:"deletionPolicy,omitempty"`
}

// APIAccess has the permissions of a sandbox's API key beside payments.
type APIAccess struct {
	// testClients is whether the key may create, change and delete test clients: POST, PATCH and DELETE of
	// /v1/test_clients. A reset deletes these test clients, and a TestClient resource with the same number replaces
	// one. The key never changes a TestClient resource. Default false.
	//
	// +optional
	TestClients bool `json:"testClients,omitempty"`

	// reset is whether the key may reset the sandbox. POST /v1/reset has the effect of a new value of spec.reset, but
	// does not change status.observedReset. Default false.
	//
	// +optional
	Reset bool `json:"reset,omitempty"`

	// faults is whether the key may set and remove faults while the sandbox runs: PUT and DELETE of /v1/faults. A reset
	// removes these faults. The key never changes a fault of spec.faults. Default false.
	//
	// +optional
	Faults bool `json:"faults,omitempty"`
}

// Environment is one operator in one country.
//
// +kubebuilder:validation:XValidation:rule="self.operator != 'mtn' || self.country in ['CI', 'RW', 'BJ', 'TG', 'UG', 'GH', 'CM']",message="mtn is available in CI, RW, BJ, TG, UG, GH and CM only: write country: CI, RW, BJ, TG, UG, GH or CM, or another operator"
// +kubebuilder:validation:XValidation:rule="self.operator != 'orange' || self.country in ['CI', 'RW', 'BJ', 'TG', 'SN', 'CM']",message="orange is available in CI, RW, BJ, TG, SN and CM only: write country: CI, RW, BJ, TG, SN or CM, or another operator"
// +kubebuilder:validation:XValidation:rule="self.operator != 'moov' || self.country in ['CI', 'RW', 'BJ', 'TG']",message="moov is available in CI, RW, BJ and TG only: write country: CI, RW, BJ or TG, or another operator"
// +kubebuilder:validation:XValidation:rule="self.operator != 'airtel' || self.country in ['RW', 'KE', 'UG', 'ZM']",message="airtel is available in RW, KE, UG and ZM only: write country: RW, KE, UG or ZM, or another operator"
// +kubebuilder:validation:XValidation:rule="self.operator != 'mpesa' || self.country in ['KE']",message="mpesa is available in KE only: write country: KE, or another operator"
type Environment struct {
	// operator is the mobile-money operator: mtn, orange, moov, airtel or mpesa.
	//
	// +required
	Operator Operator `json:"operator"`

	// country is the market: CI, RW, BJ, TG, KE, SN, UG, GH, CM or ZM. It determines the currency.
	// mtn is in CI, RW, BJ, TG, UG, GH and CM only.
	// orange is in CI, RW, BJ, TG, SN and CM only.
	// moov is in CI, RW, BJ and TG only.
	// airtel is in RW, KE, UG and ZM only.
	// mpesa is in KE only.
	//
	// +required
	Country Country `json:"country"`

	// enabled is whether the environment accepts payments. Default true. A disabled environment keeps its history and its id.
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

	// merchantAbsorptionPct is the part of the commission that the merchant pays, in percent, 0 to 100. The customer
	// pays the rest in addition to the amount. Default 100.
	//
	// +optional
	// +default=100
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	MerchantAbsorptionPct *int32 `json:"merchantAbsorptionPct,omitempty"`

	// unknownMsisdnPolicy decides about payments from numbers that no TestClient of the sandbox has. reject, the
	// default, refuses them with UNKNOWN_MSISDN. passthrough forwards them to the API that the store's
	// operatorCredentials name. Without such an API, Cauri approves them.
	//
	// +optional
	// +default="reject"
	// +kubebuilder:validation:Enum=reject;passthrough
	UnknownMSISDNPolicy string `json:"unknownMsisdnPolicy,omitempty"`

	// maxAmount is the operator's limit for a collection, in whole units of the currency, 1 to 1000000000000. A larger
	// collection ends with LIMIT_EXCEEDED. If it is not set, the limit is that of the table of markets (docs/markets.md),
	// where it has one.
	//
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000000000
	MaxAmount *int64 `json:"maxAmount,omitempty"`

	// fidelity decides which reason the operator's own API reports for a failed payment. Observed, the default, reports
	// the real reason, such as NOT_ENOUGH_FUNDS. Vague reports INTERNAL_PROCESSING_ERROR for every failure, as the
	// operators' own sandboxes often do. /v1 and webhooks always report the real reason.
	//
	// +optional
	// +default="Observed"
	// +kubebuilder:validation:Enum=Observed;Vague
	Fidelity string `json:"fidelity,omitempty"`

	// quirks are special behaviors of the operator's own sandbox. The operator's own API in this sandbox has them too,
	// unless you turn them off.
	//
	// +optional
	Quirks *Quirks `json:"quirks,omitempty"`

	// callbackURL is where the operator's own API sends its callbacks, for an operator whose requests name no URL. Its
	// host must be one that callbackHosts allows. Without it, there are no callbacks. It has no effect for an operator
	// whose requests name the URL.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:XValidation:rule="isURL(self) && self.matches('^[Hh][Tt][Tt][Pp][Ss]?://([A-Za-z0-9_.-]+|[[][0-9A-Fa-f:.]+[]])(:[0-9]+)?([/?#]|$)') && (url(self).getPort() == '' || size(url(self).getPort()) <= 5 && int(url(self).getPort()) >= 1 && int(url(self).getPort()) <= 65535)",message="write an absolute http or https URL without a user, for example https://shop.example/callbacks; its host is a name in ASCII, or an address without a zone"
	// +kubebuilder:validation:XValidation:rule="!self.matches('^[^/?#]*//([^/?#@]*@)?((0|169[.]254|2(2[4-9]|3[0-9])[.][0-9]+)[.][0-9.]+|255[.]255[.]255[.]255|100[.]100[.]100[.]200|192[.]0[.]0[.]192|168[.]63[.]129[.]16|[[](::|[Ff][Ee][89AaBb][0-9A-Fa-f]:[^]]*|[Ff][Ff][0-9A-Fa-f][0-9A-Fa-f]:[^]]*|[Ff][Dd]00:0?[Ee][Cc]2::254|[Ff][Dd]20:(00)?[Cc][Ee]::254)[]])[.]?(:[0-9]*)?([/?#]|$)') && (!self.matches('^[^/?#]*//([^/?#@]*@)?([A-Za-z0-9_-]+[.])*(0[xX][0-9A-Fa-f]*|[0-9]+)[.]?(:[0-9]*)?([/?#]|$)') || self.matches('^[^/?#]*//([^/?#@]*@)?(25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])[.](25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])[.](25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])[.](25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])[.]?(:[0-9]*)?([/?#]|$)'))",message="nothing is ever sent to this address: it is link-local, of a metadata service, of no single receiver, or written in a form that programs read differently; write the name of a host, or its address as four decimal numbers"
	CallbackURL string `json:"callbackURL,omitempty"`

	// callbackHash makes the operator's own API sign the callbacks to callbackURL, if the operator can sign them.
	//
	// +optional
	CallbackHash bool `json:"callbackHash,omitempty"`
}

// CallbackHost is a host, or a pattern of hosts.
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=253
// +kubebuilder:validation:XValidation:rule="self.matches('^[*a-z0-9]([*a-z0-9.:-]*[*a-z0-9])?$|^::[0-9a-f:.]*$')",message="write a host without scheme and port, such as shop.example, or a pattern, such as *.shop.example"
// +kubebuilder:validation:XValidation:rule="!self.matches('^((0|169[.]254|2(2[4-9]|3[0-9])[.][0-9]+)[.][0-9.]+|255[.]255[.]255[.]255|100[.]100[.]100[.]200|192[.]0[.]0[.]192|168[.]63[.]129[.]16|::|fe[89ab][0-9a-f]:.*|ff[0-9a-f][0-9a-f]:.*|fd00:0?ec2::254|fd20:(00)?ce::254|kubernetes[.]default([.]svc([.]cluster[.]local)?)?|metadata[.]goog|metadata[.]google[.]internal|instance-data[.]ec2[.]internal)[.]?$') && (!self.matches('^([a-z0-9-]+[.])*(0x[0-9a-f]*|[0-9]+)[.]?$') || self.matches('^(25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])[.](25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])[.](25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])[.](25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])[.]?$'))",message="nothing is ever sent to this host: it is link-local, of a metadata service, of the Kubernetes API, of no single receiver, or written in a form that programs read differently; write the name of a host, or its address as four decimal numbers"
// +kubebuilder:validation:XValidation:rule="!self.contains('*') || !self.matches(':|(^|[.])[0-9]+$')",message="a pattern matches names only: write each address as it is, such as 10.0.0.1, or * for every host"
type CallbackHost string

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

	// operatorCredentials are the store's credentials at operators. With the policy passthrough, they are used to
	// forward collections from numbers without a TestClient. They are required for airtel: without them, these
	// collections end with SERVICE_UNAVAILABLE.
	//
	// +optional
	// +listType=map
	// +listMapKey=operator
	// +listMapKey=country
	// +kubebuilder:validation:MaxItems=16
	OperatorCredentials []OperatorCredentials `json:"operatorCredentials,omitempty"`
}

// SandboxEnvironmentStatus is the observed state of a sandbox.
type SandboxEnvironmentStatus struct {
	// observedGeneration is the generation of the spec that the rest of the status describes. It is -1 until the first
	// reconciliation, so that tools do not consider a new resource ready.
	//
	// +optional
	// +kubebuilder:validation:Minimum=-1
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// conditions are Ready, SpecAccepted, DatabaseReady and CredentialsReady. Ready summarizes the other three. If
	// stores name Secrets for operators, there is OperatorCredentialsReady. If there is a webhook, there is
	// WebhookReady. After the first verification of the ledger, there is LedgerBalanced. ProcessingFailing,
	// InstallationConflict, Reconciling and Stalled are present only while they are True.
	//
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// installation is the name of the installation of Cauri that serves the sandbox. It is written once, before anything
	// else. Another installation leaves the sandbox as it is.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Installation string `json:"installation,omitempty"`

	// organizationID is the organization's id in the API, org_<code>. It does not change, and is never reused.
	//
	// +optional
	OrganizationID string `json:"organizationID,omitempty"`

	// url is the base URL of the sandbox's API. Append the routes, /api/v1/... .
	//
	// +optional
	URL string `json:"url,omitempty"`

	// binding names the credentials Secret. The Service Binding specification defines this field.
	//
	// +optional
	Binding *SecretReference `json:"binding,omitempty"`

	// environments are the sandbox's environments in the API.
	//
	// +optional
	// +listType=map
	// +listMapKey=operator
	// +listMapKey=country
	Environments []EnvironmentStatus `json:"environments,omitempty"`

	// operatorAPIs are the addresses of the operators' own APIs, one for each operator with an enabled environment.
	//
	// +optional
	// +listType=map
	// +listMapKey=operator
	OperatorAPIs []OperatorAPI `json:"operatorAPIs,omitempty"`

	// environmentsSummary is the number of enabled environments and of all environments, for example 2/3.
	//
	// +optional
	EnvironmentsSummary string `json:"environmentsSummary,omitempty"`

	// balances are the merchant's live balances, with one entry for each currency. They show a change within 15
	// seconds.
	//
	// +optional
	// +listType=map
	// +listMapKey=currency
	Balances []Balance `json:"balances,omitempty"`

	// testClients is the number of test clients in the sandbox: TestClient resources, and test clients that were added
	// through the API.
	//
	// +optional
	TestClients *int64 `json:"testClients,omitempty"`

	// transactions counts the transactions of the sandbox. It shows a change within 15 seconds.
	//
	// +optional
	Transactions *TransactionCounts `json:"transactions,omitempty"`

	// quota is the used part of spec.quota. It shows a change within 15 seconds.
	//
	// +optional
	Quota *QuotaStatus `json:"quota,omitempty"`

	// webhook says how the deliveries to the webhook endpoint go. It shows a change within 15 seconds.
	//
	// +optional
	Webhook *WebhookStatus `json:"webhook,omitempty"`

	// webhookSummary is the status of the condition WebhookReady (True, False or Unknown), or "-" for a sandbox without
	// a webhook. It is the column Webhook of kubectl get.
	//
	// +optional
	WebhookSummary string `json:"webhookSummary,omitempty"`

	// clock is the sandbox's time. It shows an advance within 15 seconds.
	//
	// +optional
	Clock *ClockStatus `json:"clock,omitempty"`

	// faults are the faults of spec.faults that have applied. They show a change within 15 seconds.
	//
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=50
	Faults []FaultStatus `json:"faults,omitempty"`

	// observedKeyRotation is the value of spec.keyRotation for which the API key in the credentials Secret was issued.
	//
	// +optional
	ObservedKeyRotation string `json:"observedKeyRotation,omitempty"`

	// observedReset is the last applied value of spec.reset.
	//
	// +optional
	ObservedReset string `json:"observedReset,omitempty"`

	// expiresAt is the time at which the resource is deleted. It is set if spec.ttl is set.
	//
	// +optional
	ExpiresAt *metav1.Time `json:"expiresAt,omitempty"`
}

// OperatorAPI has the addresses of an operator's own API in a sandbox. The credentials Secret has them too.
type OperatorAPI struct {
	// operator is the operator of the API.
	//
	// +required
	Operator Operator `json:"operator"`

	// url is the base URL of the API, for clients that keep the path of their base URL.
	//
	// +required
	URL string `json:"url"`

	// rootURL is the base URL of the same API at the root of its own host, for clients that join absolute paths to
	// their base URL. It is missing if this installation has no domain for such hosts.
	//
	// +optional
	RootURL string `json:"rootURL,omitempty"`
}

// TransactionCounts counts the transactions of a sandbox.
type TransactionCounts struct {
	// total is the number of collections, refunds and disbursements of any status.
	//
	// +required
	Total int64 `json:"total"`

	// pending is the number of collections that wait for their outcome.
	//
	// +required
	Pending int64 `json:"pending"`
}

// WebhookStatus says how the deliveries to a webhook endpoint go.
type WebhookStatus struct {
	// state is healthy (nothing is known to be wrong), failing (events of the last 24 hours are unacknowledged, or nothing
	// is ever sent to the URL) or paused (it failed for so long that it gets one event a minute).
	//
	// +optional
	State string `json:"state,omitempty"`

	// unacknowledged is the number of events of the last 24 hours, in sandbox time, that wait after a failed attempt or
	// have no retries left, until they are delivered or sent again; 1000 means 1000 or more. Attempts on which a fault
	// acted do not count.
	//
	// +optional
	Unacknowledged int64 `json:"unacknowledged,omitempty"`

	// delivered is the number of events that the endpoint acknowledged.
	//
	// +required
	Delivered int64 `json:"delivered"`

	// failed is the number of events that the endpoint did not acknowledge after all retries. You can resend them
	// through the API.
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

	// message is the cause, for example: the receiver answered 500.
	//
	// +required
	Message string `json:"message"`
}

// Balance is a live balance. Unlike an amount in a spec, it has no maximum.
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

// EnvironmentStatus is the observed state of an environment.
type EnvironmentStatus struct {
	// operator of the environment.
	//
	// +required
	Operator Operator `json:"operator"`

	// country of the environment.
	//
	// +required
	Country Country `json:"country"`

	// currency of the country.
	//
	// +required
	Currency Currency `json:"currency"`

	// id of the environment in the API, env_<code>.
	//
	// +required
	ID string `json:"id"`

	// enabled is whether the environment accepts payments.
	//
	// +required
	Enabled bool `json:"enabled"`
}

// SandboxEnvironment is a mobile-money sandbox: a merchant's own organization at the simulated operators, with an API
// key, balances, stores and a webhook endpoint. status.binding names the Secret with the credentials.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=sbx,categories=cauri
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`,description="the reason of Ready"
// +kubebuilder:printcolumn:name="URL",type=string,JSONPath=`.status.url`
// +kubebuilder:printcolumn:name="Webhook",type=string,JSONPath=`.status.webhookSummary`,description="the status of WebhookReady; - without a webhook"
// +kubebuilder:printcolumn:name="Pending",type=integer,JSONPath=`.status.transactions.pending`,description="collections that wait for their outcome"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Environments",type=string,priority=1,JSONPath=`.status.environmentsSummary`,description="enabled/all"
// +kubebuilder:printcolumn:name="Clock",type=string,priority=1,JSONPath=`.status.clock.mode`,description="Real, or Manual for a clock that stands until it is advanced"
// +kubebuilder:printcolumn:name="Org",type=string,priority=1,JSONPath=`.status.organizationID`
// +kubebuilder:printcolumn:name="Expires",type=string,priority=1,JSONPath=`.status.expiresAt`,description="when the resource deletes itself"
// +kubebuilder:printcolumn:name="Message",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].message`
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 63 && !self.metadata.name.contains('.')",message="the name is part of URLs and the name of the default store: write a DNS label, at most 63 of a-z, 0-9 and - without a dot"
// +kubebuilder:validation:XValidation:rule="!has(self.spec.webhook) || !has(self.spec.webhook.signingSecretRef) || has(self.spec.credentialsSecretName) || self.spec.webhook.signingSecretRef.name != self.metadata.name + '-credentials'",message="spec.webhook.signingSecretRef must not name the sandbox's own credentials Secret, which the controller writes: put your signing secret into a Secret of its own"
// +kubebuilder:validation:XValidation:rule="!has(self.spec.credentials) || !has(self.spec.credentials.apiKeySecretRef) || has(self.spec.credentialsSecretName) || self.spec.credentials.apiKeySecretRef.name != self.metadata.name + '-credentials'",message="spec.credentials.apiKeySecretRef must not name the sandbox's own credentials Secret, which the controller writes: put your API key into a Secret of its own"
type SandboxEnvironment struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec describes the sandbox.
	//
	// +required
	Spec SandboxEnvironmentSpec `json:"spec"`

	// status is the observed state of the sandbox. The controller writes it.
	//
	// +optional
	// +default={"observedGeneration":-1}
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

// CredentialsSecretName returns the name of the credentials Secret.
func (s *SandboxEnvironment) CredentialsSecretName() string {
	if s.Spec.CredentialsSecretName != "" {
		return s.Spec.CredentialsSecretName
	}
	return s.Name + "-credentials"
}
