package ledger

// EventsStatement is what ListEvents sends, and LookUpStatement what GetTransactionBatched does.
var (
	EventsStatement = eventsStatement
	LookUpStatement = lookUpStatement
)

// ChangedStatements are what ChangesAfter sends to read what has changed, by their names in the lists of the tests.
var ChangedStatements = map[string]string{
	"ChangedTransactions": changedTransactions, "ChangedEvents": changedEvents, "ChangedAttempts": changedAttempts,
	"ChangedFloats": changedFloats, "ChangedSIMs": changedSIMs,
}
