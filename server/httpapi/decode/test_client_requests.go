package decode

import (
	"cmp"

	"github.com/cauri-dev/cauri/server/httpapi/view"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/payments"
)

// CreateTestClient reads the body of POST /v1/test_clients.
var CreateTestClient = newDecoder[wire.TestClientRequest]()

// NewTestClient returns the test client to add. The caller sets the fields that follow from its number.
func NewTestClient(b *wire.TestClientRequest) ledger.TestClient {
	c := ledger.TestClient{Name: b.Name, SIM: payments.SIM{
		MSISDN: b.MSISDN, Operator: payments.Operator(b.Operator), Country: payments.Country(b.Country), Blocked: b.State == wire.StateBlocked,
		Behavior: payments.Behavior(b.Behavior),
	}}
	if b.Balance != nil {
		c.Balance = *b.Balance
	}
	return c
}

// PatchTestClient reads the body of PATCH /v1/test_clients/{msisdn}.
var PatchTestClient = newMergePatch[wire.TestClientPatch]()

// ApplyPatch applies a patch to a test client. Its error has the type [*wire.Error].
func ApplyPatch(p *wire.TestClientPatch, c *ledger.TestClient) error {
	wrong := wire.FieldErrors{}
	for field, change := range map[string]struct{ present, sent string }{
		"msisdn": {c.MSISDN, p.MSISDN}, "operator": {string(c.Operator), p.Operator}, "country": {string(c.Country), p.Country},
	} {
		if change.sent != "" && change.sent != change.present {
			wrong[field] = []string{"cannot be changed from " + change.present + ": leave it out, or delete the test client and create it again"}
		}
	}
	if len(wrong) > 0 {
		return view.InvalidBody(wrong)
	}
	if p.Name != nil {
		c.Name = *p.Name
	}
	if p.State != nil {
		c.Blocked = *p.State == wire.StateBlocked
	}
	if p.Balance != nil {
		c.Balance = *p.Balance
	}
	if p.Behavior != nil {
		c.Behavior = cmp.Or(payments.Behavior(*p.Behavior), payments.Approve)
	}
	return nil
}
