package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Clock is the clock of a sandbox. It determines when payments settle and expire, when deliveries are retried, and
// which times the API shows.
//
// +kubebuilder:validation:XValidation:rule="!has(self.start) || self.mode == 'Manual'",fieldPath=".start",message="write a start only with mode: Manual. A Real clock starts at the present time"
type Clock struct {
	// mode is Real or Manual. A Real clock, the default, shows the current time plus all advances by POST
	// /v1/clock/advance. A Manual clock stands still until POST /v1/clock/advance moves it. A change of the mode keeps
	// the sandbox's time.
	//
	// +optional
	// +default="Real"
	Mode ClockMode `json:"mode,omitempty"`

	// start is the time of a Manual clock at the creation of the sandbox and after each reset, from the year 2000 to
	// 2100, for example "2026-11-22T10:00:00Z". Default: the current time. A changed start applies after the next
	// reset. Until then, Ready has the reason ClockStartWaits.
	//
	// +optional
	Start DateTime `json:"start,omitempty"`
}

// ClockMode is the mode of a clock: Real or Manual.
//
// +kubebuilder:validation:Enum=Real;Manual
type ClockMode string

// The modes of a clock.
const (
	RealClock   ClockMode = "Real"
	ManualClock ClockMode = "Manual"
)

// DateTime is a time in the format of RFC 3339, from the year 2000 to 2100: 2026-11-22T10:00:00Z, or
// 2026-11-22T12:00:00+02:00. The type is a string, not metav1.Time, for the same reason as Duration.
//
// +kubebuilder:validation:Type=string
// +kubebuilder:validation:MaxLength=32
// +kubebuilder:validation:XValidation:rule="self.matches('^(20[0-9]{2}|2100)-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]([.][0-9]{1,6})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$') && self.matches('^....-(0[13578]|1[02])-|^....-..-(0|1|2[0-8])|^....-(0[469]|11)-(29|30)|^([0-9]{2}(0[48]|[2468][048]|[13579][26])|2000)-02-29')",message="write a date and time from the year 2000 to 2100, with its time zone, such as 2026-11-22T10:00:00Z"
type DateTime string

// ClockStatus is the clock of a sandbox.
type ClockStatus struct {
	// mode is Real or Manual.
	//
	// +required
	Mode ClockMode `json:"mode"`

	// now is the time of a Manual clock, which stands still until it is advanced. It is not set for a Real clock.
	//
	// +optional
	Now *metav1.Time `json:"now,omitempty"`

	// offset is the difference between a Real clock and the current time, in whole seconds, for example 1h1m0s. It is
	// negative if the clock is behind. It is not set for a clock that was never moved.
	//
	// +optional
	Offset string `json:"offset,omitempty"`
}
