package console

import (
	"strings"

	"github.com/cauri-dev/cauri/server/payments"
)

// Route is a route of the console, for tests.
type Route struct{ Method, Path, Roles, Does string }

// Routes returns the routes of the console.
func Routes() (all []Route) {
	for _, r := range routes {
		var roles []string
		for _, role := range r.roles {
			roles = append(roles, string(role))
		}
		all = append(all, Route{r.method, r.path, strings.Join(roles, " "), string(r.does)})
	}
	return all
}

// WatchInterval is the interval between checks of the sessions that have a stream.
const WatchInterval = watchInterval

// CodeOf returns the code of the request that made a transaction, by language. uri is the address of the sandbox.
func CodeOf(uri string, t *payments.Transaction) map[string]string {
	all := map[string]string{}
	r := requestOf(nil, t)
	for _, one := range r.inLanguages(uri) {
		all[one.language] = one.text
	}
	return all
}

// ChangeAt returns what a request to a path of the console changes.
func ChangeAt(method, path string) string { return string(changeAt(method, path)) }
