package store

// ListStatement is what ListTransactions sends, EventsStatement what ListEvents does, LookUpStatement what GetTransactionOf does, and
// EnterTenant what is sent before each.
var (
	ListStatement   = listStatement
	EventsStatement = eventsStatement
	LookUpStatement = lookUpStatement
	EnterTenant     = enterTenant

	// EnterTenantOnReplica is sent before it on a replica.
	EnterTenantOnReplica = enterTenantOnReplica
)
