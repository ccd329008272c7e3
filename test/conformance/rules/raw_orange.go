package rules

import "github.com/cauri-dev/cauri/test/conformance/suite"

func orangeRules() []suite.Rule {
	return shape{operator: "orange", payer: suite.OrangePayer, blocked: suite.OrangeBlocked, payload: orangePayload}.rules()
}

// orangeTexts are the known failure texts of Orange.
var orangeTexts = map[string]string{
	"INSUFFICIENT_FUNDS": "Le solde du compte du payeur est insuffisant",
	"UNKNOWN_MSISDN":     "Beneficiaire introuvable",
	"ACCOUNT_BLOCKED":    "Utilisateur bloque",
}

func orangePayload(t suite.Object) suite.Object {
	provider := suite.TextOf(t, "providerTxId")
	return suite.Changed(orangeOutcome(t), suite.Object{
		"subscriber_msisdn": nativeNumber(t),
		"amount":            t["amount"],
		"txnid":             provider,
		"pay_token":         "ORANGE_" + provider,
		"inittxnstatus":     "200",
		"inittxnmessage":    "Ok",
		"order_id":          t["reference"],
	})
}

func orangeOutcome(t suite.Object) suite.Object {
	switch t["status"] {
	case "SUCCESS":
		return suite.Object{"status": "SUCCESSFULL", "confirmtxnstatus": "200", "confirmtxnmessage": "Transaction successfully processed"}
	case "PENDING":
		notYet := suite.NullOr(suite.OneOf(""))
		return suite.Object{"status": "PENDING", "confirmtxnstatus": notYet, "confirmtxnmessage": notYet}
	case "TIMEOUT":
		return suite.Object{"status": "EXPIRED", "confirmtxnstatus": suite.OtherThan("200"), "confirmtxnmessage": suite.AnyText}
	}
	message := any(suite.AnyText)
	if known, ok := orangeTexts[suite.TextOf(t, "status")]; ok {
		message = known
	}
	return suite.Object{"status": "FAILED", "confirmtxnstatus": suite.OtherThan("200"), "confirmtxnmessage": message}
}
