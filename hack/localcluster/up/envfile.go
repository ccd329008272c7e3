package up

import (
	"fmt"
	"strings"
)

// envFile is the text of a file that shells source and other programs read line by line: NAME=value. A value that a shell
// would take apart stands in single quotes; those made here never need them, addresses given from outside may.
func envFile(entries [][2]string) []byte {
	var text strings.Builder
	for _, entry := range entries {
		fmt.Fprintf(&text, "%s=%s\n", entry[0], shellWord(entry[1]))
	}
	return []byte(text.String())
}

// shellWord quotes a text for a shell, if it needs to be.
func shellWord(text string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:,./@%?"
	if text != "" && strings.Trim(text, plain) == "" {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
