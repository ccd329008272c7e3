package apidoc

import (
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cauri-dev/cauri/server/httpapi/decode"
	"github.com/cauri-dev/cauri/server/httpapi/view"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

var CreateConsoleLink = Operation{
	ID: "createConsoleLink", Method: http.MethodPost, Path: "/v1/console_links", Tag: tagConsole, Summary: "Make a link to the console",
	Description: "The link opens the console in one browser, once, for five minutes. It shows a button, and only the button uses the link up: " +
		"a program that previews links does not. The browser gets a session of eight hours, which ends with the API key. A sandbox has at most " +
		"100 links of each role that nobody used, and 200 sessions of each role; a new one ends the oldest of its role. With `msisdn` it opens the phone of one test client, and nothing " +
		"else. No body is needed.",
	Body: decode.CreateConsoleLink.Schema, BodyOptional: true,
	answers: []described{{http.StatusCreated, "The link.", consoleLinkSchema, nil}},
	errors:  []string{"not_found"},
	Examples: []Example{{
		name: "viewer", Summary: "For somebody who looks and changes nothing", Status: http.StatusCreated, Body: `{
  "role": "viewer"
}`, Answer: wire.ConsoleLink{
			URL: "https://pay.example.com/sandboxes/team-payments/checkout/console/link?token=cauri_cl_viewer_" +
				"0000000000000000000000000000000000000000000",
			Role: "viewer", ExpiresAt: payments.FormatTime(exampleTime.Add(5 * time.Minute)),
		},
	}, {
		name: "handset", Summary: "For somebody who pays with one phone", Status: http.StatusCreated, Body: `{
  "msisdn": "` + exampleMSISDN + `"
}`, Answer: wire.ConsoleLink{
			URL: "https://pay.example.com/sandboxes/team-payments/checkout/console/link?token=cauri_cl_handset_" +
				"0000000000000000000000000000000000000000000",
			Role: "handset", MSISDN: new(exampleMSISDN), ExpiresAt: payments.FormatTime(exampleTime.Add(5 * time.Minute)),
		},
	}},
}

var ListConsoleSessions = Operation{
	ID: "listConsoleSessions", Method: http.MethodGet, Path: "/v1/console_sessions", Tag: tagConsole,
	Summary:     "List who is signed in to the console",
	Description: "The open sessions of the console: a browser each.",
	answers:     []described{{http.StatusOK, "The sessions.", consoleSessionListSchema, nil}},
	errors:      []string{"invalid_params"},
	Examples: []Example{{
		name: "sessions", Summary: "One browser", Status: http.StatusOK,
		Answer: wire.ConsoleSessionList{Data: []wire.ConsoleSession{view.ConsoleSessionOf(&sandboxes.ConsoleSession{
			ConsoleAccess: sandboxes.ConsoleAccess{Role: sandboxes.ConsoleViewer}, ID: exampleConsoleSession, CreatedAt: exampleTime,
			ExpiresAt: exampleTime.Add(8 * time.Hour),
		})}},
	}},
}

var DeleteConsoleSessions = Operation{
	ID: "deleteConsoleSessions", Method: http.MethodDelete, Path: "/v1/console_sessions", Tag: tagConsole, Summary: "Sign everybody out",
	Description: "Ends all sessions of the console, and the links that nobody used. Open pages get no more changes within a second.",
	answers:     []described{{http.StatusNoContent, "Nobody is signed in.", nil, nil}},
	Examples:    []Example{{name: "all", Summary: "All browsers", Status: http.StatusNoContent}},
}

var DeleteConsoleSession = Operation{
	ID: "deleteConsoleSession", Method: http.MethodDelete, Path: "/v1/console_sessions/{session}", Tag: tagConsole, Summary: "Sign a browser out",
	Description: "Ends one session of the console.",
	Parameters: []*huma.Param{{
		Name: "session", In: "path", Required: true, Description: "Id of the session.",
		Schema: &huma.Schema{Type: huma.TypeString, Examples: []any{exampleConsoleSession}},
	}},
	answers: []described{{http.StatusNoContent, "The session has ended.", nil, nil}},
	errors:  []string{"not_found"},
	Examples: []Example{{
		name: "one", Summary: "One browser", Status: http.StatusNoContent, Parameters: map[string]any{"session": exampleConsoleSession},
	}},
}

const exampleConsoleSession = "cs_4GQ2BTZ7WQXKJ5UYV6ZJH3M2NA"
