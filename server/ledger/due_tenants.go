package ledger

import (
	"context"

	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/postgres/sqlc"
)

// DueTenant is a sandbox with due work of one kind. Due tenants are served concurrently, so that no sandbox waits for
// another's work.
type DueTenant struct {
	Tenant          int64
	EndpointWorked  bool // the endpoint has acknowledged an event before
	EndpointFailing bool // the endpoint has failed since its last acknowledgment, in any worker
	Probe           bool // the endpoint has failed for long: one event may be sent as a probe
	SweepFailed     bool // the last run of the sweep failed in this sandbox
}

// QueuesInUse says which of the workers' queues have a row, due or not, over all sandboxes.
type QueuesInUse struct {
	Settlements, Forwards, Events, Callbacks, Clocks, Expectations, ReceiverChecks bool

	Passes bool // a ledger is due to be verified as a whole
}

// QueuesInUse returns which queues have a row. It costs a fraction of the queries for due rows.
func (s *Upkeep) QueuesInUse(ctx context.Context) (QueuesInUse, error) {
	row, err := s.core.Polling().QueuesInUse(ctx)
	return QueuesInUse(row), postgres.Classify(err, "looking for queues in use")
}

func tenantsOf(due []DueTenant) []int64 {
	tenants := make([]int64, len(due))
	for i, one := range due {
		tenants[i] = one.Tenant
	}
	return tenants
}

// SlotGrant is a due tenant with the number of slots that it was granted. A caller leases at most one event, callback
// or collection of the tenant for each slot.
type SlotGrant struct {
	DueTenant
	Slots int
}

// grantColumns has grants as array arguments of statements. The i-th tenant and the i-th limit are one grant.
type grantColumns struct {
	tenants []int64
	limits  []int32
	probes  []int64 // tenants whose endpoint is probed
}

func grantColumnsOf(all []SlotGrant) grantColumns {
	var columns grantColumns
	for _, one := range all {
		columns.tenants = append(columns.tenants, one.Tenant)
		columns.limits = append(columns.limits, int32(one.Slots))
		if one.Probe {
			columns.probes = append(columns.probes, one.Tenant)
		}
	}
	return columns
}

// TenantsToDeliver returns the sandboxes with due events. It leaves out suspended sandboxes, and those whose endpoint
// waits for its next probe.
func (s *Deliveries) TenantsToDeliver(ctx context.Context) ([]DueTenant, error) {
	rows, err := s.core.Polling().TenantsToDeliver(ctx)
	if err != nil {
		return nil, postgres.Classify(err, "looking for sandboxes with due events")
	}
	due := make([]DueTenant, len(rows))
	for i, row := range rows {
		due[i] = DueTenant(row)
	}
	return due, nil
}

// TenantsToForward returns the sandboxes with collections that are due to be forwarded, or to be queried at an
// operator.
func (s *Forwards) TenantsToForward(ctx context.Context) ([]DueTenant, error) {
	rows, err := s.core.Polling().TenantsToForward(ctx)
	if err != nil {
		return nil, postgres.Classify(err, "looking for sandboxes with collections to forward")
	}
	due := make([]DueTenant, len(rows))
	for i, row := range rows {
		due[i] = DueTenant{Tenant: row.Tenant, SweepFailed: row.SweepFailed}
	}
	return due, nil
}

// takeProbes claims the due probes of endpoints. It returns the tenants whose probe it got. Other workers may have
// claimed the rest.
func takeProbes(ctx context.Context, q *sqlc.Queries, due []int64) ([]int64, error) {
	if len(due) == 0 {
		return nil, nil
	}
	return q.TakeProbes(ctx, postgres.Milliseconds(ProbeInterval), due)
}
