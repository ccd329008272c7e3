package httpapi_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"

	"github.com/cauri-dev/cauri/server/fronts"
	"github.com/cauri-dev/cauri/server/payments"
)

// noText are parts of paths that Postgres refuses as a text, after one that is a text.
var noText = []string{"no-such-thing", "%00", "%ff", "a%00b", "TX_%c0%80", "%ed%a0%80"}

var parameter = regexp.MustCompile(`\{[a-z]+\}`)

// A part of a path that is no text names nothing: whoever holds the credentials of a route gets the answer for an unknown id.
func TestPathsThatAreNoText(t *testing.T) {
	f := newFixture(t)
	f.config.API.TestClients = true
	f.config.OpeningFloat = map[payments.Currency]int64{payments.RWF: 5000}
	for _, operator := range payments.Operators {
		f.enable(operator)
	}
	m := f.mtn(key)
	credentials := func(path string) []http.Header {
		switch path, operator := path[strings.Index(path, "/operators/")+1:], ""; {
		case strings.HasPrefix(path, "operators/"):
			operator, path, _ = strings.Cut(strings.TrimPrefix(path, "operators/"), "/")
			switch operator {
			case "mtn":
				basic := http.Request{Header: http.Header{}}
				basic.SetBasicAuth(m.User, m.UserKey)
				product, _, _ := strings.Cut(path, "/")
				bearer := basic.Header.Get("Authorization")
				if !strings.HasPrefix(path, "v1_0/") {
					bearer = m.authorized("/" + product + "/")["Authorization"]
				}
				return []http.Header{{"Ocp-Apim-Subscription-Key": {m.Key}, "Authorization": {bearer}, "X-Target-Environment": {"sandbox"}}}
			case "airtel":
				return []http.Header{{"Authorization": {"Bearer " + f.airtel(key).token()}, "X-Country": {"RW"}, "X-Currency": {"RWF"}}}
			case "orange":
				return []http.Header{{"Authorization": {"Bearer " + f.orange(key).token()}}}
			case "moov":
				return []http.Header{{"Authorization": {f.moov(key).token}}}
			}
		}
		return []http.Header{{"Authorization": {"Bearer " + key}}}
	}
	served := 0
	walk := func(method, pattern string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		if !strings.Contains(strings.TrimPrefix(pattern, "/sandboxes/{namespace}/{name}"), "{") || strings.HasPrefix(pattern, "/sandboxes/") || method == "QUERY" {
			return nil
		}
		for _, place := range parameter.FindAllStringIndex(pattern, -1) {
			unknown := 0 // the status for a text, which is 500 where an operator says so
			for _, part := range noText {
				path := parameter.ReplaceAllString(pattern[:place[0]], url.PathEscape(alice)) + part +
					parameter.ReplaceAllString(pattern[place[1]:], url.PathEscape(alice))
				for _, header := range credentials(pattern) {
					r, err := http.NewRequestWithContext(t.Context(), method, f.url+path, strings.NewReader("{}"))
					if err != nil {
						return err
					}
					r.Header = header
					r.Header.Set("Content-Type", "application/json")
					answer, err := http.DefaultTransport.RoundTrip(r)
					if err != nil {
						return err
					}
					_ = answer.Body.Close()
					if part == noText[0] {
						unknown = answer.StatusCode
					}
					if served++; answer.StatusCode != unknown || answer.StatusCode == http.StatusUnauthorized {
						t.Errorf("%s %s answered %d, and %d for an unknown text", method, path, answer.StatusCode, unknown)
					}
				}
			}
		}
		return nil
	}
	if err := chi.Walk(fronts.New(fronts.Options{}).Routes(), walk); err != nil {
		t.Fatal(err)
	}
	if served < 100 {
		t.Errorf("only %d requests were made", served)
	}
}
