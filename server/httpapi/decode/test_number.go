package decode

import (
	"github.com/cauri-dev/cauri/server/httpapi/wire"
)

// TestNumberParameters has no parser: the list has no parameters.
var TestNumberParameters = Parameters[struct{}, wire.TestNumberList]{}

// FaultParameters has no parser: the list has no parameters.
var FaultParameters = Parameters[struct{}, wire.FaultList]{}
