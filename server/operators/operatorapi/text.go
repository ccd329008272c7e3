package operatorapi

import (
	"net/http"
	"strings"
	"unicode/utf8"
)

// IsText reports whether a text can be stored: it is UTF-8 without NUL, and has at most the given number of characters.
func IsText(text string, most int) bool {
	return utf8.ValidString(text) && utf8.RuneCountInString(text) <= most && !strings.ContainsRune(text, 0)
}

// Cut returns the beginning of a text, with at most the given number of characters.
func Cut(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most])
	}
	return text
}

// IsTo reports whether the path of a request ends with a path of an API, also with the slashes and spaces that clients add.
func IsTo(r *http.Request, path string) bool {
	parts := strings.FieldsFunc(strings.TrimRight(r.URL.Path, "/ "), func(c rune) bool { return c == '/' })
	return strings.HasSuffix("/"+strings.Join(parts, "/"), path)
}

// Names returns the first and the last name of a holder, which are constant if the name is unknown. The last name is empty
// if the holder has only one.
func (h Holder) Names() (first, last string) {
	if h.Name == "" {
		return "Sand", "Box"
	}
	first, last, _ = strings.Cut(h.Name, "-")
	return first, last
}
