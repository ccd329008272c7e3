package architecture

// french brings the French pages up to date, as their test says.
var french = []string{"-run=FrenchPages", "./test/architecture", "-args", "-translated"}

// statements writes the Go code of the statements, as `make generate` does.
const statements = "go run ./hack/queries; bin/sqlc generate; go run ./hack/recording; go run ./hack/columns"

var changes = []change{
	{row: "an error of the API", update: [][]string{french}, steps: []step{
		{edits: []edit{
			{"server/service/errors.go", "// ErrFormerNumber is", "// ErrBelowMinimum is returned for an amount that is too small.\ntype ErrBelowMinimum struct{ Minimum int64 }\n\n" +
				"func (e ErrBelowMinimum) Error() string { return \"too little\" }\n\n"},
		}},
		{
			[]edit{{"server/service/refusals.go", "\ttyped(ledger.ErrQuotaExceeded{}", "\ttyped(ErrBelowMinimum{}, \"below_minimum\", Orders, true),\n"}},
			[]string{"-run=Refus|Error", "./server/service"}, "ErrBelowMinimum",
		},
		{
			[]edit{
				{"server/httpapi/errors.go", "\ttyped(view.QuotaExceeded),\n", "\ttyped(func(e service.ErrBelowMinimum) *wire.Error { return view.BelowMinimum(e.Minimum) }),\n"},
				{"server/httpapi/view/refusals.go", "// NoSuchStore is 404", "// BelowMinimum is 422 for an amount that is too small.\nfunc BelowMinimum(minimum int64) *wire.Error {\n" +
					"\treturn &wire.Error{Status: http.StatusUnprocessableEntity, Code: \"below_minimum\", Message: \"Send more.\", " +
					"Detail: map[string]any{\"minimum\": minimum}}\n}\n\n"},
			},
			[]string{"-run=TestEachRefusalIsAnsweredAndDescribed", "./server/httpapi"}, "add its answer to answers",
		},
		{
			[]edit{{"server/httpapi/apidoc/errors.go", "\t{\n\t\t\"The sandbox has used its monthly", "\t{\n\t\t\"The amount is below `detail.minimum`.\",\n\t\tview.BelowMinimum(100),\n\t},\n"}},
			[]string{"-run=TestEachRefusalIsAnsweredAndDescribed", "./server/httpapi"}, "apidoc.ErrorCases does not describe 422 below_minimum",
		},
		{
			[]edit{{"server/advice/instead.go", "\t\"quota_exceeded\":", "\t\"below_minimum\": \"Send more.\",\n"}},
			[]string{"-run=TestGuideHasTheErrors", "./server/httpapi"}, "below_minimum does not say",
		},
		{
			[]edit{{"server/httpapi/apidoc/payouts.go", "\"not_found\", \"env_not_found\", \"duplicate_reference\"", "\"below_minimum\", "}},
			[]string{"-run=TestEachRefusalIsAnsweredAndDescribed", "./server/httpapi"}, "no operation that answers with below_minimum",
		},
		{
			[]edit{{"server/native/refusals.go", "\t\"not_refundable\": ", "\t\"below_minimum\": operatorapi.Invalid,\n"}},
			[]string{"./server/native"}, "below_minimum",
		},
		{
			[]edit{{"docs/api.md", "| 402 | `quota_exceeded`", "| 422 | `below_minimum` | The amount is below `detail.minimum`. | Send more. |\n"}},
			[]string{"-run=TestGuideHasTheErrors", "./server/httpapi"}, "below_minimum",
		},
		{
			[]edit{{"docs/fr/api.md", "| 402 | `quota_exceeded`", "| 422 | `below_minimum` | Le montant est inférieur à `detail.minimum`. | Envoyez plus. |\n"}},
			[]string{"-run=FrenchPages", "./test/architecture"}, "docs/fr/api.md has other errors",
		},
		{
			[]edit{{"server/console/locale/french.go", "\t\"The payer approves.\":", "\t\"Send more.\": \"Envoyez plus.\",\n"}},
			[]string{"-run=Catalog", "./server/console/locale"}, "Send more.",
		},
	}},
	{row: "a test number", update: [][]string{french}, steps: []step{
		{edits: []edit{
			{"server/payments/test_number.go", "}\n\n// TestNumberElsewhere is", "\t{Suffix: \"920\", Status: Pending, Behavior: Approve, Latency: 3 * SlowLatency, Description: \"The payer approves after a minute.\"},\n"},
		}},
		{
			[]edit{{"server/payments/test_number_test.go", "\t\t\"901\": ", "\t\t\"920\": {payments.Pending, payments.Success, payments.Success, 60_000},\n"}},
			[]string{"./server/payments"}, "\"920\"",
		},
		{
			[]edit{{"docs/api.md", "\n- A request may leave out `operator` and `country`. At another", "| `920` | approves after a minute | PENDING, then SUCCESS | SUCCESS |\n"}},
			[]string{"-run=TestNumbers", "./server/operators"}, "920 SUCCESS SUCCESS",
		},
		{
			[]edit{{"docs/fr/api.md", "\n- Une requête peut omettre `operator` et `country`. Chez", "| `920` | valide après une minute | PENDING, puis SUCCESS | SUCCESS |\n"}},
			[]string{"-run=FrenchPages", "./test/architecture"}, "docs/api.md has changed since docs/fr/api.md was translated",
		},
		{
			[]edit{{"server/console/locale/french.go", "\t\"The payer approves.\":", "\t\"The payer approves after a minute.\": \"Le payeur valide après une minute.\",\n"}},
			[]string{"-run=Catalog", "./server/console/locale"}, "The payer approves after a minute.",
		},
		{
			[]edit{
				{"test/conformance/rules/test_numbers.go", "\t\"912\": {\"SUCCESS\"", "\t\"920\": {\"SUCCESS\", \"SUCCESS\"},\n"},
				{"test/conformance/rules/test_numbers.go", "\t\"901\": \"Approve\",", "\t\"920\": \"Approve\",\n"},
			},
			[]string{"./test/conformance/rules"}, "outcomesOfTestNumbers has 920",
		},
	}},
	{row: "a field of a payment", generate: statements, update: [][]string{
		{"-run=TestBodyGolden", "./server/webhooks", "-args", "-update"},
	}, steps: []step{
		{edits: []edit{
			{"server/payments/order.go", "\tScenario     Scenario // empty", "\tNote         *string\n"},
			{"server/httpapi/wire/requests.go", "\tScenario       string ", "\tNote           *string  `json:\"note,omitempty\" doc:\"A note.\"`\n"},
			{"server/httpapi/wire/requests.go", "\tDescription    *string  `json:\"description,omitempty\" maxLength:\"200\" example:\"Weekly",
				"\tNote           *string  `json:\"note,omitempty\" doc:\"A note.\"`\n"},
			{"server/httpapi/wire/payment.go", "\tScenario              *string ", "\tNote                  *string         `json:\"note\" doc:\"As sent.\"`\n"},
			{"server/webhooks/body.go", "\tParentTxID            string ", "\tNote                  *string `json:\"note\"`\n"},
		}},
		{
			[]edit{{"server/postgres/queries/columns.go", "\t{Name: \"env_id\"",
				"\t{Name: \"note\", Field: \"Note\", Kind: OptionalText, Request: true, Each: \"notes\", Marks: \"noted\"},\n"}},
			[]string{"-run=TestEveryFieldOfAnOrderIsRecorded", "./server/service"}, "Note is not recorded",
		},
		{
			[]edit{{"server/postgres/migrations/00001_schema.sql", "  description            text,\n", "  note                   text,\n"}},
			[]string{"-run=TestEveryFieldOfAnOrderIsRecorded", "./server/service"}, `column "note"`,
		},
		{
			[]edit{{"server/postgres/migrations/00001_schema.sql", "order_ref, order_url, parent_id, passthrough,", "note, "}},
			[]string{"-run=TestRolesHaveWhatTheirStatementsNeed", "./server/ledger"}, ", note, ",
		},
		{
			[]edit{
				{"server/httpapi/wire/orders.go", "OrderURL: b.OrderURL, URLProtected:", "Note: b.Note, "},
				{"server/httpapi/wire/orders.go", "OrderURL: b.OrderURL,\n\t\t\tURLProtected:", "Note: b.Note, "},
				{"server/httpapi/wire/orders.go", "Description: t.Description, Scenario:", "Note: t.Note, "},
				{"server/httpapi/wire/orders.go", "Description: t.Description,\n\t}\n\treturn []string{\"order_ref\"", "Note: t.Note, "},
			},
			[]string{"-run=TestEveryFieldOfARequestIsInItsOrder", "./server/httpapi/wire"}, "Order leaves out Note",
		},
		{
			[]edit{{"server/httpapi/view/payment.go", "Description: t.Description, LatencyMs:", "Note: t.Note, "}},
			[]string{"-run=TestEveryFieldOfAPaymentHasAValue", "./server/httpapi/view"}, "PaymentOf leaves out Note",
		},
		{
			[]edit{{"server/webhooks/body.go", "Description: t.Description,\n", "Note: t.Note, "}},
			[]string{"-run=TestBodyGolden|TestEveryFieldOfAnEventHasAValue", "./server/webhooks"}, "Body leaves out note",
		},
		{
			[]edit{{"server/httpapi/apidoc/webhooks.go", "\tParentTxID            string ", "\tNote                  *string         `json:\"note\" doc:\"As sent.\"`\n"}},
			[]string{"-run=TestEventsAreAsDescribed", "./server/httpapi"}, "note",
		},
	}},
	{row: "a column", generate: statements, steps: []step{
		{edits: []edit{{"server/postgres/queries/events.sql", "o.webhook_max_delay_ms, o.secret_fingerprints, o.secret_since,", "o.contact, "}}},
		{
			[]edit{{"server/postgres/migrations/00001_schema.sql", "  webhook_url              text,\n", "  contact                  text,\n"}},
			[]string{"-run=TestRolesHaveWhatTheirStatementsNeed", "./server/ledger"}, `column "contact" does not exist`,
		},
		{
			[]edit{{"server/postgres/migrations/00001_schema.sql", "secret_fingerprints, secret_since, suspended,", "contact, "}},
			[]string{"-run=TestRolesHaveWhatTheirStatementsNeed", "./server/ledger"}, ", contact, ",
		},
	}},
}
