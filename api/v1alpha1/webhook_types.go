package v1alpha1

// Webhook has the endpoint for a sandbox's events, and how they are sent.
type Webhook struct {
	// url is the URL to which events are posted, for example http://shop.team-payments.svc/webhooks. It is an absolute
	// http or https URL, without a user name, a password or a fragment. Deliveries to addresses that the platform team
	// has blocked are refused.
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:XValidation:rule="isURL(self) && self.matches('^[Hh][Tt][Tt][Pp][Ss]?://([^/?#]*@)?([A-Za-z0-9_.-]+|[[][0-9A-Fa-f:.]+[]])(:[0-9]*)?([/?#]|$)') && (url(self).getPort() == '' || size(url(self).getPort()) <= 5 && int(url(self).getPort()) >= 1 && int(url(self).getPort()) <= 65535)",message="write an absolute http or https URL, for example http://shop.team-payments.svc/webhooks; its host is a name in ASCII, or an address without a zone"
	// +kubebuilder:validation:XValidation:rule="!self.matches('^[^/?#]*//[^/?#]*@')",message="leave the user name and password out of the URL: deliveries are authenticated by their signature"
	// +kubebuilder:validation:XValidation:rule="!self.contains('#')",message="leave the fragment out of the URL: nothing after # is ever sent"
	// +kubebuilder:validation:XValidation:rule="!self.matches('^[^/?#]*//([^/?#@]*@)?((0|169[.]254|2(2[4-9]|3[0-9])[.][0-9]+)[.][0-9.]+|255[.]255[.]255[.]255|100[.]100[.]100[.]200|192[.]0[.]0[.]192|168[.]63[.]129[.]16|[[](::|[Ff][Ee][89AaBb][0-9A-Fa-f]:[^]]*|[Ff][Ff][0-9A-Fa-f][0-9A-Fa-f]:[^]]*|[Ff][Dd]00:0?[Ee][Cc]2::254|[Ff][Dd]20:(00)?[Cc][Ee]::254)[]])[.]?(:[0-9]*)?([/?#]|$)') && (!self.matches('^[^/?#]*//([^/?#@]*@)?([A-Za-z0-9_-]+[.])*(0[xX][0-9A-Fa-f]*|[0-9]+)[.]?(:[0-9]*)?([/?#]|$)') || self.matches('^[^/?#]*//([^/?#@]*@)?(25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])[.](25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])[.](25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])[.](25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])[.]?(:[0-9]*)?([/?#]|$)'))",message="nothing is ever sent to this address: it is link-local, of a metadata service, of no single receiver, or written in a form that programs read differently; write the name of a host, or its address as four decimal numbers"
	URL string `json:"url"`

	// signingSecretRef names the key of a Secret in this namespace with your own signing secret: 16 to 256 printable
	// characters. The Secret has the label cauri.dev/sandbox-may-read: "true". If signingSecretRef is not set, a signing
	// secret is generated. In both cases, the credentials Secret has it as
	// webhook-signing-secret.
	//
	// +optional
	SigningSecretRef *SecretKeyReference `json:"signingSecretRef,omitempty"`

	// secretRotation is any text of up to 63 characters, for example "1". A new value replaces a generated signing
	// secret by a new one. X-Service-Signature uses the new secret at once. The previous secret also signs for 24
	// hours, in the headers X-Service-Signature-Previous and webhook-signature. There may be up to three previous
	// secrets, each with its own 24 hours.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=63
	SecretRotation string `json:"secretRotation,omitempty"`

	// events are the names of the events to send: payment.completed, payment.refunded and disbursement.completed.
	// Default: all. Other events are recorded, and can be read and resent through the API.
	//
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=3
	Events []WebhookEvent `json:"events,omitempty"`

	// retryPolicy is the schedule of retries after a delivery that was not acknowledged. Default: 5 retries after 5 s, 25 s,
	// about 2 min, 10 min and 52 min.
	//
	// +optional
	// +default={"maxRetries":5,"initialDelay":"5s","factor":5,"maxDelay":"1h"}
	RetryPolicy *RetryPolicy `json:"retryPolicy,omitempty"`
}

// WebhookEvent is the name of an event.
//
// +kubebuilder:validation:Enum=payment.completed;payment.refunded;disbursement.completed
type WebhookEvent string

// RetryPolicy is the schedule of a webhook's retries. The first retry follows the first attempt after initialDelay.
// Each further delay is factor times the delay before, at most maxDelay. The rules ignore a value that is not a
// duration, because that error has its own message.
//
// +kubebuilder:validation:XValidation:rule="!self.initialDelay.matches('^([0-9]{1,5}([.][0-9]{1,3})?(h|m|s|ms))+$') || duration(self.initialDelay) >= duration('100ms') && duration(self.initialDelay) <= duration('24h')",fieldPath=".initialDelay",message="write an initialDelay from 100ms to 24h"
// +kubebuilder:validation:XValidation:rule="!self.maxDelay.matches('^([0-9]{1,5}([.][0-9]{1,3})?(h|m|s|ms))+$') || duration(self.maxDelay) <= duration('24h')",fieldPath=".maxDelay",message="write a maxDelay of at most 24h"
// +kubebuilder:validation:XValidation:rule="!self.initialDelay.matches('^([0-9]{1,5}([.][0-9]{1,3})?(h|m|s|ms))+$') || !self.maxDelay.matches('^([0-9]{1,5}([.][0-9]{1,3})?(h|m|s|ms))+$') || duration(self.maxDelay) >= duration(self.initialDelay)",fieldPath=".maxDelay",message="write a maxDelay that is not below initialDelay"
type RetryPolicy struct {
	// maxRetries is the maximum number of attempts after the first one, 0 to 20. Default 5.
	//
	// +optional
	// +default=5
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=20
	MaxRetries *int32 `json:"maxRetries,omitempty"`

	// initialDelay is the time from the first attempt to the first retry, 100ms to 24h, for example 5s or 1m30s. Default 5s.
	//
	// +optional
	// +default="5s"
	InitialDelay Duration `json:"initialDelay,omitempty"`

	// factor multiplies each delay to get the next one, a whole number from 1 to 10. Default 5.
	//
	// +optional
	// +default=5
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10
	Factor *int32 `json:"factor,omitempty"`

	// maxDelay is the longest delay, at least initialDelay and at most 24h. Default 1h.
	//
	// +optional
	// +default="1h"
	MaxDelay Duration `json:"maxDelay,omitempty"`
}

// Duration is a length of time in hours, minutes, seconds and milliseconds: 1h, 90s, 1m30s, 500ms. Go's
// time.ParseDuration accepts every text that matches the pattern and has at most 32 characters. The type is a string,
// not metav1.Duration, because one object with an invalid duration would prevent the controller from reading all
// objects.
//
// +kubebuilder:validation:Type=string
// +kubebuilder:validation:MaxLength=32
// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]{1,5}([.][0-9]{1,3})?(h|m|s|ms))+$')",message="write a duration in hours, minutes, seconds and milliseconds, such as 500ms, 1m30s or 24h; 7 days are 168h"
type Duration string
