package sandboxes

import (
	"errors"
	"fmt"
)

var (
	// ErrNoOrganization is returned for a sandbox that the database does not know (any more).
	ErrNoOrganization = errors.New("no such organization")
	// ErrKeyTaken is returned for an API key that belongs to another sandbox.
	ErrKeyTaken = errors.New("the API key belongs to another sandbox")
	// ErrCredentialsChanged is returned for credentials that were chosen by ones that are not the present ones any more.
	ErrCredentialsChanged = errors.New("the sandbox's credentials have changed")
)

// ErrDuplicateMSISDN is returned where another SIM of the sandbox holds the number.
type ErrDuplicateMSISDN struct {
	MSISDN    string
	Holder    string // name of the TestClient that holds it
	HolderUID string // of that TestClient
}

func (e ErrDuplicateMSISDN) Error() string {
	return "the number " + e.MSISDN + " belongs to the TestClient " + e.Holder
}

// ErrRegistryFull is returned for a new test client where those that were made through the API leave no room.
type ErrRegistryFull struct {
	ByAPI int64 // test clients that were made through the API
}

func (e ErrRegistryFull) Error() string {
	return fmt.Sprintf("the registry is full, with %d test clients that were made through the API", e.ByAPI)
}

// ErrStaleGeneration is returned for what was read of a resource before a change of its spec that has been applied since.
type ErrStaleGeneration struct {
	Applied int64 // the generation that was applied last
}

func (e ErrStaleGeneration) Error() string {
	return fmt.Sprintf("generation %d of the resource has been applied already", e.Applied)
}

// ErrNameTaken is returned for a sandbox whose name the rows of another resource have.
type ErrNameTaken struct {
	UID string // of that resource
}

func (e ErrNameTaken) Error() string {
	return "the rows of another resource, with the UID " + e.UID + ", have the sandbox's name"
}
