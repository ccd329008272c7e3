// Package rules has the rules of the specification, one file for each subject.
package rules

import (
	"slices"

	"github.com/cauri-dev/cauri/test/conformance/suite"
)

// All are the rules of the specification, in report order.
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
		ledgerRules(),
		floatRules(),
		inputRules(),
		bodyRules(),
		mtnRules(),
		airtelRules(),
		mpesaRules(),
		orangeRules(),
		moovRules(),
		eventRules(),
		deliveryRules(),
		seenEventRules(),
		payerRules(),
		testNumberRules(),
		faultRules(),
		clockRules(),
		registryChangeRules(),
		seedRules(),
		requestRules(),
		streamRules(),
		expectationRules(),
		receiverCheckRules(),
		nativeRules(),
		everywhereRules(),
	)
}
