// Package rules has the rules of the specification, one file a subject.
package rules

import (
	"slices"

	"github.com/cauri-dev/cauri/test/conformance/suite"
)

// All are the rules of the specification, in the order of the report.
func All() []suite.Rule {
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
