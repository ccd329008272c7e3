package console

import "strings"

// Route is a route of the console, for tests.
type Route struct{ Method, Path, Roles, Does string }

// Routes are the routes of the console.
func Routes() (all []Route) {
	for _, r := range routes {
		var roles []string
		for _, role := range r.roles {
			roles = append(roles, string(role))
		}
		all = append(all, Route{r.method, r.path, strings.Join(roles, " "), r.does})
	}
	return all
}

// WatchInterval is how often the sessions that have a stream are checked.
const WatchInterval = watchInterval
