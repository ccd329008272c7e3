package store

// ListStatement is what ListTransactions sends, and EnterTenant what is sent before it.
var (
	ListStatement = listStatement
	EnterTenant   = enterTenant
)
