package v1alpha1

// Conditions of SandboxEnvironments, TestClients and Expectations; an Expectation has no Ready. The observedGeneration of
// a condition is the generation of the spec that it describes.
// `kubectl wait --for=condition=Ready` ignores a Ready of an older generation.
const (
	// ConditionReady is True when everything in the spec is applied. It summarizes other conditions: while it is not
	// True, it has the reason and the message of the first of these conditions that is not True.
	//
	// Positive polarity, always present after the first reconciliation.
	ConditionReady = "Ready"

	// ConditionReconciling is True while the controller has work to do or waits. Tools that use kstatus show it as "in
	// progress".
	//
	// Negative polarity, present only while it is True.
	ConditionReconciling = "Reconciling"

	// ConditionStalled is True when the controller cannot continue until you change the spec, or an object that the
	// spec names. The message says what to change.
	//
	// Negative polarity, present only while it is True.
	ConditionStalled = "Stalled"
)

// Conditions of a SandboxEnvironment that Ready summarizes, in this order.
const (
	// ConditionSpecAccepted is True when the spec is valid. While it is False, the message says what to change.
	//
	// Positive polarity, always present.
	ConditionSpecAccepted = "SpecAccepted"

	// ConditionDatabaseReady is True when the spec is applied to the database, and so to the API. It is False while the
	// database is unavailable.
	//
	// Positive polarity, always present.
	ConditionDatabaseReady = "DatabaseReady"

	// ConditionCredentialsReady is True when the credentials Secret exists and the API accepts the key in it.
	//
	// Positive polarity, always present.
	ConditionCredentialsReady = "CredentialsReady"
)

// Conditions of a SandboxEnvironment that Ready does not summarize.
const (
	// ConditionOperatorCredentialsReady is True when every Secret that spec.stores names for an operator exists and has
	// valid credentials. While it is False, the sandbox works, but collections that need these credentials end with
	// SERVICE_UNAVAILABLE.
	//
	// Positive polarity, present only for a sandbox that names such Secrets.
	ConditionOperatorCredentialsReady = "OperatorCredentialsReady"

	// ConditionWebhookReady is True while the webhook endpoint acknowledges events. It is False while an event of the
	// last 24 hours, in sandbox time, is not acknowledged, and Unknown while nothing tells. While it is False, events wait
	// or have used up their retries, and none is lost.
	//
	// Positive polarity, present only for a sandbox with a webhook.
	ConditionWebhookReady = "WebhookReady"

	// ConditionProcessingFailing is True while the workers fail only in this sandbox, although the database works. The
	// message has the failing work, such as the settlement of payments or the delivery of events, and the cause. The
	// workers retry with a backoff of up to five minutes.
	//
	// Negative polarity, present only while it is True.
	ConditionProcessingFailing = "ProcessingFailing"

	// ConditionInstallationConflict is True while an installation of Cauri other than that of status.installation watches
	// the namespace of the sandbox too. The message has both names. The other installation writes nothing else.
	//
	// Negative polarity, present only while it is True, and up to an hour longer.
	ConditionInstallationConflict = "InstallationConflict"

	// ConditionLedgerBalanced is True while every balance follows from its movements, in the order of their numbers.
	// The workers verify this all the time. It is False when a balance does not follow. Then the message has the
	// balance, the difference, and the movements before and after it. Payments continue with the wrong balance.
	//
	// Positive polarity, present after the first verification, some seconds after the creation of the sandbox.
	ConditionLedgerBalanced = "LedgerBalanced"
)

// Conditions of an Expectation. Reconciling is True until it is decided, and Stalled is True when it has failed.
const (
	// ConditionMet is True when all lines were met and have stayed so for spec.settle. It does not change any more then, until
	// spec.run is changed.
	//
	// Positive polarity, always present.
	ConditionMet = "Met"

	// ConditionFailed is True when a line was not met in time, or cannot be met any more. It does not change any more then, until
	// spec.run is changed.
	//
	// Negative polarity, always present.
	ConditionFailed = "Failed"
)

