package console

import (
	"net/url"
	"strings"
	"time"

	"github.com/cauri-dev/cauri/server/english"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/payments"
)

// listing is the query of a list: its filters.
type listing struct {
	path  string          // of the list
	set   url.Values      // the parameters that filter
	wrong map[string]bool // the parameters whose value cannot be read
}

// filterOf is a parameter of a list that the type F filters.
type filterOf[F any] struct {
	name string
	read func(f *F, value string) bool
	// chip says what the parameter filters. It has a verb for the value.
	chip english.Text
}

// readListing reads the query of a list into a filter. A field that is left empty filters nothing.
func readListing[F any](path string, fields []filterOf[F], query url.Values, into *F) listing {
	l := listing{path, url.Values{}, map[string]bool{}}
	for _, field := range fields {
		value := strings.TrimSpace(query.Get(field.name))
		if value == "" {
			continue
		}
		l.set.Set(field.name, value)
		if !field.read(into, value) {
			l.wrong[field.name] = true
		}
	}
	return l
}

// pick is a filter that is set, as a chip that removes it.
type pick struct{ text, without string }

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

// page returns the address of the page that is older or newer than an object.
func (l *listing) page(side, than string) string {
	query, _ := url.ParseQuery(l.set.Encode())
	query.Set(side, than)
	return pathWith(l.path, query)
}

// listReader reads the pages of a list of objects T with ids ID, newest first.
type listReader[T, ID any] struct {
	parse func(string) (ID, error)
	id    func(*T) string
	// after reads the objects after an id, from the first one for nil, and before reads those that come before an id.
	after  func(id *ID, limit int) ([]T, error)
	before func(id ID, limit int) ([]T, error)
}

// listPage is a page of a list.
type listPage[T any] struct {
	rows         []T
	first        bool
	newer, older string // addresses of the pages beside it; empty: there is none
}

// read returns the page that a query names by its parameter older or newer, or the first one. A page without a newer one
// is the first page.
func (r listReader[T, ID]) read(l *listing, query url.Values, size int) (p listPage[T], err error) {
	var found []T
	before, after := false, false
	if id, bad := r.parse(query.Get("older")); bad == nil {
		after = true
		found, err = r.after(&id, size+1)
	} else if id, bad := r.parse(query.Get("newer")); bad == nil {
		found, err = r.before(id, size+1)
		before = len(found) > size
	}
	if p.first = !before && !after; p.first && err == nil {
		found, err = r.after(nil, size+1)
	}
	if err != nil {
		return p, err
	}
	rows, newer, older := ledger.Page(found, size, after, before)
	switch {
	case newer:
		p.newer = l.page("newer", r.id(&rows[0]))
	case after: // what was on the page is gone
		p.newer = pathWith(l.path, l.set)
	}
	if older {
		p.older = l.page("older", r.id(&rows[len(rows)-1]))
	}
	p.rows = rows
	return p, nil
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
