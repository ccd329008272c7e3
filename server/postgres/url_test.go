package postgres

import (
	"context"
	"strings"
	"testing"
	"time"
)

// A URL that cannot be read, or could be read in two ways, is told of without its password, and with what is wrong where that
// is known.
func TestUnreadableDatabaseURL(t *testing.T) {
	t.Parallel()
	const password = "correct-horse"
	for url, want := range map[string]string{
		"cauri:" + password + "@db:5432/cauri":                                   "cannot be read",
		"postgres://cauri:" + password + "@db:port/cauri":                        "invalid port",
		"postgres://cauri:" + password + "/x@db/cauri":                           "not encoded",
		"postgres://cauri:" + password + "%zz@db/cauri":                          "a % that begins no encoded character",
		"postgres://cauri:" + password + "@db/cauri?sslmode=maybe":               "sslmode is invalid",
		"postgres://cauri:" + password + "@db/cauri?sslrootcert=/nothing/ca.pem": "/nothing/ca.pem",
		"postgres://cauri:" + password + "@db/cauri?pool_max_conns=many":         "pool_max_conns",
		"host=db port=x password=" + password:                                    "cannot be read",
	} {
		_, err := Open(url, Options{})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), password) ||
			!strings.Contains(err.Error(), "postgres://user:password@host") {
			t.Errorf("%s: got %v, want %q", url, err, want)
		}
	}
}

// Whatever special characters a password has that nobody encoded, no part of it is in an error, also where pgx would read
// the URL and look for a host that is a part of the password.
func TestPasswordsThatAreNotEncoded(t *testing.T) {
	t.Parallel()
	const part, other = "hunter", "secret"
	for _, between := range []string{
		"@", "/", ":", "?", "#", "%", "@x/w:", "/@", "?a=", "/?b=c&", "[", "]", " ", "`: ", "\"", "@@", "/1:2@", "%zz/", "%40@",
	} {
		for _, url := range []string{
			"postgres://cauri:" + part + between + other + "@127.0.0.1:1/cauri",
			"postgresql://cauri:12" + between + other + between + part + "@127.0.0.1:1/cauri?sslmode=disable",
			"host=127.0.0.1 port=1 user=cauri password=" + part + between + other,
		} {
			d, err := Open(url, Options{})
			if err == nil {
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				err = d.Ping(ctx)
				cancel()
				d.Close()
			}
			_, owner := ownerConfig(url)
			for _, said := range []error{err, owner} {
				if said != nil && (strings.Contains(said.Error(), part) || strings.Contains(said.Error(), other)) {
					t.Errorf("%s: %v", url, said)
				}
			}
		}
	}
}

// A URL whose password is encoded is taken, with everything that may be in one.
func TestReadableDatabaseURL(t *testing.T) {
	t.Parallel()
	for _, url := range []string{
		"postgres://cauri:p%40ss%2Fw%3Ard@db:5432/cauri?sslmode=disable", "postgres://db/cauri", "postgresql:///cauri?host=/run/postgresql",
		"postgres://cauri:pa:ss?word@db/cauri", "postgres://one,two:5433/cauri?user=a@b&password=p@ss", "host=db user=cauri password=p@ss/w:rd",
		"postgres://[::1]:5432/cauri",
	} {
		d, err := Open(url, Options{})
		if err != nil {
			t.Errorf("%s: %v", url, err)
			continue
		}
		d.Close()
	}
}
