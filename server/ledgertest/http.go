package ledgertest

import "net/http"

// Every httptest.Server that is closed ends the idle connections of http.DefaultTransport, also those of tests that run
// beside it. net/http takes a connection for idle before it hands over the last answer, so such a test could lose it.
func init() {
	http.DefaultTransport.(*http.Transport).DisableKeepAlives = true
}
