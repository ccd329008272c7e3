package postgres

import (
	"errors"
	"strings"
)

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