// Reasons of an Expectation's Met and Failed.
const (
	// ReasonMet says that all lines were met and have stayed so.
	ReasonMet = "Met"

	// ReasonNotMet says that a line is not met yet; the message names the first one. The workers evaluate it when something
	// happens in the sandbox.
	ReasonNotMet = "NotMet"

	// ReasonSettling says that all lines are met, and have to stay so for spec.settle.
	ReasonSettling = "Settling"

	// ReasonExceeded says that a line cannot be met any more: what it counts only grows.
	ReasonExceeded = "Exceeded"

	// ReasonDeadlineExceeded says that a line was not met within spec.within.
	ReasonDeadlineExceeded = "DeadlineExceeded"

	// ReasonEvaluatedLate says that the workers evaluated a line too late to tell whether it was met within spec.within: the
	// sandbox has changed since. A new value of spec.run evaluates it again.
	ReasonEvaluatedLate = "EvaluatedLate"

	// ReasonTooManyRows says that the lines cannot be evaluated within two seconds, because the sandbox has very many
	// transactions: write orderRef or reference under where, or reset the sandbox before the test.
	ReasonTooManyRows = "TooManyRows"

	// ReasonSandboxReset says that the sandbox was reset while the expectation was open. A new value of spec.run evaluates it
	// again.
	ReasonSandboxReset = "SandboxReset"

	// ReasonSandboxDeleted says that the sandbox was deleted while the expectation was open. A new value of spec.run evaluates it
	// again, when there is a sandbox with this name.
	ReasonSandboxDeleted = "SandboxDeleted"
)

// Reasons of more than one condition.
const (
	// ReasonReady is the reason of a condition with positive polarity that is True.
	ReasonReady = "Ready"

	// ReasonSuspended is the reason of Ready while it is True and spec.suspend is true. Everything in the spec is
	// applied, and the sandbox is paused: the API answers 503, and pending payments and events wait.
	ReasonSuspended = "Suspended"

	// ReasonNoEnvironmentEnabled is the reason of Ready while it is True and enabled is false in every entry of
	// spec.environments. Everything in the spec is applied, and no payment finds an environment.
	ReasonNoEnvironmentEnabled = "NoEnvironmentEnabled"

	// ReasonQuotaExceeded is the reason of Ready while it is True and spec.quota is used up. The API answers 402 and
	// records nothing until the end of the month in the sandbox's time. The message has this time.
	ReasonQuotaExceeded = "QuotaExceeded"

	// ReasonClockStartWaits is the reason of Ready while it is True and the clock did not start at spec.clock.start.
	// The field was changed, or the clock was a Real one. The next reset applies the field.
	ReasonClockStartWaits = "ClockStartWaits"

	// ReasonPending is the reason of a condition that is Unknown because an earlier condition is not True yet.
	ReasonPending = "Pending"

	// ReasonRetrying is the reason of Reconciling while the controller retries automatically.
	ReasonRetrying = "Retrying"

	// ReasonInvalidSpec means that the spec is invalid. The message says what to change.
	ReasonInvalidSpec = "InvalidSpec"

	// ReasonLimitExceeded means that the platform team allows no more SandboxEnvironments in the namespace, or no more
	// TestClients in the sandbox, or that the sandbox has 1,000 open Expectations. The oldest resources stay ready. This
	// resource becomes ready automatically when one of them is deleted, and an Expectation when another is decided.
	ReasonLimitExceeded = "LimitExceeded"

	// ReasonDatabaseUnavailable means that the database is unavailable. The controller retries automatically.
	ReasonDatabaseUnavailable = "DatabaseUnavailable"

	// ReasonDatabaseError means that the database returned an error. The message has the cause. The controller retries.
	ReasonDatabaseError = "DatabaseError"

	// ReasonClockAdvancing means that spec.clock.mode was changed during an advance of the clock. Everything else in
	// the spec is applied. The mode is applied automatically at the end of the advance.
	ReasonClockAdvancing = "ClockAdvancing"

	// ReasonSecretNotLabeled means that a Secret that the spec names does not have the label cauri.dev/sandbox-may-read:
	// "true", so nothing is read from it. Set the label with kubectl, which needs the right to edit the Secret. It is a
	// reason of CredentialsReady and of OperatorCredentialsReady, which become True automatically.
	ReasonSecretNotLabeled = "SecretNotLabeled"

	// ReasonDeleting means that the resource is being deleted, and its rows are being deleted from the database in
	// small batches. Its API key does not work any more. The deletion continues automatically.
	ReasonDeleting = "Deleting"
)

// Reasons of CredentialsReady.
const (
	// ReasonSecretConflict means that a Secret with the name in spec.credentialsSecretName already exists and does not
	// belong to the sandbox, or that another sandbox has the API key of credentials.apiKeySecretRef. The controller
	// changes neither. The condition becomes True automatically when that Secret is deleted, or the key changes.
	ReasonSecretConflict = "SecretConflict"

	// ReasonAPIKeySecretNotFound means that the Secret of spec.credentials.apiKeySecretRef, or its key, does not exist.
	// The condition becomes True automatically when both exist.
	ReasonAPIKeySecretNotFound = "APIKeySecretNotFound"

	// ReasonAPIKeySecretInvalid means that the Secret of spec.credentials.apiKeySecretRef has an invalid value: an API key
	// is cauri_sk_test_ with at least 32 letters and digits. The condition becomes True automatically when the Secret is
	// corrected.
	ReasonAPIKeySecretInvalid = "APIKeySecretInvalid"

	// ReasonSigningSecretNotFound means that the Secret of spec.webhook.signingSecretRef, or its key, does not exist.
	// The condition becomes True automatically when both exist.
	ReasonSigningSecretNotFound = "SigningSecretNotFound"

	// ReasonSigningSecretInvalid means that the Secret of spec.webhook.signingSecretRef has an invalid value: a signing
	// secret has 16 to 256 printable characters. The condition becomes True automatically when the Secret is corrected.
	ReasonSigningSecretInvalid = "SigningSecretInvalid"

	// ReasonCredentialsError means that the credentials Secret could not be read or written. The message has the cause.
	// The controller retries.
	ReasonCredentialsError = "CredentialsError"
)

