package up

import (
	"fmt"
	"strings"
)

// envFile returns the text of a file of NAME=value lines for shells and other programs. Values that need it are in
// single quotes. Only addresses from the user can need them.
func envFile(entries [][2]string) []byte {
	var text strings.Builder
	for _, entry := range entries {
		fmt.Fprintf(&text, "%s=%s\n", entry[0], shellWord(entry[1]))
	}
	return []byte(text.String())
}

// shellWord quotes a text for a shell if necessary.
func shellWord(text string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:,./@%?"
	if text != "" && strings.Trim(text, plain) == "" {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
