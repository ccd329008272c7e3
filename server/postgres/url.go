package postgres

import (
	"errors"
	"regexp"
	"strings"
)

// word is a part of a text that a password may be made of.
var word = regexp.MustCompile(`[\pL\pN_-]{2,}`)

// unreadable is the error for a database URL that cannot be read. pgx's own shows the URL, and leaves out the password only where it finds
// it: not in a URL without a scheme, or with a password that was not encoded. What it says behind the URL is kept where it has nothing
// of what may be the password.
func unreadable(url string, err error) error {
	const form = "write postgres://user:password@host:5432/name, and what is special in the password encoded (%40 for @)"
	said := err.Error()
	said = said[strings.LastIndex(said, "`: ")+1:]
	at := strings.LastIndex(url, "@")
	if _, rest, found := strings.Cut(url[:max(at, 0)], "postgres"); !found || strings.Contains(url, "password=") || mentions(said, rest) {
		return errors.New("it cannot be read: " + form)
	}
	return errors.New(strings.TrimPrefix(said, ": ") + "; " + form)
}

// mentions reports whether a text contains a word of a secret.
func mentions(text, secret string) bool {
	for _, part := range word.FindAllString(secret, -1) {
		if strings.Contains(text, part) {
			return true
		}
	}
	return strings.Contains(text, "`")
}