// Reasons of OperatorCredentialsReady.
const (
	// ReasonOperatorSecretNotFound means that a Secret of stores[].operatorCredentials, or a key of it, does not exist.
	// The condition becomes True automatically when both exist.
	ReasonOperatorSecretNotFound = "OperatorSecretNotFound"

	// ReasonOperatorSecretInvalid means that a Secret of stores[].operatorCredentials has an invalid value: each value
	// has 1 to 256 printable characters. The condition becomes True automatically when the Secret is corrected.
	ReasonOperatorSecretInvalid = "OperatorSecretInvalid"

	// ReasonOperatorAddressForbidden means that no request is ever sent to a baseURL of stores[].operatorCredentials: its
	// host is an address that this installation allows no requests to, such as localhost in a cluster. Write another URL.
	ReasonOperatorAddressForbidden = "OperatorAddressForbidden"
)

// Reasons of WebhookReady.
const (
	// ReasonNothingDelivered means that the endpoint has acknowledged no event yet, since spec.webhook.url was set or
	// since the last failed attempt. So nobody knows whether it is well.
	ReasonNothingDelivered = "NothingDelivered"

	// ReasonAddressForbidden means that no event is ever sent to spec.webhook.url: its host is an address that this
	// installation allows no webhooks to, such as localhost in a cluster. Write another URL.
	ReasonAddressForbidden = "AddressForbidden"

	// ReasonDeliveryFailing means that an event of the last 24 hours, in sandbox time, is not acknowledged: it waits
	// after an attempt on which no fault acted, or its retries are used up. The message has the cause. The condition
	// changes when all such events are delivered, sent again, or older.
	ReasonDeliveryFailing = "DeliveryFailing"

	// ReasonEndpointFailing means that the endpoint has failed for a long time. It gets one event a minute until it
	// acknowledges one. The other events wait.
	ReasonEndpointFailing = "EndpointFailing"
)

// Reasons of ProcessingFailing.
const (
	// ReasonSweepFailing means that a worker's sweep fails only in this sandbox. The message has the cause. Often it is
	// a row that was edited by hand in the database. The worker retries. The condition disappears automatically when a
	// retry succeeds.
	ReasonSweepFailing = "SweepFailing"
)

// Reasons of InstallationConflict.
const (
	// ReasonOwnedByAnotherInstallation means that the installation of status.installation serves the sandbox, and another
	// one watches its namespace too: let only one of them watch it.
	ReasonOwnedByAnotherInstallation = "OwnedByAnotherInstallation"
)

// Reasons of LedgerBalanced.
const (
	// ReasonBalanced means that every balance follows from its movements.
	ReasonBalanced = "Balanced"

	// ReasonImbalance means that a balance does not follow from its movements. Rows of the database were edited by
	// hand, a backup was restored only in part, or Cauri has a bug. The platform team gets an alert. After a reset of
	// the sandbox, all balances are right.
	ReasonImbalance = "Imbalance"

	// ReasonNotVerified means that no worker has verified the ledger since the last reset. This takes some seconds.
	ReasonNotVerified = "NotVerified"
)

// Reasons of a TestClient's Ready and Stalled.
const (
	// ReasonSandboxNotFound means that the SandboxEnvironment of spec.sandboxRef does not exist or is being deleted.
	// The TestClient becomes ready automatically when the sandbox exists.
	ReasonSandboxNotFound = "SandboxNotFound"

	// ReasonSandboxNotReady means that the sandbox is not in the database yet. The TestClient becomes ready
	// automatically when the sandbox is in the database.
	ReasonSandboxNotReady = "SandboxNotReady"

	// ReasonOperatorUnknown means that the number does not determine the operator or the country. Write them in the
	// spec.
	ReasonOperatorUnknown = "OperatorUnknown"

	// ReasonDuplicateMSISDN means that another TestClient of the sandbox has the number. This TestClient gets the
	// number automatically when the other one is deleted.
	ReasonDuplicateMSISDN = "DuplicateMsisdn"
)
