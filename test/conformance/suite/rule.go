package suite

import (
	"regexp"
	"slices"
)

// Rule is one statement of the specification, with the way to find out whether it holds. It has either a check or a look.
type Rule struct {
	ID   string // subject/name
	Text string // the statement, a sentence in words

	// Check tries the rule.
	Check func(*Check)
	// Alone is set where the check measures what other checks change, the merchant's balance for instance: it runs when
	// nothing else does.
	Alone bool

	// Look judges one answer, if the rule speaks of such answers: it gets every answer of the whole run, and the rule holds
	// if none of them breaks it.
	Look func(Answer) Verdict
}

// Verdict is what a look finds.
type Verdict struct {
	Applies bool
	Problem string
}

// SelectRules returns the rules whose id matches.
func SelectRules(rules []Rule, pattern *regexp.Regexp) []Rule {
	return slices.DeleteFunc(slices.Clone(rules), func(r Rule) bool { return !pattern.MatchString(r.ID) })
}
