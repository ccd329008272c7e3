package main

import (
	"regexp"
	"slices"
)

// rule is one statement of the specification, with the way to find out whether it holds. It has either a check or a look.
type rule struct {
	id   string // subject/name
	text string // the statement, a sentence in words

	// check tries the rule.
	check func(*check)
	// alone is set where the check measures what other checks change, the merchant's balance for instance: it runs when
	// nothing else does.
	alone bool

	// look judges one answer, if the rule speaks of such answers: it gets every answer of the whole run, and the rule holds
	// if none of them breaks it.
	look func(answer) verdict
}

// verdict is what a look finds.
type verdict struct {
	applies bool
	problem string
}

// allRules are the rules of the specification, in the order of the report.
func allRules() []rule {
	return slices.Concat(
		pathRules(),
		authRules(),
		metaRules(),
		headerRules(),
		paymentRules(),
		detectionRules(),
		amountRules(),
		scenarioRules(),
		registryRules(),
		idempotencyRules(),
		retrieveRules(),
		listRules(),
		cursorRules(),
		refundRules(),
		refundRefusalRules(),
		disbursementRules(),
		moneyRules(),
		floatRules(),
		inputRules(),
		bodyRules(),
		mtnRules(),
		airtelRules(),
		orangeRules(),
		moovRules(),
		eventRules(),
		deliveryRules(),
		seenEventRules(),
		payerRules(),
		everywhereRules(),
	)
}

// selectRules returns the rules whose id matches.
func selectRules(rules []rule, pattern *regexp.Regexp) []rule {
	return slices.DeleteFunc(slices.Clone(rules), func(r rule) bool { return !pattern.MatchString(r.id) })
}
