package cli

import "strings"

// EnvLine returns a line NAME=value of a file that shells read too, and with them `set -a; . FILE`. A value that needs
// it is in single quotes.
func EnvLine(name, value string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:,./@%"
	if value == "" || strings.Trim(value, plain) != "" {
		value = "'" + strings.ReplaceAll(value, "'", `'\''`) + "'"
	}
	return name + "=" + value + "\n"
}

// unquoted returns a value without the quotes of [EnvLine], or without double quotes.
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
