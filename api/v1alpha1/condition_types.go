package v1alpha1

// Conditions that both kinds have. Each has the generation that it describes: a Ready of an older generation says nothing about
// the current spec, and `kubectl wait --for=condition=Ready` ignores it.
const (
	// ConditionReady is True when everything in the spec is applied. It summarizes the other conditions: while it is not True, it
	// has the reason and the message of the first condition that is not True.
	//
	// Positive polarity, always present after the first reconciliation.
	ConditionReady = "Ready"

	// ConditionReconciling is True while the controller has work to do or waits for something. Tools that follow kstatus
	// read it as "in progress".
	//
	// Negative polarity, present only while it is True.
	ConditionReconciling = "Reconciling"

	// ConditionStalled is True when the controller cannot continue until the spec, or what it refers to, is changed. The
	// message says what to change. Nothing else stalls.
	//
	// Negative polarity, present only while it is True.
	ConditionStalled = "Stalled"
)

// Conditions of a SandboxEnvironment that Ready summarizes, in this order.
const (
	// ConditionSpecAccepted is True when the spec can be applied. While it is False the message says what to change.
	//
	// Positive polarity, always present.
	ConditionSpecAccepted = "SpecAccepted"

	// ConditionDatabaseReady is True when the database matches the spec, and the API behaves accordingly. It is False while
	// the database is unavailable.
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
	// ConditionOperatorCredentialsReady is True when every Secret that spec.stores names for an operator exists and holds valid
	// credentials. While it is False the sandbox works, and the collections that need those credentials end
	// SERVICE_UNAVAILABLE.
	//
	// Positive polarity, present only for a sandbox that names such Secrets.
	ConditionOperatorCredentialsReady = "OperatorCredentialsReady"

	// ConditionWebhookReady is True while the webhook endpoint acknowledges events, Unknown before the first delivery, and
	// False after an attempt that it did not acknowledge. Events wait meanwhile; none is lost.
	//
	// Positive polarity, present only for a sandbox with a webhook.
	ConditionWebhookReady = "WebhookReady"

	// ConditionProcessingFailing is True while the workers fail in this sandbox alone, although the database works: they cannot
	// settle payments, deliver events, or forward payments of unknown numbers. They retry after a pause that grows with each
	// failure, up to five minutes. The message has the cause.
	//
	// Negative polarity, present only while it is True.
	ConditionProcessingFailing = "ProcessingFailing"

	// ConditionLedgerBalanced is True while every balance follows from its movements, in the order of their numbers, as the workers
	// verify all the time. It is False when one does not, and the message names it, by how much, and between which movements.
	// Payments continue on the balance as it stands.
	//
	// Positive polarity, present after the first verification, some seconds after the sandbox is made.
	ConditionLedgerBalanced = "LedgerBalanced"
)

// Reasons of more than one condition.
const (
	// ReasonReady is the reason of a condition with positive polarity that is True.
	ReasonReady = "Ready"

	// ReasonSuspended is the reason of Ready while it is True and spec.suspend is true: everything in the spec is applied, and
	// the sandbox is paused. The API answers 503, and pending payments and events wait.
	ReasonSuspended = "Suspended"

	// ReasonQuotaExceeded is the reason of Ready while it is True and the transactions of spec.quota are used up: the API answers 402
	// and records nothing until the month of the sandbox's time ends. The message says when that is.
	ReasonQuotaExceeded = "QuotaExceeded"

	// ReasonClockStartWaits is the reason of Ready while it is True and spec.clock.start is not the time at which the clock began: it
	// was changed, or the clock was a Real one. The next reset applies it.
	ReasonClockStartWaits = "ClockStartWaits"

	// ReasonPending is the reason of a condition that is Unknown, because a condition before it is not True yet.
	ReasonPending = "Pending"

	// ReasonRetrying is the reason of Reconciling while the controller retries by itself.
	ReasonRetrying = "Retrying"

	// ReasonInvalidSpec says that the spec cannot be applied; the message says what to change.
	ReasonInvalidSpec = "InvalidSpec"

	// ReasonLimitExceeded says that the platform team allows no more SandboxEnvironments in the namespace, or no more TestClients
	// in the sandbox. The oldest stay ready; this resource becomes ready by itself when one of them is deleted.
	ReasonLimitExceeded = "LimitExceeded"

	// ReasonDatabaseUnavailable says that the database is unavailable. The controller retries by itself.
	ReasonDatabaseUnavailable = "DatabaseUnavailable"

	// ReasonDatabaseError says that the database returned an error, with the cause in the message. The controller retries.
	ReasonDatabaseError = "DatabaseError"

	// ReasonClockAdvancing says that spec.clock.mode was changed while the clock is being advanced. Everything else in the spec is
	// applied. The mode follows by itself when the clock has arrived.
	ReasonClockAdvancing = "ClockAdvancing"

	// ReasonDeleting says that the resource is being deleted and that its rows are being deleted from the database in small
	// batches. Its API key does not work any more. The deletion continues by itself.
	ReasonDeleting = "Deleting"
)

