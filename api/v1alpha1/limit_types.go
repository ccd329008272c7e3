package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Quota limits the number of transactions of a sandbox.
type Quota struct {
	// monthlyTransactions is the maximum number of collections, refunds and disbursements together in a calendar month
	// (UTC), at least 1, for example 100000. Above it, the API answers 402 quota_exceeded and records nothing. A
	// repetition of a recorded request does not count. If it is not set, there is no limit.
	//
	// +optional
	// +kubebuilder:validation:Minimum=1
	MonthlyTransactions *int64 `json:"monthlyTransactions,omitempty"`
}

// QuotaStatus is how much of a quota is used.
type QuotaStatus struct {
	// used is the number of transactions in the current calendar month (UTC). At spec.quota.monthlyTransactions, the
	// API answers 402, and Ready has the reason QuotaExceeded.
	//
	// +required
	Used int64 `json:"used"`

	// renewsAt is the start of the next month, in sandbox time.
	//
	// +required
	RenewsAt metav1.Time `json:"renewsAt"`
}

// RateLimit limits how often a sandbox's API may be called.
type RateLimit struct {
	// requestsPerMinute is the maximum number of requests with the sandbox's API key in any minute, for example 1000. It
	// is at least 1. Above it, the API answers 429 rate_limited with the time of a retry. If it is not set, there is no
	// limit.
	//
	// +optional
	// +kubebuilder:validation:Minimum=1
	RequestsPerMinute *int32 `json:"requestsPerMinute,omitempty"`
}
