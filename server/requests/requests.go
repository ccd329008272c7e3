// Package requests is the request log: what callers asked of a sandbox and were answered, so that a developer sees what his code sends.
//
// Kept are the last requests that failed, and while somebody watches also the others. What is kept of a request is what a list of fields
// names, see [Keeper]; no header is in it. Whatever answers requests for a sandbox may record them here.
package requests

import (
	"encoding/json"
	"regexp"
	"time"

	"github.com/cauri-dev/cauri/server/payments"
)

// Kind decides how many requests are kept beside each other, so that none of another kind are pushed out.
type Kind string

const (
	Failed          Kind = "failed"          // it was not answered 2xx, or not at all
	Succeeded       Kind = "succeeded"       // answered 2xx while somebody looked
	Unauthenticated Kind = "unauthenticated" // without a valid key, to a path that names the sandbox
)

const (
	// MostKept is how many failed requests of a sandbox are kept, and how many that succeeded.
	MostKept = 500
	// MostUnauthenticated is how many requests without a valid key are kept.
	MostUnauthenticated = 20
)

// IDForm is the form of an id that a client may give to its request.
var IDForm = regexp.MustCompile(`^[A-Za-z0-9._-]{1,128}$`)

// Entry is one request. It has no more than what may be kept.
type Entry struct {
	ID           payments.ID // sorts by the time of the answer; set by [Log.Add]
	Tenant       int64
	Kind         Kind
	ReceivedAt   time.Time
	Method       string
	Path         string
	Query        json.RawMessage // an object of texts; nil for none
	Status       int             // 0: the connection was closed without an answer
	Error        string          // code; empty for none
	RequestID    string
	Fault        string // name of the declared fault that acted
	RequestBody  json.RawMessage
	ResponseBody json.RawMessage
	NotKept      []string // what else the request had: names of fields and parameters, or words
}

// overhead is about what an entry takes in memory beside its texts.
const overhead = 256

// size is about what an entry takes in memory, in bytes.
func (e *Entry) size() int {
	n := overhead + len(e.Method) + len(e.Path) + len(e.Query) + len(e.Error) + len(e.RequestID) + len(e.Fault) +
		len(e.RequestBody) + len(e.ResponseBody)
	for _, name := range e.NotKept {
		n += len(name)
	}
	return n
}

// Filter says which requests are listed. A zero field filters nothing.
type Filter struct {
	Succeeded bool // also those that were answered 2xx
	Status    int
	Error     string
	Path      string // that the request's path begins with
}
