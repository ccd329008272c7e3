package console

import (
	"net/url"
	"strings"
	"time"

	"github.com/cauri-dev/cauri/server/english"
	"github.com/cauri-dev/cauri/server/ledger/lists"
	"github.com/cauri-dev/cauri/server/payments"
)

// listing has the filters of a list, from its query.
type listing struct {
	path  string          // of the list
	set   url.Values      // the parameters that filter
	wrong map[string]bool // the parameters whose value cannot be read
}

// filterOf is a parameter of a list whose filter has the type F.
type filterOf[F any] struct {
	name string
	read func(f *F, value string) bool
	// chip is the text of the parameter's chip, with a verb for the value.
	chip english.Text
}

// readListing reads the query of a list into a filter. An empty field filters nothing.
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

// pick is the chip of a filter that is set. without is the address of the list without the filter.
type pick struct{ text, without string }

// with returns the address of the first page of the list, with a parameter set to a value. If the value is empty, it
// removes the parameter.
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

// page returns the address of the page beside an object. The parameter side is the name of the query parameter, "older"
// or "newer". The parameter than is the id of the object.
func (l *listing) page(side, than string) string {
	query, _ := url.ParseQuery(l.set.Encode())
	query.Set(side, than)
	return pathWith(l.path, query)
}

// listReader reads the pages of a list of objects T with ids ID, newest first.
type listReader[T, ID any] struct {
	parse func(string) (ID, error)
	id    func(*T) string
	// after returns the objects that follow an id in the order of the list, which are the older ones. For nil, it returns
	// the first objects. before returns the newer objects, those in front of the id.
	after  func(id *ID, limit int) ([]T, error)
	before func(id ID, limit int) ([]T, error)
}

// listPage is a page of a list.
type listPage[T any] struct {
	rows         []T
	first        bool
	newer, older string // addresses of the pages beside this one; empty: there is none
}

// read returns the page that the query names. The parameter older names the page after an id, and newer the page before
// an id. Without both parameters, or if no more than one page of objects is newer than that id, read returns the first
// page.
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
	rows, newer, older := lists.Page(found, size, after, before)
	switch {
	case newer:
		p.newer = l.page("newer", r.id(&rows[0]))
	case after: // the objects of the page were removed
		p.newer = pathWith(l.path, l.set)
	}
	if older {
		p.older = l.page("older", r.id(&rows[len(rows)-1]))
	}
	p.rows = rows
	return p, nil
}

// pathWith returns a path with a query, if the query is not empty.
func pathWith(path string, query url.Values) string {
	if len(query) == 0 {
		return path
	}
	return path + "?" + query.Encode()
}

// parameter is a parameter of a call of the API.
type parameter struct{ name, value string }

// listCommand returns the curl command for a list of the API. It leaves out parameters without a value.
func listCommand(path string, parameters ...parameter) string {
	text := `curl -sS -G "$CAURI_URI/api` + path + `" -H "Authorization: Bearer $CAURI_API_KEY"`
	for _, p := range parameters {
		if p.value != "" {
			text += " --data-urlencode " + shellQuoted(p.name+"="+p.value)
		}
	}
	return text
}

// timeOf returns a time as the value of a parameter; "" for nil.
func timeOf(at *time.Time) string {
	if at == nil {
		return ""
	}
	return payments.FormatTime(*at)
}

// shellQuoted returns a text quoted as one word for a shell.
func shellQuoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
