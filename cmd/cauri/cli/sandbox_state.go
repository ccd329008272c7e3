package cli

import (
	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
)

// state is a snapshot of a sandbox, from its resource and from the API. Without a cluster, it has only the fields of
// the API.
type state struct {
	quota        *int64                             // monthly quota in the resource; nil for none
	behind       bool                               // the conditions are of an earlier spec
	Sandbox      string                             `json:"sandbox"`
	URL          string                             `json:"url"`
	Suspended    bool                               `json:"suspended"`
	Status       *v1alpha1.SandboxEnvironmentStatus `json:"status,omitempty"`
	Clock        *wire.Clock                        `json:"clock,omitempty"`
	Webhook      *wire.Webhook                      `json:"webhook,omitempty"`
	Ledger       *wire.LedgerAccountList            `json:"ledger,omitempty"`
	Pending      []wire.Payment                     `json:"pending"`
	FailedEvents []wire.EventSummary                `json:"failedEvents"`
	QueuedEvents []wire.EventSummary                `json:"queuedEvents"`
	Refused      []wire.LoggedRequest               `json:"refusedRequests"` // from the request log
	Latest       []wire.Payment                     `json:"latestTransactions"`
	time         *sandboxTime
	declared     faults.Set
	// APIError is the reason why the API could not be read.
	APIError string `json:"apiError,omitempty"`
}
