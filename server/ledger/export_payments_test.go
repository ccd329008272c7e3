package ledger

// ListStatement is what ListTransactions sends, EventsStatement what ListEvents does, and LookUpStatement what GetTransactionBatched does.
var (
	ListStatement   = listStatement
	EventsStatement = eventsStatement
	LookUpStatement = lookUpStatement
)
