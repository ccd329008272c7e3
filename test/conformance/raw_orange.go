package main

func orangeRules() []rule {
	return shape{operator: "orange", payer: orangePayer, blocked: orangeBlocked, payload: orangePayload}.rules()
}

// orangeTexts are the failures that Orange is known to put into these words.
var orangeTexts = map[string]string{
	"INSUFFICIENT_FUNDS": "Le solde du compte du payeur est insuffisant",
	"UNKNOWN_MSISDN":     "Beneficiaire introuvable",
	"ACCOUNT_BLOCKED":    "Utilisateur bloque",
}

func orangePayload(t object) object {
	provider := textOf(t, "providerTxId")
	return changed(orangeOutcome(t), object{
		"subscriber_msisdn": nativeNumber(t),
		"amount":            t["amount"],
		"txnid":             provider,
		"pay_token":         "ORANGE_" + provider,
		"inittxnstatus":     "200",
		"inittxnmessage":    "Ok",
		"order_id":          t["reference"],
	})
}

func orangeOutcome(t object) object {
	switch t["status"] {
	case "SUCCESS":
		return object{"status": "SUCCESSFULL", "confirmtxnstatus": "200", "confirmtxnmessage": "Transaction successfully processed"}
	case "PENDING":
		notYet := nullOr(oneOf(""))
		return object{"status": "PENDING", "confirmtxnstatus": notYet, "confirmtxnmessage": notYet}
	case "TIMEOUT":
		return object{"status": "EXPIRED", "confirmtxnstatus": otherThan("200"), "confirmtxnmessage": anyText}
	}
	message := any(anyText)
	if known, ok := orangeTexts[textOf(t, "status")]; ok {
		message = known
	}
	return object{"status": "FAILED", "confirmtxnstatus": otherThan("200"), "confirmtxnmessage": message}
}
