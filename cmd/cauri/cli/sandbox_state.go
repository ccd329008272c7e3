package cli

import (
	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
)

// state is one look at a sandbox. Without its resource, only what the API tells is in it.
type state struct {
	quota        *int64                             // of the resource; nil: there is none
	Sandbox      string                             `json:"sandbox"`
	URL          string                             `json:"url"`
	Suspended    bool                               `json:"suspended"`
	Status       *v1alpha1.SandboxEnvironmentStatus `json:"status,omitempty"`
	Clock        *wire.Clock                        `json:"clock,omitempty"`
	Ledger       *wire.LedgerAccountList            `json:"ledger,omitempty"`
	Pending      []wire.Payment                     `json:"pending"`
	FailedEvents []wire.EventSummary                `json:"failedEvents"`
	QueuedEvents []wire.EventSummary                `json:"queuedEvents"`
	Refused      []wire.LoggedRequest               `json:"refusedRequests"` // of the request log
	Latest       []wire.Payment                     `json:"latestTransactions"`
	time         *sandboxTime
	declared     faults.Set
	// APIError says why nothing of the API is here.
	APIError string `json:"apiError,omitempty"`
}
