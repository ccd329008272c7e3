package main

import (
	"fmt"
	"regexp"
	"slices"
)

// statuses are all that a transaction can have.
var statuses = []string{
	"SUCCESS", "PIN_INVALID", "INSUFFICIENT_FUNDS", "TIMEOUT", "ACCOUNT_BLOCKED", "USER_CANCELLED", "UNKNOWN_MSISDN",
	"LIMIT_EXCEEDED", "SERVICE_UNAVAILABLE", "DUPLICATE_REFERENCE", "PENDING",
}

// Forms of ids: letters and digits behind the prefix.
const (
	transactionID = `^TX_[0-9A-Za-z]+$`
	environmentID = `^env_[0-9A-Za-z]+$`
	providerID    = `^SIM_[0-9A-Za-z]+$`
	orgID         = `^org_[0-9A-Za-z]+$`
)

// representation is what every transaction looks like: each field with its type, and whether it may be null.
func representation() object {
	return object{
		"id":                    matching(transactionID),
		"amount":                between(1, largestAmount),
		"commission":            between(0, largestAmount),
		"netAmount":             between(0, largestAmount),
		"customerTotal":         between(0, 2*largestAmount),
		"merchantAbsorptionPct": between(0, 100),
		"merchantShare":         between(0, largestAmount),
		"customerShare":         between(0, largestAmount),
		"commissionMode":        oneOf("merchant", "customer"),
		"currency":              matching(`^[A-Za-z]{3,4}$`),
		"operator":              oneOf("mtn", "orange", "moov", "airtel"),
		"country":               matching(`^[A-Z]{2}$`),
		"msisdn":                matching(`^\+[1-9][0-9]{6,14}$`),
		"reference":             anyText,
		"description":           nullOr(anyText),
		"scenario":              nullOr(anyText),
		"status":                oneOf(statuses...),
		"latencyMs":             between(0, 60_000),
		"createdAt":             timestamp,
		"completedAt":           nullOr(timestamp),
		"raw":                   anyObject,
		"orderRef":              anyText,
		"orderUrl":              nullOr(anyText),
		"isUrlProtected":        anyBoolean,
		"type":                  oneOf("collection", "refund", "disbursement"),
		"parentTxId":            nullOr(matching(transactionID)),
		"application":           anyText,
		"environmentId":         matching(environmentID),
		"providerTxId":          matching(providerID),
	}
}

// collectionRepresentation is what a collection looks like.
func collectionRepresentation() object {
	return changed(representation(), object{
		"type": "collection", "parentTxId": nil,
		"refundedAmount": between(0, largestAmount), "refundableAmount": between(0, largestAmount),
	})
}

// payoutRepresentation is what a refund or a disbursement of an amount looks like: nobody pays a commission on it.
func payoutRepresentation(kind string, amount int64) object {
	return changed(representation(), object{
		"type": kind, "amount": amount, "netAmount": amount, "customerTotal": amount,
		"commission": 0, "merchantShare": 0, "customerShare": 0, "commissionMode": "merchant",
		"scenario": nil, "completedAt": timestamp,
	})
}

// camelCase is how the fields of a representation are written.
var camelCase = regexp.MustCompile(`^[a-z]+([A-Z][a-z]*)*$`)

// misspelt returns the fields of a representation that are not in camelCase.
func misspelt(o object) []string {
	var fields []string
	for field := range o {
		if !camelCase.MatchString(field) {
			fields = append(fields, field)
		}
	}
	slices.Sort(fields)
	return fields
}

// isRepresentation tells whether an object is that of a transaction and not an error or a disbursement's answer.
func isRepresentation(o object) bool {
	_, hasID := o["id"]
	_, hasTotal := o["customerTotal"]
	_, isPrompt := o["expiresAt"] // of a transaction, but not its representation
	return hasID && hasTotal && !isPrompt
}

// representationsIn returns the transactions in an answer: the object itself, or the items of a list.
func representationsIn(a answer) []object {
	o, err := a.object()
	if err != nil {
		return nil
	}
	if isRepresentation(o) {
		return []object{o}
	}
	var found []object
	data, _ := o["data"].([]any)
	for _, item := range data {
		if item, ok := item.(object); ok && isRepresentation(item) {
			found = append(found, item)
		}
	}
	return found
}

// sumsProblem returns what does not add up in a transaction's amounts.
func sumsProblem(o object) string {
	n := map[string]int64{}
	for _, field := range []string{"amount", "commission", "netAmount", "customerTotal", "merchantShare", "customerShare"} {
		value, ok := integerOf(o[field])
		if !ok {
			return fmt.Sprintf("%s of %v is %s, want an integer", field, o["id"], show(o[field], true))
		}
		n[field] = value
	}
	switch {
	case n["customerTotal"] != n["netAmount"]+n["commission"]:
		return fmt.Sprintf("%v: customerTotal %d is not netAmount %d + commission %d", o["id"], n["customerTotal"], n["netAmount"], n["commission"])
	case n["merchantShare"] != n["amount"]-n["netAmount"]:
		return fmt.Sprintf("%v: merchantShare %d is not amount %d - netAmount %d", o["id"], n["merchantShare"], n["amount"], n["netAmount"])
	case n["customerShare"] != n["commission"]-n["merchantShare"]:
		return fmt.Sprintf("%v: customerShare %d is not commission %d - merchantShare %d", o["id"], n["customerShare"], n["commission"], n["merchantShare"])
	}
	return ""
}
