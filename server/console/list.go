package console

import (
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/cauri-dev/cauri/server/payments"
)

// listing is the query of a list: its filters.
type listing struct {
	path  string          // of the list
	set   url.Values      // the parameters that filter
	wrong map[string]bool // the parameters whose value cannot be read
}

// pick is a filter that is set, as a chip that removes it.
type pick struct{ text, without string }

// mostPagesBack is how many pages the button "Newer" goes back; the first page follows then.
const mostPagesBack = 20

// with returns the address of the list with a parameter set to a value; without it if the value is empty. The list
// begins with its first page.
func (l *listing) with(name, value string) string {
	query := url.Values{}
	for each, values := range l.set {
		query[each] = values
	}
	if query.Set(name, value); value == "" {
		query.Del(name)
	}
	return pathWith(l.path, query)
}

// page returns the address of a page of the list. The last of the ids is the element before the page; the ones before
// it lead back.
func (l *listing) page(ids []string) string {
	query, _ := url.ParseQuery(l.set.Encode())
	if last := len(ids) - 1; last >= 0 {
		query.Set("from", ids[last])
		if before := ids[max(0, last-mostPagesBack):last]; len(before) > 0 {
			query["back"] = slices.Clone(before)
		}
	}
	return pathWith(l.path, query)
}

// pathWith returns a path with a query.
func pathWith(path string, query url.Values) string {
	if len(query) == 0 {
		return path
	}
	return path + "?" + query.Encode()
}

// parameter is a parameter of a call of the API.
type parameter struct{ name, value string }

// listCommand returns the command that lists by the API. It leaves out parameters without a value.
func listCommand(path string, parameters ...parameter) string {
	text := `curl -sS -G "$CAURI_URI/api` + path + `" -H "Authorization: Bearer $CAURI_API_KEY"`
	for _, p := range parameters {
		if p.value != "" {
			text += " --data-urlencode " + shellQuoted(p.name+"="+p.value)
		}
	}
	return text
}

// timeOf returns a time as a parameter; empty for nil.
func timeOf(at *time.Time) string {
	if at == nil {
		return ""
	}
	return payments.FormatTime(*at)
}

// shellQuoted returns a text as one word of a shell.
func shellQuoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
