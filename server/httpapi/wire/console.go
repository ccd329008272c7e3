package wire

// ConsoleLinkRequest is the body of POST /v1/console_links. The body is optional.
type ConsoleLinkRequest struct {
	_    struct{} `additionalProperties:"true"`
	Role string   `json:"role,omitempty" enum:"full,viewer" default:"full" example:"viewer" null:"for a link with all rights, or with msisdn" doc:"viewer: the person looks at everything and changes nothing. Leave it out of a link with msisdn. It must not be null."`
	// MSISDN makes the role handset.
	MSISDN string `json:"msisdn,omitempty" pattern:"^\\+[1-9][0-9]{6,14}$" patternDescription:"an E.164 number with its leading +" example:"+250788000001" null:"for a link to the whole sandbox" doc:"Number of a test client. The link opens its phone and nothing else, with the role handset. It must not be null."`
}

// ConsoleLink is the answer of POST /v1/console_links.
type ConsoleLink struct {
	URL       string  `json:"url" format:"uri" doc:"Opens the console once, in one browser. Treat it like a password until it was used."`
	Role      string  `json:"role" enum:"full,viewer,handset"`
	MSISDN    *string `json:"msisdn" doc:"Of the phone that a handset uses; null for the other roles."`
	ExpiresAt string  `json:"expiresAt" format:"date-time" doc:"Five minutes after now. ISO 8601, UTC, in real time."`
}

// ConsoleSession is a browser that is signed in to the console.
type ConsoleSession struct {
	ID        string  `json:"id" doc:"Of the session, also in the request log. It opens nothing." example:"cs_4GQ2BTZ7WQXKJ5UYV6ZJH3M2NA"`
	Role      string  `json:"role" enum:"full,viewer,handset"`
	MSISDN    *string `json:"msisdn" doc:"Of the phone that a handset uses; null for the other roles."`
	CreatedAt string  `json:"createdAt" format:"date-time" doc:"ISO 8601, UTC, in real time."`
	ExpiresAt string  `json:"expiresAt" format:"date-time" doc:"Eight hours later."`
}

// ConsoleSessionList is the answer of GET /v1/console_sessions.
type ConsoleSessionList struct {
	Data []ConsoleSession `json:"data" doc:"Newest first, 200 at most."`
}
