package assets

import (
	"embed"
	"regexp"
	"strings"
)

const (
	// PageAddress stands in examples for the address at which a page is opened.
	PageAddress = "https://cauri.example"
	// PostedName and PostedValue stand in a [Posting] for a field of its body.
	PostedName, PostedValue = "posted_name", "posted value"
)

// postings are requests in several languages. `make generate` renders them (hack/apipage).
//
//go:embed posting
var postings embed.FS

// Posting returns a request in a language, such as php, that posts JSON to [PageAddress] with the key of a sandbox. One line
// of it has [PostedName] and, in quotes, [PostedValue].
func Posting(language string) string {
	text, err := postings.ReadFile("posting/" + language + ".txt")
	if err != nil {
		panic(err) // each language has an embedded file
	}
	return strings.TrimSpace(string(text))
}

// plainAddress matches the addresses that an example can have in its quotes.
var plainAddress = regexp.MustCompile(`^https?://[A-Za-z0-9.:\[\]-]+(/[A-Za-z0-9._-]+)*$`)

// Shown returns an address as examples have it: [PageAddress] if it has characters that mean something to a shell or a
// language.
func Shown(address string) string {
	if plainAddress.MatchString(address) {
		return address
	}
	return PageAddress
}
