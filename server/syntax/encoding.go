// Package syntax says why the body of a request cannot be read: what it is instead, or where it stops being what it should
// be. Each result is a clause about the body, "it", without a period. It repeats at most one character of the body, since
// the rest may be a secret.
package syntax

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"
)

// beginnings are the first bytes of texts that are not plain UTF-8. The first that fits is meant.
var beginnings = []struct{ bytes, says string }{
	{"\x1f\x8b", "it is compressed with gzip"},
	{"\x28\xb5\x2f\xfd", "it is compressed with zstd"},
	{"\x78\x01", "it is compressed with deflate"},
	{"\x78\x9c", "it is compressed with deflate"},
	{"\x78\xda", "it is compressed with deflate"},
	{"\xff\xfe", "it is UTF-16"},
	{"\xfe\xff", "it is UTF-16"},
	{"\xef\xbb\xbf", "it begins with a byte order mark"},
}

// Encoding returns what is wrong with the encoding of a body that has this header Content-Encoding; "" for nothing.
func Encoding(body []byte, contentEncoding string) string {
	coding := strings.TrimSpace(contentEncoding)
	if len(body) > 0 && coding != "" && !strings.EqualFold(coding, "identity") {
		return fmt.Sprintf("its header Content-Encoding is %.20q: send it uncompressed, and leave the header out", coding)
	}
	if plain := len(body) > 1 && body[0] == '{' && body[1] != 0; plain && utf8.Valid(body) {
		return "" // nearly every body
	}
	for _, b := range beginnings {
		if bytes.HasPrefix(body, []byte(b.bytes)) {
			return fmt.Sprintf("%s (its first bytes are % x): %s", b.says, body[:min(len(body), 4)], insteadOf(b.says))
		}
	}
	if utf16 := len(body) >= 4 && (body[0] == 0) != (body[1] == 0) && (body[2] == 0) != (body[3] == 0); utf16 {
		return fmt.Sprintf("it is UTF-16 (its first bytes are % x): %s", body[:4], insteadOf("it is UTF-16"))
	}
	if utf8.Valid(body) {
		return ""
	}
	at := 0
	for size := 0; at < len(body); at += size {
		var r rune
		if r, size = utf8.DecodeRune(body[at:]); r == utf8.RuneError && size <= 1 {
			break
		}
	}
	return fmt.Sprintf("it is not UTF-8: %s is %x, as in ISO-8859-1 or Windows-1252. Send it as UTF-8", positionOf(body, at), body[at])
}

func insteadOf(says string) string {
	switch {
	case strings.HasPrefix(says, "it is compressed"):
		return "send it uncompressed"
	case strings.HasPrefix(says, "it begins"):
		return "send it without"
	}
	return "send it as UTF-8"
}

// positionOf says where a byte of a text is: its line, its column in characters, and its number, all from 1.
func positionOf(text []byte, at int) string {
	before := text[:at]
	line := 1 + bytes.Count(before, []byte("\n"))
	column := 1 + utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:])
	return fmt.Sprintf("line %d, column %d (byte %d)", line, column, at+1)
}
