package architecture

var changes = []change{
	{row: "an error of the API", steps: []step{
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
			[]edit{{"server/httpfront/instead.go", "\t\"quota_exceeded\":", "\t\"below_minimum\": \"Send more.\",\n"}},
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
	{row: "a test number", steps: []step{
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
}
