package mtn

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/cauri-dev/cauri/server/operators/operatorapi"
)

// balance answers with the float of the environment. For the target environment sandbox, the amount is the same but the
// currency is EUR.
func balance(ctx context.Context, s operatorapi.Sandbox, r *operatorapi.Request, t target) (operatorapi.Answer, error) {
	currency := t.currency()
	if asked := r.Param("currency"); asked != "" {
		if currency = strings.ToUpper(asked); !t.takes(currency) {
			return operatorapi.Answer{}, t.refuseCurrency("currency")
		}
	}
	amount, err := s.Balance(ctx, t.Currency)
	return operatorapi.Answer{Status: http.StatusOK, Body: struct {
		AvailableBalance string `json:"availableBalance"`
		Currency         string `json:"currency"`
	}{strconv.FormatInt(amount, 10), currency}}, err
}

// holderOf returns the account holder that a path names. In Cauri, only numbers have accounts.
func holderOf(ctx context.Context, s operatorapi.Sandbox, r *operatorapi.Request, t target) (holder operatorapi.Holder, err error) {
	kind, name := strings.ToLower(r.Param("type")), strings.ToLower(r.Param("holder"))
	err = operatorapi.Refuse(operatorapi.NotFound)
	if msisdn, ok := msisdnFrom(name, t.Country); ok && kind == "msisdn" {
		holder, err = s.Holder(ctx, t.Environment, msisdn)
		name = strings.TrimPrefix(msisdn, "+")
	}
	err = operatorapi.ExpectFound(err, "holder", "the number of a test client of mtn in "+string(t.Country))
	cause, isTest := holderParties[kind+"/"+name]
	if !isTest || !t.sandbox || holder.Name != "" { // a holder with a name is a test client
		return holder, err
	}
	if cause == inactiveHolder {
		return operatorapi.Holder{}, nil
	}
	return operatorapi.Holder{}, operatorapi.Refuse(cause)
}

func active(ctx context.Context, s operatorapi.Sandbox, r *operatorapi.Request, t target) (operatorapi.Answer, error) {
	holder, err := holderOf(ctx, s, r, t)
	return operatorapi.Answer{Status: http.StatusOK, Body: map[string]bool{"result": holder.Active}}, err
}

// basicUserInfo answers with the name of the test client that has a number. The other fields are constant, as in MTN's
// own sandbox (Documented).
func basicUserInfo(ctx context.Context, s operatorapi.Sandbox, r *operatorapi.Request, t target) (operatorapi.Answer, error) {
	holder, err := holderOf(ctx, s, r, t)
	if err != nil {
		return operatorapi.Answer{}, err
	}
	given, family := holder.Names()
	return operatorapi.Answer{Status: http.StatusOK, Body: struct {
		Sub        string `json:"sub"`
		Name       string `json:"name"`
		GivenName  string `json:"given_name"`
		FamilyName string `json:"family_name"`
		Birthdate  string `json:"birthdate"`
		Locale     string `json:"locale"`
		Gender     string `json:"gender"`
		UpdatedAt  int64  `json:"updated_at"`
	}{"0", strings.TrimSpace(given + " " + family), given, family, "1976-08-13", "sv_SE", "MALE", 1678355127}}, nil
}
