package airtel

import (
	"context"
	"strconv"
	"strings"

	"github.com/cauri-dev/cauri/server/operators/operatorapi"
)

// balance answers with the float of the environment.
func balance(ctx context.Context, s operatorapi.Sandbox, _ *operatorapi.Request, e operatorapi.Environment) (operatorapi.Answer, error) {
	amount, err := s.Balance(ctx, e.Currency)
	return dataAnswer(struct {
		Balance       string `json:"balance"`
		Currency      string `json:"currency"`
		AccountStatus string `json:"account_status"`
	}{withCommas(amount) + ".00", string(e.Currency), "Active"}, okStatus("DP02100000001", "SUCCESS")), err
}

// withCommas returns a number with commas between thousands.
func withCommas(n int64) string {
	text := strconv.FormatInt(n, 10)
	for at := len(text) - 3; at > 0 && text[at-1] != '-'; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}

// holder is the data of an account holder.
type holder struct {
	FirstName    string       `json:"first_name"`
	LastName     string       `json:"last_name"`
	MSISDN       string       `json:"msisdn"`
	Grade        string       `json:"grade"`
	IsBarred     bool         `json:"is_barred"`
	IsPINSet     bool         `json:"is_pin_set"`
	Registration registration `json:"registration"`
}

type registration struct {
	Status string `json:"status"`
}

// user answers with the test client that has a number. If no test client has it, the name is constant.
func user(ctx context.Context, s operatorapi.Sandbox, r *operatorapi.Request, e operatorapi.Environment) (operatorapi.Answer, error) {
	if r.Param("msisdn") == "balance" { // a call of v2, which Cauri does not have
		return operatorapi.Answer{}, operatorapi.Refuse(operatorapi.NoRoute)
	}
	msisdn, err := msisdnOf("msisdn", r.Param("msisdn"), e.Country)
	if err != nil {
		return operatorapi.Answer{}, err
	}
	found, err := s.Holder(ctx, e, msisdn)
	if err != nil {
		err = operatorapi.ExpectFound(err, "msisdn", "the number of a test client of airtel in "+string(e.Country))
		return operatorapi.Answer{}, instead(err, map[operatorapi.Reason]operatorapi.Reason{operatorapi.NotFound: noUser})
	}
	h := holder{Grade: "SUBS", IsBarred: !found.Active, IsPINSet: true, Registration: registration{"SUBS"}}
	h.FirstName, h.LastName = found.Names()
	h.MSISDN = strings.TrimPrefix(msisdn, "+"+e.Country.CallingCode())
	return dataAnswer(h, okStatus("DP02200000001", "SUCCESS")), nil
}
