package controllers_test

import "testing"

// Lines that can never be judged are refused, since they cannot be changed later.
func TestExpectationSchema(t *testing.T) {
	const form, order = `must be a number from 0 to 9999, or a range: ">=1", "<=3" or "2..4"`,
		`must be a range from the smaller to the larger number, such as "2..4"`
	lines := func(lines string) string { return "sandboxRef: {name: checkout}\nexpect: [" + lines + "]" }
	count := func(count string) string { return lines("{transactions: {count: " + count + "}}") }
	const field = "spec.expect[0].transactions.count: "
	testSchema(t, "Expectation", map[string]schemaCase{
		"a number":       {spec: count("0")},
		"a text":         {spec: count("'9999'")},
		"at least":       {spec: count("'>=1'")},
		"at most":        {spec: count("'<=3'")},
		"a range":        {spec: count("2..4")},
		"many":           {spec: count("many"), refuse: []string{field + form}},
		"below zero":     {spec: count("-1"), refuse: []string{field + form}},
		"too large":      {spec: count("10000"), refuse: []string{field + form}},
		"backwards":      {spec: count("4..2"), refuse: []string{field + order}},
		"of events":      {spec: lines("{events: {count: many}}"), refuse: []string{"spec.expect[0].events.count: " + form}},
		"nothing else":   {spec: lines("{nothingElse: true}")},
		"twice":          {spec: lines("{nothingElse: true}, {nothingElse: true}"), refuse: []string{"spec.expect: nothingElse must be one line only"}},
		"the same event": {spec: lines("{events: {where: {event: payment.refunded, type: refund}, count: 1}}")},
		"of another event": {spec: lines("{events: {where: {event: payment.refunded, type: collection}, count: 1}}"), refuse: []string{
			"spec.expect[0].events.where.type: must be the type of the transactions that have this event: leave it out"}},
		"no time": {spec: lines("{transactions: {where: {createdAfter: '2026-12-01T00:00:00Z', createdBefore: '2026-12-01T00:00:00Z'}, count: 1}}"),
			refuse: []string{"spec.expect[0].transactions.where.createdBefore: must be later than createdAfter"}},
	})
}
