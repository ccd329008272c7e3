package localapi

import "context"

// State keeps the resources for the next process: with the database's rows of a sandbox belong its UID, its generation and its
// credentials. It is not called by two goroutines at a time.
type State interface {
	// Load returns the objects that were saved and not deleted, as JSON.
	Load(ctx context.Context) ([][]byte, error)
	// Save keeps an object, in place of the one of the same name.
	Save(ctx context.Context, name string, object []byte) error
	// Delete removes an object.
	Delete(ctx context.Context, name string) error
}

// forgetful is the state of a process whose database ends with it.
type forgetful struct{}

func (forgetful) Load(context.Context) ([][]byte, error)     { return nil, nil }
func (forgetful) Save(context.Context, string, []byte) error { return nil }
func (forgetful) Delete(context.Context, string) error       { return nil }
