package rules

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/cauri-dev/cauri/test/conformance/suite"
)

// statuses are all statuses of a transaction.
var statuses = []string{
	"SUCCESS", "PIN_INVALID", "INSUFFICIENT_FUNDS", "TIMEOUT", "ACCOUNT_BLOCKED", "USER_CANCELLED", "UNKNOWN_MSISDN",
	"LIMIT_EXCEEDED", "SERVICE_UNAVAILABLE", "DUPLICATE_REFERENCE", "PENDING",
}

// The forms of ids: letters and digits after the prefix.
const (
	transactionID = `^TX_[0-9A-Za-z]+$`
	environmentID = `^env_[0-9A-Za-z]+$`
	providerID    = `^SIM_[0-9A-Za-z]+$`
	orgID         = `^org_[0-9A-Za-z]+$`
)

// representation has the fields of every transaction, with their types and whether they may be null.
func representation() suite.Object {
	return suite.Object{
		"id":                    suite.Matching(transactionID),
		"amount":                suite.Between(1, suite.LargestAmount),
		"commission":            suite.Between(0, suite.LargestAmount),
		"netAmount":             suite.Between(0, suite.LargestAmount),
		"customerTotal":         suite.Between(0, 2*suite.LargestAmount),
		"merchantAbsorptionPct": suite.Between(0, 100),
		"merchantShare":         suite.Between(0, suite.LargestAmount),
		"customerShare":         suite.Between(0, suite.LargestAmount),
		"commissionMode":        suite.OneOf("merchant", "customer"),
		"currency":              suite.Matching(`^[A-Za-z]{3,4}$`),
		"operator":              suite.OneOf("mtn", "orange", "moov", "airtel", "mpesa"),
		"country":               suite.Matching(`^[A-Z]{2}$`),
		"msisdn":                suite.Matching(`^\+[1-9][0-9]{6,14}$`),
		"reference":             suite.AnyText,
		"description":           suite.NullOr(suite.AnyText),
		"scenario":              suite.NullOr(suite.AnyText),
		"source":                suite.OneOf("api", "native"),
		"status":                suite.OneOf(statuses...),
		"latencyMs":             suite.Between(0, 60_000),
		"createdAt":             suite.Timestamp,
		"completedAt":           suite.NullOr(suite.Timestamp),
		"raw":                   suite.AnyObject,
		"orderRef":              suite.AnyText,
		"orderUrl":              suite.NullOr(suite.AnyText),
		"isUrlProtected":        suite.AnyBoolean,
		"type":                  suite.OneOf("collection", "refund", "disbursement"),
		"parentTxId":            suite.NullOr(suite.Matching(transactionID)),
		"application":           suite.AnyText,
		"environmentId":         suite.Matching(environmentID),
		"providerTxId":          suite.Matching(providerID),
	}
}

// collectionRepresentation is the representation of a collection.
func collectionRepresentation() suite.Object {
	return suite.Changed(representation(), suite.Object{
		"type": "collection", "parentTxId": nil,
		"refundedAmount": suite.Between(0, suite.LargestAmount), "refundableAmount": suite.Between(0, suite.LargestAmount),
	})
}

// payoutRepresentation is the representation of a refund or a disbursement of an amount. It has no commission.
func payoutRepresentation(kind string, amount int64) suite.Object {
	return suite.Changed(representation(), suite.Object{
		"type": kind, "amount": amount, "netAmount": amount, "customerTotal": amount,
		"commission": 0, "merchantShare": 0, "customerShare": 0, "commissionMode": "merchant",
		"scenario": nil, "completedAt": suite.Timestamp,
	})
}

// camelCase is the form of the fields of a representation.
var camelCase = regexp.MustCompile(`^[a-z]+([A-Z][a-z]*)*$`)

// misspelt returns the fields of a representation that are not in camelCase.
func misspelt(o suite.Object) []string {
	var fields []string
	for field := range o {
		if !camelCase.MatchString(field) {
			fields = append(fields, field)
		}
	}
	slices.Sort(fields)
	return fields
}

// isRepresentation reports whether an object represents a transaction, and is not an error or the answer to a
// disbursement.
func isRepresentation(o suite.Object) bool {
	_, hasID := o["id"]
	_, hasTotal := o["customerTotal"]
	_, isPrompt := o["expiresAt"] // of a transaction, but not its representation
	return hasID && hasTotal && !isPrompt
}

// representationsIn returns the transactions in an answer: the object itself, or the items of a list.
func representationsIn(a suite.Answer) []suite.Object {
	o, err := a.Object()
	if err != nil {
		return nil
	}
	if isRepresentation(o) {
		return []suite.Object{o}
	}
	var found []suite.Object
	data, _ := o["data"].([]any)
	for _, item := range data {
		if item, ok := item.(suite.Object); ok && isRepresentation(item) {
			found = append(found, item)
		}
	}
	return found
}

// sumsProblem returns what does not add up in a transaction's amounts.
func sumsProblem(o suite.Object) string {
	n := map[string]int64{}
	for _, field := range []string{"amount", "commission", "netAmount", "customerTotal", "merchantShare", "customerShare"} {
		value, ok := suite.IntegerOf(o[field])
		if !ok {
			return fmt.Sprintf("%s of %v is %s, want an integer", field, o["id"], suite.Show(o[field], true))
		}
		n[field] = value
	}
	switch {
	case n["customerTotal"] != n["netAmount"]+n["commission"]:
		return fmt.Sprintf(
			"%v: customerTotal %d is not netAmount %d + commission %d",
			o["id"],
			n["customerTotal"],
			n["netAmount"],
			n["commission"],
		)
	case n["merchantShare"] != n["amount"]-n["netAmount"]:
		return fmt.Sprintf("%v: merchantShare %d is not amount %d - netAmount %d", o["id"], n["merchantShare"], n["amount"], n["netAmount"])
	case n["customerShare"] != n["commission"]-n["merchantShare"]:
		return fmt.Sprintf(
			"%v: customerShare %d is not commission %d - merchantShare %d",
			o["id"],
			n["customerShare"],
			n["commission"],
			n["merchantShare"],
		)
	}
	return ""
}
