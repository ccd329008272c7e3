package mtn

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/cauri-dev/cauri/server/operators/native"
	"github.com/cauri-dev/cauri/server/payments"
)

// balance tells the float of the environment. Under the target sandbox it is told in EUR, one to one.
func balance(ctx context.Context, s native.Sandbox, r *native.Request, t target) (native.Answer, error) {
	currency := t.currency()
	if asked := r.Param("currency"); asked != "" {
		if currency = strings.ToUpper(asked); !t.takes(currency) {
			return native.Answer{}, native.Refuse(wrongCurrency)
		}
	}
	amount, err := s.Balance(ctx, t.Currency)
	return native.Answer{Status: http.StatusOK, Body: struct {
		AvailableBalance string `json:"availableBalance"`
		Currency         string `json:"currency"`
	}{strconv.FormatInt(amount, 10), currency}}, err
}

// holderOf finds who has the number of a path. Only numbers have accounts here.
func holderOf(ctx context.Context, s native.Sandbox, r *native.Request, t target) (native.Holder, error) {
	if !strings.EqualFold(r.Param("type"), "msisdn") {
		return native.Holder{}, native.Refuse(native.NotFound)
	}
	msisdn, err := msisdnFrom(r.Param("holder"))
	if err != nil {
		return native.Holder{}, native.Refuse(native.NotFound)
	}
	holder, err := s.Holder(ctx, t.Environment, msisdn)
	if test, found := holderParties[strings.TrimPrefix(msisdn, testPrefix)]; found && t.sandbox && strings.HasPrefix(msisdn, testPrefix) {
		if holder.Name == "" { // no test client has the number
			return native.Holder{Active: test == ""}, refusedBy(test)
		}
	}
	return holder, err
}

func refusedBy(why native.Why) error {
	if why == "" || why == inactiveHolder {
		return nil
	}
	return native.Refuse(why)
}

func active(ctx context.Context, s native.Sandbox, r *native.Request, t target) (native.Answer, error) {
	holder, err := holderOf(ctx, s, r, t)
	return native.Answer{Status: http.StatusOK, Body: map[string]bool{"result": holder.Active}}, err
}

// basicUserInfo tells who has a number: the name of the test client, and what MTN's own sandbox tells of everybody (o).
func basicUserInfo(ctx context.Context, s native.Sandbox, r *native.Request, t target) (native.Answer, error) {
	holder, err := holderOf(ctx, s, r, t)
	if err != nil {
		return native.Answer{}, err
	}
	given, family := "Sand", "Box"
	if holder.Name != "" {
		given, family, _ = strings.Cut(holder.Name, "-")
	}
	return native.Answer{Status: http.StatusOK, Body: struct {
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

// testParty is what MTN's own sandbox does with one of its test numbers.
type testParty struct {
	status   payments.Status
	behavior payments.Behavior // of one that is pending
	slow     bool
	reason   string // of the failure
}

// number is the party as a number that no SIM has.
func (p testParty) number() *payments.TestNumber {
	n := &payments.TestNumber{Status: p.status, Behavior: p.behavior}
	if p.slow {
		n.Latency = slowParty
	}
	return n
}
