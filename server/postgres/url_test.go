package postgres

import (
	"strings"
	"testing"
)

// A URL that cannot be read is told of without its password, and with what is wrong where that is known.
func TestUnreadableDatabaseURL(t *testing.T) {
	t.Parallel()
	const password = "correct-horse"
	for url, want := range map[string]string{
		"cauri:" + password + "@db:5432/cauri":                                   "cannot be read",
		"postgres://cauri:" + password + "@db:port/cauri":                        "invalid port",
		"postgres://cauri:" + password + "/x@db/cauri":                           "invalid port",
		"postgres://cauri:" + password + "%zz@db/cauri":                          "invalid percent-encoded token",
		"postgres://cauri:" + password + "@db/cauri?sslmode=maybe":               "sslmode is invalid",
		"postgres://cauri:" + password + "@db/cauri?sslrootcert=/nothing/ca.pem": "/nothing/ca.pem",
		"host=db port=x password=" + password:                                    "cannot be read",
	} {
		_, err := Open(url, Options{})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), password) ||
			!strings.Contains(err.Error(), "postgres://user:password@host") {
			t.Errorf("%s: got %v, want %q", url, err, want)
		}
	}
}
