package v1alpha1

// SandboxMayReadLabel is the label of a Secret that sandboxes of its namespace may name. Nothing is read from a Secret
// without it: the right to edit sandboxes is not the right to read Secrets.
const (
	SandboxMayReadLabel = "cauri.dev/sandbox-may-read"
	SandboxMayRead      = "true"
)

// SecretKeyReference names one key of a Secret in the same namespace. The Secret has the label cauri.dev/sandbox-may-read: "true".
type SecretKeyReference struct {
	// name of the Secret, in the same namespace.
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$')",message="write the name of a Secret of this namespace: a-z, 0-9, - and ., starting and ending with a letter or digit"
	Name string `json:"name"`

	// key of the Secret's data, for example whsec.
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[-._a-zA-Z0-9]+$')",message="write the key of the Secret's data: letters, digits, -, _ and . only"
	Key string `json:"key"`
}

// SecretReference names a Secret in the same namespace.
type SecretReference struct {
	// name of the Secret.
	//
	// +required
	Name string `json:"name"`
}

// SandboxReference names a SandboxEnvironment in the same namespace.
type SandboxReference struct {
	// name of the SandboxEnvironment, in the same namespace. It may be created later: the resource waits for it.
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`
}
