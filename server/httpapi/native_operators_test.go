package httpapi_test

import (
	"cmp"
	"net/http"
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// ofOperator is what the tests of all operators' own APIs need to know of one.
type ofOperator struct {
	// named makes what exchanges have by a name; empty for an unknown name.
	named func(f *fixture, name string) string
	// prepare adds environments and test clients for exchanges and examples; nil for none.
	prepare func(f *fixture)
	// examples prepares a sandbox for the examples of the operator's page.
	examples func(f *fixture) pageExamples
}

// pageExamples is what differs between the examples of a page and those that run.
type pageExamples struct {
	bearer    func(*operatorapi.Route) string   // the access token for a call
	replaced  func(*operatorapi.Route) []string // texts of the example and what is sent in their place, in pairs
	variables []string                          // beside those of the credentials Secret
}

var ofOperators = map[payments.Operator]ofOperator{
	payments.MTN:    {named: mtnNamed, examples: mtnExamples},
	payments.Airtel: {named: airtelNamed, examples: airtelExamples},
	payments.Moov:   {named: moovNamed, examples: moovExamples, prepare: prepareMoov},
	payments.Orange: {named: orangeNamed, examples: orangeExamples},
	payments.MPesa:  {named: mpesaNamed, examples: mpesaExamples, prepare: prepareMPesa},
}

func TestOperatorsHaveWhatTestsOfAllNeed(t *testing.T) {
	for _, api := range operators.NativeAPIs() {
		if o := ofOperators[api.Operator]; o.named == nil || o.examples == nil {
			t.Errorf("%s is missing in ofOperators", api.Operator)
		}
	}
}

// enable enables all environments of an operator in the sandbox.
func (f *fixture) enable(operator payments.Operator) {
	f.t.Helper()
	for i := range f.config.Environments {
		if f.config.Environments[i].Operator == operator {
			f.config.Environments[i].Enabled = true
		}
	}
	f.sandbox(f.config, key)
	if prepare := ofOperators[operator].prepare; prepare != nil {
		prepare(f)
	}
}

func mtnNamed(f *fixture, name string) string {
	m := f.mtn(key)
	token, _ := m.token(name, m.User, m.UserKey).body["access_token"].(string)
	return token
}

// refundedInExample is the reference of the collection that MTN's examples refund.
const refundedInExample = "d6b1f4f2-6a2c-4c2e-9a3c-0b8f6f1f2a10"

func mtnExamples(f *fixture) pageExamples {
	api, m, paid := operators.NativeAPI(payments.MTN), f.mtn(key), newReference()
	holder := api.Examples["holder"]
	f.client("alice", "+"+holder, 50_000, func(c *sandboxes.TestClientConfig) { c.Behavior = payments.Manual })
	m.call("POST", "/collection/v1_0/requesttopay", payBody(holder, "10000", "RWF"), "X-Reference-Id", paid).is(f.t, http.StatusAccepted, "")
	f.approve("+" + holder)
	last := map[string]string{} // references by product and call
	return pageExamples{
		bearer: func(r *operatorapi.Route) string {
			return strings.TrimPrefix(m.authorized(r.Path)["Authorization"], "Bearer ")
		},
		replaced: func(r *operatorapi.Route) []string {
			made := r.Product + r.Name
			switch {
			case r.Name == "apikey":
				made = "apiuser"
			case r.Name == "deliverynotification":
				last[made] = paid
			case r.Method == http.MethodPost:
				last[made] = newReference()
			}
			return []string{api.Examples["reference"], cmp.Or(last[made], paid), refundedInExample, paid}
		},
	}
}
