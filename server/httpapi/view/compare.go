package view

import (
	"strings"

	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/webhooks"
)

// ComparisonCauses are the codes of all causes.
var ComparisonCauses = func() (codes []string) {
	for _, cause := range webhooks.DifferenceCauses {
		codes = append(codes, string(cause))
	}
	return append(codes, "fault", "other_secret", "other_signature", "other_timestamp", "stale_timestamp", "secret_unknown",
		"no_secret", "other_key", "other_form")
}()

// The excerpts begin so many bytes before the first one that differs, and have so many bytes.
const (
	excerptBefore = 24
	excerptBytes  = 72
)

// BodyDifferenceOf returns the view of the difference of two bodies.
func BodyDifferenceOf(d *webhooks.Difference, sent, yours []byte) *wire.BodyDifference {
	from := max(0, d.Offset-excerptBefore)
	excerpt := func(text []byte) string {
		return strings.ToValidUTF8(string(text[from:min(len(text), from+excerptBytes)]), "\uFFFD")
	}
	return &wire.BodyDifference{
		Offset: d.Offset, ExcerptOffset: from, SentExcerpt: excerpt(sent), YourExcerpt: excerpt(yours),
		MoreBlanks: d.Blanks, MoreEscapes: d.Escapes, Reordered: d.Reordered, Fields: append([]string{}, d.Fields[:min(len(d.Fields), 100)]...),
	}
}
