package operatorstest

import (
	"net/http"
	"strconv"
)

// moov is a simple version of Moov's API of Togo (ThirdParty). It accepts any token, because clients make their tokens
// themselves.
var moov = native{
	create: "/Flooz/DebitService/Debit",
	verify: "/Flooz/DebitService/Verify",
	verified: func(v *visit) (string, error) {
		var request moovRequest
		err := v.body(&request)
		return request.MrchRefID, err
	},
	ask:  moovAsk,
	tell: moovTell,

	problem: moovProblem,
}

// moovRequest is a payment, or a question for its state.
type moovRequest struct {
	MSISDN    string `json:"msisdn"`
	MrchRefID string `json:"mrchrefid"`
	Amount    string `json:"amount"`
}

func moovAsk(v *visit) (answer, error) {
	var request moovRequest
	if err := v.body(&request); err != nil {
		return answer{}, err
	}
	amount, _ := strconv.ParseInt(request.Amount, 10, 64)
	if err := checkPayment(request.MrchRefID, amount, "XOF", request.MSISDN); err != nil {
		return answer{}, err
	}
	p, err := v.keep(request.MrchRefID, request)
	return moovSaid("0", "Transaction is being processed", p.NativeID, nil), err
}

func moovTell(_ *visit, p Payment) (answer, error) {
	request, _ := p.request.(moovRequest)
	details := map[string]string{"amount": request.Amount, "mrchreference": request.MrchRefID, "msisdn": request.MSISDN, "referenceid": p.NativeID}
	if p.Answered {
		return moovSaid("0", "Success", p.NativeID, details), nil
	}
	return moovSaid("9", "Pending validation payment found", p.NativeID, details), nil
}

func moovSaid(code, text, id string, details map[string]string) answer {
	said := map[string]any{"status": code, "code": code, "message": text, "description": text, "refid": id, "mrorrefid": id}
	if details != nil {
		said["details"] = details
	}
	return answer{http.StatusOK, said}
}

func moovProblem(p problem) answer {
	codes := map[kind]string{badCredentials: "99", badToken: "99", duplicate: "4"}
	if code := codes[p.kind]; code != "" {
		return moovSaid(code, p.message, "", nil)
	}
	return moovSaid("3", p.message, "", nil)
}
