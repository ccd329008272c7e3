package v1alpha1

// Credentials say what the credentials Secret has.
type Credentials struct {
	// apiKeySecretRef names the key of a Secret in this namespace with your own API key: cauri_sk_test_ and at least 32
	// letters and digits. The Secret has the label cauri.dev/sandbox-may-read: "true". A changed key takes effect at once,
	// and the previous one still works for keyRotationGrace. Two sandboxes never have the same key. keyRotation has no
	// effect then. If apiKeySecretRef is not set, a key is generated. In both cases, the credentials Secret has it as
	// api-key.
	//
	// +optional
	APIKeySecretRef *SecretKeyReference `json:"apiKeySecretRef,omitempty"`

	// secretTemplate has labels and annotations for the credentials Secret, for tools that look for them.
	//
	// +optional
	SecretTemplate *SecretTemplate `json:"secretTemplate,omitempty"`
}

// SecretTemplate has labels and annotations for the credentials Secret. One that is removed here is removed from the
// Secret. Those that others add to the Secret stay.
type SecretTemplate struct {
	// labels of the credentials Secret, at most 32. Those that begin with cauri.dev/, and app.kubernetes.io/managed-by,
	// are the controller's.
	//
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	// +kubebuilder:validation:XValidation:rule="self.all(k, !k.startsWith('cauri.dev/') && k != 'app.kubernetes.io/managed-by')",message="leave out app.kubernetes.io/managed-by and the labels that begin with cauri.dev/: the controller writes them"
	Labels map[string]LabelValue `json:"labels,omitempty"`

	// annotations of the credentials Secret, at most 32. Those that begin with cauri.dev/ are the controller's, and
	// kubectl.kubernetes.io/last-applied-configuration is kubectl's.
	//
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	// +kubebuilder:validation:XValidation:rule="self.all(k, !k.startsWith('cauri.dev/') && k != 'kubectl.kubernetes.io/last-applied-configuration')",message="leave out kubectl.kubernetes.io/last-applied-configuration and the annotations that begin with cauri.dev/: kubectl and the controller write them"
	Annotations map[string]AnnotationValue `json:"annotations,omitempty"`
}

// LabelValue is the value of a label.
//
// +kubebuilder:validation:MaxLength=63
// +kubebuilder:validation:XValidation:rule="self.matches('^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$')",message="write a label's value: at most 63 letters, digits, -, _ and ., starting and ending with a letter or digit"
type LabelValue string

// AnnotationValue is the value of an annotation, at most 4096 characters.
//
// +kubebuilder:validation:MaxLength=4096
type AnnotationValue string
