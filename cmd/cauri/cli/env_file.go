package cli

import "strings"

// EnvLine returns a line NAME=value of an environment file. A value is in single quotes if necessary, so that a shell
// can read the file with `set -a; . FILE`.
func EnvLine(name, value string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:,./@%"
	if value == "" || strings.Trim(value, plain) != "" {
		value = "'" + strings.ReplaceAll(value, "'", `'\''`) + "'"
	}
	return name + "=" + value + "\n"
}

// unquoted removes the quotes of [EnvLine] or double quotes from a value.
func unquoted(value string) string {
	if n := len(value); n > 1 && value[0] == value[n-1] {
		switch value[0] {
		case '\'':
			return strings.ReplaceAll(value[1:n-1], `'\''`, "'")
		case '"':
			return value[1 : n-1]
		}
	}
	return value
}
