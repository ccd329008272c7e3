package v1alpha1

// Conditions that both kinds have. Each carries the generation that it was found for: a Ready of an older generation says
// nothing about the present spec, and `kubectl wait --for=condition=Ready` does not take it for an answer.
const (
	// ConditionReady is True when everything that the spec asks for is in place. It sums up the other conditions: where
	// it is not True, its reason and message are those of the first condition that stands in the way.
	//
	// Positive polarity, always present once the resource was seen by the controller.
	ConditionReady = "Ready"

	// ConditionReconciling is True while the controller has something left to do or to wait for. Tools that follow
	// kstatus read it as "in progress".
	//
	// Negative polarity, present only while it is True.
	ConditionReconciling = "Reconciling"

	// ConditionStalled is True when the controller cannot go on before the spec, or what it refers to, is changed. The
	// message says what to change. Nothing but a spec that cannot be carried out ever stalls.
	//
	// Negative polarity, present only while it is True.
	ConditionStalled = "Stalled"
)

// Conditions of a SandboxEnvironment that Ready sums up, in this order.
const (
	// ConditionSpecAccepted is True when the spec can be carried out, and False with what to change where it cannot.
	//
	// Positive polarity, always present.
	ConditionSpecAccepted = "SpecAccepted"

	// ConditionDatabaseReady is True when the database holds the sandbox as the spec describes it, so that the API
	// behaves accordingly. It is False while the database is away.
	//
	// Positive polarity, always present.
	ConditionDatabaseReady = "DatabaseReady"

	// ConditionCredentialsReady is True when the credentials Secret is in place and the API accepts the key in it.
	//
	// Positive polarity, always present.
	ConditionCredentialsReady = "CredentialsReady"
)

// Conditions of a SandboxEnvironment that stand beside Ready and are no part of it.
const (
	// ConditionOperatorCredentialsReady is True when every Secret that spec.stores names for an operator is there, with
	// credentials in it. While it is False the sandbox works, and the collections that need those credentials end
	// SERVICE_UNAVAILABLE.
	//
	// Positive polarity, present only for a sandbox that names such Secrets.
	ConditionOperatorCredentialsReady = "OperatorCredentialsReady"

	// ConditionWebhookReady is True while the webhook endpoint acknowledges events, Unknown before the first delivery, and
	// False since an attempt that it did not acknowledge. Events wait for it meanwhile; none is lost.
	//
	// Positive polarity, present only for a sandbox with a webhook.
	ConditionWebhookReady = "WebhookReady"

	// ConditionProcessingFailing is True while the workers cannot do something in this sandbox alone, although the database
	// serves: settle payments, deliver events, or decide payments of unknown numbers. They leave the sandbox out of that, for
	// longer after each failure, up to five minutes, and retry. The message says why.
	//
	// Negative polarity, present only while it is True.
	ConditionProcessingFailing = "ProcessingFailing"
)

// Reasons of more than one condition.
const (
	// ReasonReady is given where a condition with positive polarity is True.
	ReasonReady = "Ready"

	// ReasonSuspended is the reason of Ready while it is True and spec.suspend is: everything is in place, and at rest. The
	// API answers 503 and what is due waits.
	ReasonSuspended = "Suspended"

	// ReasonPending is given for a condition that is Unknown, as the controller did not get so far yet.
	ReasonPending = "Pending"

	// ReasonRetrying is the reason of Reconciling while something is tried again by itself.
	ReasonRetrying = "Retrying"

	// ReasonInvalidSpec says that the spec cannot be carried out; the message says what to change.
	ReasonInvalidSpec = "InvalidSpec"

	// ReasonLimitExceeded says that whoever runs Cauri allows no more SandboxEnvironments in the namespace, or no more TestClients
	// in the sandbox. The oldest ones keep their places; the resource becomes ready by itself when one of them goes.
	ReasonLimitExceeded = "LimitExceeded"

	// ReasonDatabaseUnavailable says that the database is away. It goes by itself when the database comes back.
	ReasonDatabaseUnavailable = "DatabaseUnavailable"

	// ReasonDatabaseError says that the database did not do as it was told, for the cause in the message. It is tried again.
	ReasonDatabaseError = "DatabaseError"

	// ReasonDeleting says that the resource is being deleted and that rows of it are left in the database, which are removed in
	// small batches. Its API key does not work any more. It goes with the resource, by itself.
	ReasonDeleting = "Deleting"
)

// Reasons of CredentialsReady.
const (
	// ReasonSecretConflict says that a Secret of the name in spec.credentialsSecretName is there already and does not
	// belong to the sandbox. It is left alone. The condition goes by itself when that Secret does.
	ReasonSecretConflict = "SecretConflict"

	// ReasonSigningSecretNotFound says that the Secret of spec.webhook.signingSecretRef, or its key, is not there. The
	// condition goes by itself when it is.
	ReasonSigningSecretNotFound = "SigningSecretNotFound"

	// ReasonSigningSecretInvalid says that the value of spec.webhook.signingSecretRef cannot sign webhooks: it takes 16 to
	// 256 printable characters. The condition goes by itself when the Secret is changed.
	ReasonSigningSecretInvalid = "SigningSecretInvalid"

	// ReasonCredentialsError says that the credentials Secret could not be read or written, for the cause in the
	// message. It is tried again.
	ReasonCredentialsError = "CredentialsError"
)

// Reasons of OperatorCredentialsReady.
const (
	// ReasonOperatorSecretNotFound says that a Secret of stores[].operatorCredentials, or a key of it, is not there. The
	// condition becomes True by itself when it is.
	ReasonOperatorSecretNotFound = "OperatorSecretNotFound"

	// ReasonOperatorSecretInvalid says that a Secret of stores[].operatorCredentials has a value that is none: it takes 1 to
	// 256 printable characters. The condition becomes True by itself when the Secret is changed.
	ReasonOperatorSecretInvalid = "OperatorSecretInvalid"
)

// Reasons of WebhookReady.
const (
	// ReasonNothingDelivered says that no delivery was tried yet.
	ReasonNothingDelivered = "NothingDelivered"

	// ReasonDeliveryFailing says that the last attempt was not acknowledged, for the cause in status.webhook.lastFailure.
	ReasonDeliveryFailing = "DeliveryFailing"

	// ReasonEndpointFailing says that the endpoint has failed for so long that it gets one attempt a minute until it
	// acknowledges one. Its events wait.
	ReasonEndpointFailing = "EndpointFailing"
)

// Reasons of ProcessingFailing.
const (
	// ReasonSweepFailing says that a worker's sweep fails in this sandbox alone, for the cause in the message: most often a row
	// that was changed in the database by hand. It is retried, and the condition goes by itself when it succeeds.
	ReasonSweepFailing = "SweepFailing"
)

// Reasons of a TestClient's Ready and Stalled.
const (
	// ReasonSandboxNotFound says that spec.sandboxRef names no SandboxEnvironment, or one that is being deleted. The
	// TestClient becomes ready by itself when there is one.
	ReasonSandboxNotFound = "SandboxNotFound"

	// ReasonSandboxNotReady says that the sandbox is not in the database yet. The TestClient becomes ready by itself when
	// it is.
	ReasonSandboxNotReady = "SandboxNotReady"

	// ReasonOperatorUnknown says that the operator or the country does not follow from the number and has to be written
	// in the spec.
	ReasonOperatorUnknown = "OperatorUnknown"

	// ReasonDuplicateMSISDN says that another TestClient of the sandbox has the number. This one takes over by itself
	// when that one is deleted.
	ReasonDuplicateMSISDN = "DuplicateMsisdn"
)
