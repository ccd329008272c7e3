package store

// ListStatement is what ListTransactions sends, EventsStatement what ListEvents does, and EnterTenant what is sent before it.
var (
	ListStatement   = listStatement
	EventsStatement = eventsStatement
	EnterTenant     = enterTenant

	// EnterTenantOnReplica is sent before it on a replica.
	EnterTenantOnReplica = enterTenantOnReplica
)
