package httpfront

import (
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/proof"
	"github.com/cauri-dev/cauri/server/requests"
	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/server/service"
)

// Shared has what all fronts of a process use.
type Shared struct {
	Pipeline  *Pipeline
	Service   *service.Service
	Ledger    *ledger.Ledger
	Books     *proof.Books
	Sandboxes *sandboxes.Registry
	Directory *sandboxes.Directory
	Requests  *requests.Log // nil: no request is logged
	Streams   *Streams
	Version   string // of this program
	Roots     Roots  // nil for none
}
