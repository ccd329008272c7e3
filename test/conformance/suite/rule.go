package suite

import (
	"regexp"
	"slices"
)

// Rule is one statement of the specification and its check. It has either a Check or a Look.
type Rule struct {
	ID   string // subject/name
	Text string // the statement, a sentence in words

	// Check checks the rule.
	Check func(*Check)
	// Alone is true if the check measures something that other checks change, such as the merchant's balance. It then
	// runs alone.
	Alone bool

	// Look checks one answer, for rules about answers in general. It gets every answer of the run. The rule holds if
	// all answers pass.
	Look func(Answer) Verdict
}

// Verdict is the result of a look.
type Verdict struct {
	Applies bool
	Problem string
}

// SelectRules returns the rules whose id matches.
func SelectRules(rules []Rule, pattern *regexp.Regexp) []Rule {
	return slices.DeleteFunc(slices.Clone(rules), func(r Rule) bool { return !pattern.MatchString(r.ID) })
}