// Reasons of CredentialsReady.
const (
	// ReasonSecretConflict says that a Secret with the name in spec.credentialsSecretName already exists and does not belong to
	// the sandbox. The controller does not change it. The condition clears by itself when that Secret is deleted.
	ReasonSecretConflict = "SecretConflict"

	// ReasonSigningSecretNotFound says that the Secret of spec.webhook.signingSecretRef, or its key, does not exist. The
	// condition clears by itself when it does.
	ReasonSigningSecretNotFound = "SigningSecretNotFound"

	// ReasonSigningSecretInvalid says that the Secret of spec.webhook.signingSecretRef holds an invalid value: a signing secret
	// has 16 to 256 printable characters. The condition clears by itself when the Secret is changed.
	ReasonSigningSecretInvalid = "SigningSecretInvalid"

	// ReasonCredentialsError says that the credentials Secret could not be read or written, with the cause in the message. The
	// controller retries.
	ReasonCredentialsError = "CredentialsError"
)

// Reasons of OperatorCredentialsReady.
const (
	// ReasonOperatorSecretNotFound says that a Secret of stores[].operatorCredentials, or a key of it, does not exist. The
	// condition becomes True by itself when it does.
	ReasonOperatorSecretNotFound = "OperatorSecretNotFound"

	// ReasonOperatorSecretInvalid says that a Secret of stores[].operatorCredentials holds an invalid value: each value has 1 to
	// 256 printable characters. The condition becomes True by itself when the Secret is changed.
	ReasonOperatorSecretInvalid = "OperatorSecretInvalid"
)

// Reasons of WebhookReady.
const (
	// ReasonNothingDelivered says that no event was sent yet.
	ReasonNothingDelivered = "NothingDelivered"

	// ReasonDeliveryFailing says that the last attempt was not acknowledged, with the cause in status.webhook.lastFailure.
	ReasonDeliveryFailing = "DeliveryFailing"

	// ReasonEndpointFailing says that the endpoint has failed for so long that it gets one event a minute until it
	// acknowledges one. The other events wait.
	ReasonEndpointFailing = "EndpointFailing"
)

// Reasons of ProcessingFailing.
const (
	// ReasonSweepFailing says that a worker's sweep fails in this sandbox alone, with the cause in the message: most often a row
	// that somebody changed in the database by hand. The worker retries. The condition clears by itself when it succeeds.
	ReasonSweepFailing = "SweepFailing"
)

// Reasons of LedgerBalanced.
const (
	// ReasonBalanced says that every balance follows from its movements.
	ReasonBalanced = "Balanced"

	// ReasonImbalance says that a balance does not follow from its movements: somebody has changed rows of the database by hand, a
	// backup was restored in part, or Cauri has a fault. The platform team gets an alert. A reset of the sandbox begins with right
	// balances.
	ReasonImbalance = "Imbalance"

	// ReasonNotVerified says that no worker has verified the ledger since the sandbox was reset. This takes some seconds.
	ReasonNotVerified = "NotVerified"
)

// Reasons of a TestClient's Ready and Stalled.
const (
	// ReasonSandboxNotFound says that the SandboxEnvironment of spec.sandboxRef does not exist or is being deleted. The
	// TestClient becomes ready by itself when it exists.
	ReasonSandboxNotFound = "SandboxNotFound"

	// ReasonSandboxNotReady says that the sandbox is not in the database yet. The TestClient becomes ready by itself when
	// it is.
	ReasonSandboxNotReady = "SandboxNotReady"

	// ReasonOperatorUnknown says that the number does not tell the operator or the country: write them in the spec.
	ReasonOperatorUnknown = "OperatorUnknown"

	// ReasonDuplicateMSISDN says that another TestClient of the sandbox has the number. This one takes over by itself
	// when the other one is deleted.
	ReasonDuplicateMSISDN = "DuplicateMsisdn"
)
