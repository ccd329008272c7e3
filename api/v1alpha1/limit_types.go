package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Quota limits how many transactions a sandbox may make.
type Quota struct {
	// monthlyTransactions is how many collections, refunds and disbursements together the sandbox may make in a calendar
	// month (UTC), at least 1, for example 100000. Above it the API answers 402 quota_exceeded and records nothing. A
	// repetition of a recorded request does not count. If it is not set there is no limit.
	//
	// +optional
	// +kubebuilder:validation:Minimum=1
	MonthlyTransactions *int64 `json:"monthlyTransactions,omitempty"`
}

// QuotaStatus is how much of a quota is used.
type QuotaStatus struct {
	// used is how many transactions of the current calendar month (UTC) count. At spec.quota.monthlyTransactions the API answers 402,
	// and Ready has the reason QuotaExceeded.
	//
	// +required
	Used int64 `json:"used"`

	// renewsAt is when the next month begins, in the sandbox's time.
	//
	// +required
	RenewsAt metav1.Time `json:"renewsAt"`
}

// RateLimit limits how often a sandbox's API may be called.
type RateLimit struct {
	// requestsPerMinute is how many requests with the sandbox's API key are answered within any minute, at least 1, for
	// example 1000. Above it the API answers 429 rate_limited and says when to retry. If it is not set there is no limit.
	//
	// +optional
	// +kubebuilder:validation:Minimum=1
	RequestsPerMinute *int32 `json:"requestsPerMinute,omitempty"`
}
