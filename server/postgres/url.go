package postgres

import (
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/cauri-dev/cauri/server/textfile"
)

// inFile begins the name of a file with a database URL, in place of the URL.
const inFile = "file:"

// textOf returns a database URL. It reads the file that is named in its place.
func textOf(url string) (string, error) {
	path, named := strings.CutPrefix(url, inFile)
	if !named {
		return url, nil
	}
	text, err := textfile.Read(path)
	return strings.TrimSpace(string(text)), err
}

// passwordFile is the parameter of a database URL with the name of a file that has the password.
const passwordFile = "password_file"

// takePassword reads the file of passwordFile, if the URL has one. Postgres does not know the parameter.
func takePassword(config *pgx.ConnConfig) error {
	path := config.RuntimeParams[passwordFile]
	if path == "" {
		return nil
	}
	delete(config.RuntimeParams, passwordFile)
	password, err := textfile.Read(path)
	config.Password = strings.TrimRight(string(password), "\r\n")
	return err
}

// connConfig returns the configuration of a connection. It reads all files that the URL names.
func connConfig(url string) (*pgx.ConnConfig, error) {
	text, err := textOf(url)
	if err != nil {
		return nil, err
	}
	config, err := pgx.ParseConfig(text)
	if err = Readable(text, err); err != nil {
		return nil, err
	}
	return config, takePassword(config)
}

// unreadable is the error of a connection whose URL, password or certificate cannot be read.
type unreadable struct{ error }

func (e unreadable) Unwrap() error { return e.error }

// reread returns a function that gives a new connection what its URL says now, so that passwords, users and certificates
// can change while the process runs.
func reread(url string) func(*pgx.ConnConfig) error {
	return func(c *pgx.ConnConfig) error {
		now, err := connConfig(url)
		if err != nil {
			return unreadable{fmt.Errorf("reading the database URL: %w", err)}
		}
		c.Host, c.Port, c.Database, c.User, c.Password = now.Host, now.Port, now.Database, now.User, now.Password
		c.TLSConfig, c.Fallbacks = now.TLSConfig, now.Fallbacks
		return nil
	}
}

// errUnclear is returned for a database URL that pgx would read otherwise than it was meant, so that a part of the password
// would become a host, a port or a name, and appear in errors.
var errUnclear = errors.New("it has an @ behind the part with the user and the password, " +
	"so the password has a special character that is not encoded")

// Readable returns err, the error of pgx for a database URL, without any part of the URL that may be of the password. It
// returns an error also for a URL that pgx could read, if it is not clear what of it is the password. It returns nil for a
// good URL.
func Readable(url string, err error) error {
	const form = "write postgres://user:password@host:5432/name, and what is special in the password encoded (%40 for @, %2F for /, %3A for :)"
	switch {
	case isUnclear(url):
		err = errUnclear
	case err == nil:
		return nil
	default:
		err = errors.New(withoutURL(url, err.Error()))
	}
	return errors.New(err.Error() + ": " + form)
}

// withoutURL returns what pgx says of a URL, without the URL. If the URL could not be read, or is a list of keywords, everything
// that pgx quotes may be of the password.
func withoutURL(url, said string) string {
	said = said[strings.LastIndex(said, "`: ")+1:]
	switch {
	case strings.Contains(said, "percent-encoded"):
		return "it has a % that begins no encoded character"
	case !strings.Contains(url, "://"), !strings.HasPrefix(said, ": "), strings.HasPrefix(said, ": failed to parse as"):
		return "it cannot be read"
	}
	return strings.TrimPrefix(said, ": ")
}

// isUnclear reports whether a URL has an @ behind the one that ends the user and the password, or behind a host without
// them. Names in the query may have one.
func isUnclear(url string) bool {
	scheme, rest, isURL := strings.Cut(url, "://")
	if !isURL || !strings.HasPrefix(scheme, "postgres") {
		return false
	}
	if end := strings.IndexAny(rest, "@/"); end >= 0 && rest[end] == '@' {
		rest = rest[end+1:]
	}
	address, query, _ := strings.Cut(rest, "?")
	for pair := range strings.SplitSeq(query, "&") {
		if name, value, _ := strings.Cut(pair, "="); name == "user" || name == "password" {
			continue
		} else if strings.Contains(name+value, "@") {
			return true
		}
	}
	return strings.Contains(address, "@")
}
