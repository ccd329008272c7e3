package wire

// How many objects a page of a list has, if a request does not say, and at most.
const (
	DefaultLimit = 20
	MaxLimit     = 100
)
