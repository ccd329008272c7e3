package httpapi_test

import (
	"testing"
	"time"

	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// A store that names another sandbox as its operator is served as by an operator: the client of the operator's API and the API that the
// other sandbox serves prove each other. What ended in one ended in the other, with the same effect on both floats.
func TestForwardingToTheAPIOfAnotherSandbox(t *testing.T) {
	for operator, access := range map[payments.Operator]func(operatorapi.Credentials) sandboxes.OperatorCredentials{
		payments.MTN: func(c operatorapi.Credentials) sandboxes.OperatorCredentials {
			return sandboxes.OperatorCredentials{ClientID: c.User, ClientSecret: c.UserKey, SubscriptionKey: c.Key}
		},
		payments.Airtel: func(c operatorapi.Credentials) sandboxes.OperatorCredentials {
			return sandboxes.OperatorCredentials{ClientID: c.User, ClientSecret: c.UserKey}
		},
	} {
		t.Run(string(operator), func(t *testing.T) {
			forwardToAnother(t, operator, payments.Rwanda, "+25073000000", access(operators.NativeAPI(operator).Derive(otherKey)))
		})
	}
	c := operators.NativeAPI(payments.Moov).Derive(otherKey)
	credentials := sandboxes.OperatorCredentials{ClientID: c.User, ClientSecret: c.UserKey}
	for country, numbers := range map[payments.Country]string{payments.Benin: "+229019500001", payments.Togo: "+2287900001"} {
		t.Run("moov "+string(country), func(t *testing.T) { forwardToAnother(t, payments.Moov, country, numbers, credentials) })
	}
}

// forwardToAnother forwards payments of numbers with these digits, and one more.
func forwardToAnother(
	t *testing.T, operator payments.Operator, country payments.Country, numbers string, credentials sandboxes.OperatorCredentials,
) {
	f := newFixture(t)
	f.enable(operator)
	other := f.config
	other.UID, other.Name = "22222222-2222-2222-2222-222222222222", "other"
	f.sandbox(other, otherKey)
	for name, c := range map[string]sandboxes.TestClientConfig{
		"rich":    {MSISDN: numbers + "1", Balance: 50_000},
		"poor":    {MSISDN: numbers + "2", Balance: 10},
		"blocked": {MSISDN: numbers + "3", Balance: 50_000, Blocked: true},
		"wary":    {MSISDN: numbers + "4", Balance: 50_000, Behavior: payments.Cancel},
	} {
		c.UID, c.Name, c.Operator, c.Country = "22222222-2222-2222-2222-"+("000000000000" + c.MSISDN[1:])[len(c.MSISDN)-1:], name, operator, country
		if c.Behavior == "" {
			c.Behavior = payments.Approve
		}
		if _, err := f.store.ApplyTestClient(t.Context(), other.UID, c); err != nil {
			t.Fatal(err)
		}
	}
	for i := range f.config.Environments {
		f.config.Environments[i].UnknownPolicy = payments.Passthrough
	}
	f.config.Operators = []sandboxes.OperatorAccess{{
		Store: "shop", Operator: operator, Country: country, Credentials: &credentials,
		BaseURL: f.url + "/sandboxes/team/other/operators/" + string(operator),
	}}
	f.sandbox(f.config, key)
	f.follow()
	f.runWorker()

	currency, _ := country.Currency()
	for number, want := range map[string]string{
		numbers + "1": "SUCCESS", numbers + "2": "INSUFFICIENT_FUNDS", numbers + "3": "ACCOUNT_BLOCKED",
		numbers + "4": "USER_CANCELLED", numbers + "5": "UNKNOWN_MSISDN",
	} {
		f.call("POST", "/v1/payments", payment("to"+number, object{
			"operator": string(operator), "country": string(country), "currency": currency, "msisdn": number,
		})).
			is(t, 201, "PENDING")
		here := f.ended("msisdn=%2B"+number[1:], key)
		there := f.ended("msisdn=%2B"+number[1:], otherKey)
		told := []string{"status", "amount", "currency", "msisdn", "operator", "country"}
		if here["status"] != want || fieldsOf(here, told...) != fieldsOf(there, told...) {
			t.Errorf("%s: here it is %v, there %v, want %s", number, here, there, want)
		}
		if there["source"] != "native" || here["source"] != "api" {
			t.Errorf("their sources are %v and %v", here["source"], there["source"])
		}
	}
	const float = "select balance from floats join organizations o using (tenant) where o.name = $1 and currency = $2"
	if here, there := read[int](f, float, "checkout", currency), read[int](f, float, "other", currency); here != there {
		t.Errorf("the float is %d, that of the other sandbox %d", here, there)
	}
	f.conserved()
}

// ended is the only transaction of a list, as soon as it has its outcome.
func (f *fixture) ended(query, key string) object {
	f.t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		all := f.call("GET", "/v1/payments?"+query, nil, withKey(key)).body["data"].([]any)
		if len(all) == 1 && all[0].(object)["status"] != "PENDING" {
			return all[0].(object)
		}
	}
	f.t.Fatalf("%s has no outcome within a minute", query)
	return nil
}
