package v1alpha1

// OperatorCredentials are the credentials of a store at one operator in one country.
//
// +kubebuilder:validation:XValidation:rule="self.operator != 'mtn' || self.country in ['CI', 'RW', 'BJ', 'TG', 'UG', 'GH', 'CM']",message="mtn is available in CI, RW, BJ, TG, UG, GH and CM only: write country: CI, RW, BJ, TG, UG, GH or CM, or another operator"
// +kubebuilder:validation:XValidation:rule="self.operator != 'orange' || self.country in ['CI', 'RW', 'BJ', 'TG', 'SN', 'CM']",message="orange is available in CI, RW, BJ, TG, SN and CM only: write country: CI, RW, BJ, TG, SN or CM, or another operator"
// +kubebuilder:validation:XValidation:rule="self.operator != 'moov' || self.country in ['CI', 'RW', 'BJ', 'TG']",message="moov is available in CI, RW, BJ and TG only: write country: CI, RW, BJ or TG, or another operator"
// +kubebuilder:validation:XValidation:rule="self.operator != 'airtel' || self.country in ['RW', 'KE', 'UG', 'ZM']",message="airtel is available in RW, KE, UG and ZM only: write country: RW, KE, UG or ZM, or another operator"
// +kubebuilder:validation:XValidation:rule="self.operator != 'mpesa' || self.country in ['KE']",message="mpesa is available in KE only: write country: KE, or another operator"
type OperatorCredentials struct {
	// operator is the mobile-money operator: mtn, orange, moov, airtel or mpesa.
	//
	// +required
	Operator Operator `json:"operator"`

	// country is the market: CI, RW, BJ, TG, KE, SN, UG, GH, CM or ZM.
	// mtn is in CI, RW, BJ, TG, UG, GH and CM only.
	// orange is in CI, RW, BJ, TG, SN and CM only.
	// moov is in CI, RW, BJ and TG only.
	// airtel is in RW, KE, UG and ZM only.
	// mpesa is in KE only.
	//
	// +required
	Country Country `json:"country"`

	// secretRef names a Secret in the same namespace with the keys client_id and client_secret, and the label
	// cauri.dev/sandbox-may-read: "true". For mtn the keys are the API user and the API key, and the Secret may also have
	// the key subscription_key. For orange with a baseURL it has the key merchant_key too, and for mpesa with a baseURL the keys
	// short_code and passkey. A change of the Secret takes
	// effect automatically. While the Secret is missing, the sandbox works, but OperatorCredentialsReady is False, and
	// collections that need the Secret end with SERVICE_UNAVAILABLE.
	//
	// +required
	SecretRef LocalSecretReference `json:"secretRef"`

	// baseURL is the absolute http or https URL of the operator's API, such as https://gateway.example.com/airtel. If
	// it is empty, the default, Cauri approves the collections itself and sends no request. The operators' real APIs do
	// not work here yet (docs/fidelity.md): use a service with the protocol of Cauri. Addresses that the platform team
	// has blocked are refused.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:XValidation:rule="self == '' || isURL(self) && self.matches('^[Hh][Tt][Tt][Pp][Ss]?://([^/?#]*@)?([A-Za-z0-9_.-]+|[[][0-9A-Fa-f:.]+[]])(:[0-9]*)?([/?#]|$)') && (url(self).getPort() == '' || size(url(self).getPort()) <= 5 && int(url(self).getPort()) >= 1 && int(url(self).getPort()) <= 65535)",message="write an absolute http or https URL, for example https://gateway.example.com/airtel; its host is a name in ASCII, or an address without a zone"
	// +kubebuilder:validation:XValidation:rule="!self.contains('@') && !self.contains('?') && !self.contains('#')",message="leave the user name, the query and the fragment out of the URL: requests are made to paths below it"
	BaseURL string `json:"baseURL,omitempty"`
}

// LocalSecretReference names a Secret in the same namespace. The Secret has the label cauri.dev/sandbox-may-read: "true".
type LocalSecretReference struct {
	// name of the Secret, in the same namespace.
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$')",message="write the name of a Secret of this namespace: a-z, 0-9, - and ., starting and ending with a letter or digit"
	Name string `json:"name"`
}
