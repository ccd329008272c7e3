// Package requests is the request log: the requests to a sandbox and their answers, so that developers see what their
// code sends.
//
// It keeps the last failed requests and, while somebody watches, the last successful ones. Of a request, it keeps only
// named fields, see [Redactor], and no headers. Every front may record the requests to a sandbox here.
package requests

import (
	"encoding/json"
	"regexp"
	"time"

	"github.com/cauri-dev/cauri/server/english"
	"github.com/cauri-dev/cauri/server/payments"
)

// Kind is the kind of a request. Each kind has its own limit, so that requests of one kind do not displace those of
// another.
type Kind string

const (
	Failed          Kind = "failed"          // the answer was a refusal or not 2xx, or there was none
	Succeeded       Kind = "succeeded"       // it was carried out while somebody watched, or changed something in the console
	Unauthenticated Kind = "unauthenticated" // without a valid key, to a path that names the sandbox
)

const (
	// MostKept limits the failed requests that are kept for a sandbox, and separately the successful ones.
	MostKept = 500
	// MostUnauthenticated limits the requests without a valid key that are kept for a sandbox.
	MostUnauthenticated = 20
	// MostOfGuests limits the failed requests of guests that are kept for a sandbox, and separately the successful ones.
	MostOfGuests = 100
)

// guestPrefix is the prefix of the stored kind of a guest's request.
const guestPrefix = "guest_"

// IDForm is the form of an id that a client may give to its request.
var IDForm = regexp.MustCompile(`^[A-Za-z0-9._-]{1,128}$`)

// ReasonHeader is a header that says more of an answer than its status and its body: the error code of /v1 for a refusal of
// an operator's own API, and what a person should know about the request.
const ReasonHeader = "X-Cauri-Reason"

// RestOfBody and WholeBody are among what is not kept of a request whose body is cut off, or cannot be read.
const (
	RestOfBody english.Text = "the rest of the body"
	WholeBody  english.Text = "the body"
)

// Entry is one request. It has only what may be kept.
type Entry struct {
	ID           payments.ID // sorts by the time of the answer; set by [Log.Add]
	Tenant       int64
	Kind         Kind
	Guest        bool // sent without the API key, by a session that does not have all rights, or by a payer
	ReceivedAt   time.Time
	Method       string
	Path         string
	Query        json.RawMessage // an object of texts; nil for none
	Status       int             // 0: the connection was closed without an answer
	Error        string          // code; empty for none
	Hint         string          // what a person should know about the request, in English; empty for none
	RequestID    string
	Fault        string // name of the declared fault that applied
	Actor        string // who made a change in the console; empty: it came with the API key
	RequestBody  json.RawMessage
	ResponseBody json.RawMessage
	NotKept      []string // names of fields and parameters that are not kept, or words for them
}

// stored returns the kind of the entry in the database.
func (e *Entry) stored() string {
	if e.Guest {
		return guestPrefix + string(e.Kind)
	}
	return string(e.Kind)
}

// overhead is the approximate memory of an entry without its texts, in bytes.
const overhead = 256

// size returns the approximate memory of an entry, in bytes.
func (e *Entry) size() int {
	n := overhead + len(e.Method) + len(e.Path) + len(e.Query) + len(e.Error) + len(e.Hint) + len(e.RequestID) + len(e.Fault) + len(e.Actor) +
		len(e.RequestBody) + len(e.ResponseBody)
	for _, name := range e.NotKept {
		n += len(name)
	}
	return n
}

// Filter says which requests are listed. A zero field filters nothing.
type Filter struct {
	Succeeded bool // list also the requests that succeeded
	Status    int
	Error     string
	Path      string // prefix of the request's path
	OfAPIs    bool   // list no requests to the console
}
