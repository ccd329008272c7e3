package httpapi

import (
	"cmp"
	"context"
	"fmt"
	"net/http"

	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

func (s *Server) createTestClient(w http.ResponseWriter, r *http.Request) (answer, error) {
	body, err := wire.CreateTestClient.Decode(w, r)
	if err != nil {
		return answer{}, err
	}
	wanted, err := s.testClientOf(body)
	if err != nil {
		return answer{}, err
	}
	return s.repeat(w, r, s.disturbed(func(w http.ResponseWriter, r *http.Request) (answer, error) {
		return s.permitted(w, r, changeTestClients, func(ctx context.Context, sandbox *sandboxes.Sandbox) (answer, error) {
			err := s.ledger.AddTestClient(ctx, sandbox, wanted)
			return answer{status: http.StatusCreated, location: "/v1/test_clients/" + wanted.MSISDN, body: wire.TestClientOf(&wanted)}, err
		})
	}))
}

// testClientOf is the SIM that a request describes, by the rules of the TestClient resource.
func (s *Server) testClientOf(body *wire.TestClientRequest) (ledger.TestClient, error) {
	byPrefix, byCallingCode, _ := operators.Detect(body.MSISDN)
	market := sandboxes.Market{
		Operator: cmp.Or(payments.Operator(body.Operator), byPrefix), Country: cmp.Or(payments.Country(body.Country), byCallingCode),
	}
	if err := undetected(market); err != nil {
		return ledger.TestClient{}, err
	}
	if !market.Operator.In(market.Country) {
		return ledger.TestClient{}, wire.InvalidField("country", fmt.Sprintf("must be %s, where alone %s is available: send %[1]s, or another operator",
			market.Operator.Only(), market.Operator))
	}
	id, err := payments.NewID(s.now(), s.random)
	wanted := ledger.TestClient{Name: body.Name, Source: sandboxes.SourceAPI, SIM: payments.SIM{
		ID: id, MSISDN: body.MSISDN, Operator: market.Operator, Country: market.Country, Blocked: body.State == wire.StateBlocked,
		Behavior: cmp.Or(payments.Behavior(body.Behavior), payments.Approve),
	}}
	if body.Balance != nil {
		wanted.Balance = *body.Balance
	}
	return wanted, err
}

func (s *Server) patchTestClient(w http.ResponseWriter, r *http.Request) (answer, error) {
	msisdn, err := msisdnOf(r)
	if err != nil {
		return answer{}, err
	}
	patch, err := wire.PatchTestClient.Decode(w, r)
	if err != nil {
		return answer{}, err
	}
	return s.repeat(w, r, s.disturbed(func(w http.ResponseWriter, r *http.Request) (answer, error) {
		return s.permitted(w, r, changeTestClients, func(ctx context.Context, sandbox *sandboxes.Sandbox) (answer, error) {
			changed, err := s.ledger.ChangeTestClient(ctx, sandbox, msisdn, patch.Apply)
			return answer{status: http.StatusOK, body: wire.TestClientOf(&changed)}, err
		})
	}))
}

// deleteTestClient needs no body and ignores one.
func (s *Server) deleteTestClient(w http.ResponseWriter, r *http.Request) (answer, error) {
	msisdn, err := msisdnOf(r)
	if err != nil {
		return answer{}, err
	}
	return s.permitted(w, r, changeTestClients, func(ctx context.Context, sandbox *sandboxes.Sandbox) (answer, error) {
		return answer{status: http.StatusNoContent}, s.ledger.RemoveTestClient(ctx, sandbox, msisdn)
	})
}
