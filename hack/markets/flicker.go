package main

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/cauri-dev/cauri/server/payments"
)

// The rules about a fault with statusFlickers: that of the fault, and that of its sandbox.
var (
	flickerRule  = regexp.MustCompile(`(when\.operator in )\[[^\]]*\](",fieldPath="\.when\.operator"),message="[^"]*"\n`)
	flickersRule = regexp.MustCompile(`(e\.operator in )\[[^\]]*\](.*\.statusFlickers.*),message="[^"]*"\n`)
)

// rewriteFlickers replaces the lists of the operators whose status flickers in the rules of a text.
func (t table) rewriteFlickers(text []byte) []byte {
	text = flickerRule.ReplaceAll(text, []byte(t.flickerList("write operator: "+payments.OneOf(t.flickers))))
	return flickersRule.ReplaceAll(text, []byte(t.flickerList("write an environment of "+payments.OneOf(t.flickers))))
}

// flickerList returns the replacement for a list of the operators whose status flickers, with its message. The parameter
// instead is what to write.
func (t table) flickerList(instead string) string {
	list, message := "", "no operator's status flickers: leave statusFlickers out"
	if len(t.flickers) > 0 {
		list = "'" + strings.Join(t.flickers, "', '") + "'"
		message = fmt.Sprintf("only the status of %s flickers: %s, or leave statusFlickers out", payments.AllOf(t.flickers), instead)
	}
	return fmt.Sprintf("${1}[%s]${2},message=%q\n", list, message)
}
