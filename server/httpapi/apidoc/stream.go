package apidoc

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cauri-dev/cauri/server/httpapi/decode"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
)

// MediaEvents is the media type of server-sent events.
const MediaEvents = "text/event-stream"

// streamParameterDescriptions describes the parameters of a stream. [wire.StreamParameters] reads them.
var streamParameterDescriptions = map[string]*huma.Param{
	"types": {
		Description: "What to tell, with commas between: `transaction`, `event`, `attempt`, `clock`, `balance`, `faults`. Default: all of it.",
		Schema: &huma.Schema{
			Type: huma.TypeString, Pattern: "^(transaction|event|attempt|clock|balance|faults)(,(transaction|event|attempt|clock|balance|faults))*$",
		},
	},
}

var lastEventIDParameter = &huma.Param{
	Name: wire.LastEventIDHeader, In: "header",
	Description: "The last `id` of an earlier stream: the stream goes on after it.",
	Schema:      &huma.Schema{Type: huma.TypeString, Pattern: wire.StreamIDForm.String(), Examples: []any{"748812-17"}},
}

// OpenStream describes the stream of changes. Package streams documents its guarantees. A client has four minutes to
// resume. The worker keeps changes for ten minutes, but changes are noted only while the sandbox is marked as followed.
// The mark may expire four minutes after the end of the last stream.
var OpenStream = Operation{
	ID: "openStream", Method: http.MethodGet, Path: "/v1/stream", Tag: tagStream, Summary: "Follow what changes", Media: MediaEvents,
	Description: "Server-sent events: an entry for every change of a transaction, an event, an attempt to deliver one, the clock, a balance, and the faults, " +
		"as it is when it is told. The schema is that of `data`, which is one line of JSON in each entry; `event` is its `type`.\n\n" +
		"The first entry is `ready`: read lists after it, and nothing is missed. Each change is told at least once, and the changes of one thing " +
		"in their order; two of them may be told as one.\n\n" +
		"If the connection ends, send the last `id` as `Last-Event-ID` within four minutes. If it is not known what has changed since then, and " +
		"when the sandbox is reset, an entry `reset` comes: read the lists again, after the `ready` that follows. A comment comes every 15 " +
		"seconds. The stream ends when the key does, and when the client does not read for 15 seconds.",
	Parameters: append(describedParameters(decode.StreamParameters, streamParameterDescriptions, nil), lastEventIDParameter),
	answers:    []described{{http.StatusOK, "The stream. It does not end by itself.", streamEntrySchema, nil}},
	errors:     []string{"invalid_params", "too_many_streams"},
}
