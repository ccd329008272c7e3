// Package queues has what is due in which sandboxes, and how much. It removes what is old.
package queues

// DueTenant is a sandbox with due work of one kind. Due tenants are served concurrently, so that no sandbox waits for
// another's work.
type DueTenant struct {
	Tenant          int64
	EndpointWorked  bool // the endpoint has acknowledged an event before
	EndpointFailing bool // the endpoint has failed since its last acknowledgment, in any worker
	Probe           bool // the endpoint has failed for long: one event may be sent as a probe
	SweepFailed     bool // the last run of the sweep failed in this sandbox
}

// TenantsOf returns the tenants.
func TenantsOf(due []DueTenant) []int64 {
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

// Columns has grants as array arguments of statements. The i-th tenant and the i-th limit are one grant.
type Columns struct {
	Tenants []int64
	Limits  []int32
	Probes  []int64 // tenants whose endpoint is probed
}

// ColumnsOf returns grants as arguments.
func ColumnsOf(all []SlotGrant) Columns {
	var columns Columns
	for _, one := range all {
		columns.Tenants = append(columns.Tenants, one.Tenant)
		columns.Limits = append(columns.Limits, int32(one.Slots))
		if one.Probe {
			columns.Probes = append(columns.Probes, one.Tenant)
		}
	}
	return columns
}
