package sandboxes

import (
	"errors"
	"fmt"
)

var (
	// ErrNoOrganization is returned for a sandbox that is not in the database, or no longer.
	ErrNoOrganization = errors.New("no such organization")
	// ErrKeyTaken is returned for an API key that belongs to another sandbox.
	ErrKeyTaken = errors.New("the API key belongs to another sandbox")
	// ErrCredentialsChanged is returned for new credentials that replace credentials that are no longer the current
	// ones.
	ErrCredentialsChanged = errors.New("the sandbox's credentials have changed")
)

// ErrDuplicateMSISDN is returned if another SIM of the sandbox holds the number.
type ErrDuplicateMSISDN struct {
	MSISDN    string
	Holder    string // name of the TestClient that holds it
	HolderUID string // of that TestClient
}

func (e ErrDuplicateMSISDN) Error() string {
	return "the number " + e.MSISDN + " belongs to the TestClient " + e.Holder
}

// ErrRegistryFull is returned for a new test client if the test clients that were made through the API leave no room.
type ErrRegistryFull struct {
	ByAPI int64 // test clients that were made through the API
}

func (e ErrRegistryFull) Error() string {
	return fmt.Sprintf("the registry is full, with %d test clients that were made through the API", e.ByAPI)
}

// ErrStaleGeneration is returned for an older generation of a resource than the one that was applied last.
type ErrStaleGeneration struct {
	Applied int64 // the generation that was applied last
}

func (e ErrStaleGeneration) Error() string {
	return fmt.Sprintf("generation %d of the resource has been applied already", e.Applied)
}

// ErrNameTaken is returned for a sandbox if rows of another resource have its name.
type ErrNameTaken struct {
	UID string // of that resource
}

func (e ErrNameTaken) Error() string {
	return "the rows of another resource, with the UID " + e.UID + ", have the sandbox's name"
}
