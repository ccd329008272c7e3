package decode

import (
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"

	"github.com/cauri-dev/cauri/server/httpapi/wire"
)

const (
	// maxIgnored is the maximum number of names in the header with the ignored names.
	maxIgnored = 10
	// maxIgnoredName is the maximum length of a name there, in bytes before it is encoded.
	maxIgnoredName = 40
	// longestName is the maximum length of a name that may be another spelling of a known one, in bytes.
	longestName = 64
)

// noteIgnored names the unknown fields or parameters of a request in a header of its answer. The names are
// percent-encoded, because a client chose them.
func noteIgnored(header http.Header, names []string) {
	names = slices.DeleteFunc(names, func(name string) bool { return name == "" })
	if len(names) == 0 {
		return
	}
	slices.Sort(names)
	shown := make([]string, 0, maxIgnored+1)
	for _, name := range names[:min(len(names), maxIgnored)] {
		shown = append(shown, url.PathEscape(name[:min(len(name), maxIgnoredName)]))
	}
	if len(names) > maxIgnored {
		shown = append(shown, "...")
	}
	header.Set(wire.IgnoredHeader, strings.Join(shown, ", "))
}

// spelling returns what all spellings of a name have in common, as orderRef, order-ref and ORDER_REF do: its letters in
// lower case, and its digits. It returns "" for a name that is too long to be one of ours.
func spelling(name string) string {
	if len(name) > longestName {
		return ""
	}
	return strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', '0' <= r && r <= '9':
			return r
		case 'A' <= r && r <= 'Z':
			return r - 'A' + 'a'
		}
		return -1
	}, name)
}

// sameSpelling returns the known name of which an unknown one is another spelling; "" for none.
func sameSpelling(name string, known []string) string {
	asked := spelling(name)
	if i := slices.IndexFunc(known, func(k string) bool { return asked != "" && spelling(k) == asked }); i >= 0 {
		return known[i]
	}
	return ""
}

// nearest returns the known name from which an unknown one differs by the fewest letters, by two at most; "" for none.
func nearest(name string, known []string) (found string) {
	best := 3
	for _, k := range known {
		if n := lettersBetween(name, k, best); n < best {
			found, best = k, n
		}
	}
	return found
}

// lettersBetween returns how many letters have to be added, left out or replaced to get from one name to the other (the
// Levenshtein distance), or most if that is less.
func lettersBetween(a, b string, most int) int {
	if max(len(a)-len(b), len(b)-len(a)) >= most {
		return most
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, diagonal+1)
		}
	}
	return min(row[len(b)], most)
}

// answerFields returns the names of the fields of a list, and of the rows in its field data.
func answerFields(list reflect.Type) (names []string) {
	for _, f := range reflect.VisibleFields(list) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" || name == "-" {
			continue
		}
		names = append(names, name)
		if name == "data" && f.Type.Kind() == reflect.Slice {
			names = append(names, answerFields(f.Type.Elem())...)
		}
	}
	return names
}
