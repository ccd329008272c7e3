package postgres

import (
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgtype"
)

// UUID returns an id as an argument of a statement.
func UUID(id [16]byte) pgtype.UUID { return pgtype.UUID{Bytes: id, Valid: true} }

// Milliseconds returns a duration as an argument of a statement.
func Milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// FromMilliseconds returns the duration that a statement returned.
func FromMilliseconds(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }

// Text returns a text that a column can store. It replaces invalid UTF-8 and zero bytes, which Postgres refuses, by
// U+FFFD.
func Text(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
}

// Optional returns a pointer to a text, and nil for an empty text.
func Optional(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
