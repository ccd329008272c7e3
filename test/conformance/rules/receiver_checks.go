package rules

import (
	"net/http"
	"slices"

	"github.com/cauri-dev/cauri/test/conformance/suite"
)

// receiverCheckRules are the rules about checks of the receiver, which are an optional part of the service. They ask for
// no check: it would send forged events to the receiver of the suite.
func receiverCheckRules() []suite.Rule {
	return []suite.Rule{{
		ID: "receivers/refused", Check: receiverChecksRefused,
		Text: "a check of an unknown id is 404 not_found, and a tx_id that is no collection of the sandbox is 400 invalid_body",
	}}
}

func receiverChecksRefused(c *suite.Check) {
	list, _ := c.Expect(c.Get("/meta"), http.StatusOK)["capabilities"].([]any)
	if !slices.Contains(list, any("receiver_checks")) {
		c.NotChecked("the service has no capability receiver_checks")
	}
	c.Refused(c.Get("/receiver_checks/chk_041061050R3GG28A1C60T3GF20"), http.StatusNotFound, "not_found")
	for _, id := range []string{"1", "TX_041061050R3GG28A1C60T3GF20"} {
		c.FieldsRefused(c.Post("/receiver_checks", suite.Object{"tx_id": id}), "tx_id")
	}
}
