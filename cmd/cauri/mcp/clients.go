package mcp

import (
	"context"
	"net/url"
	"slices"

	"github.com/cauri-dev/cauri/server/httpapi/wire"
)

type saveClientInput struct {
	MSISDN   string `json:"msisdn" doc:"The number. Operator and country follow from it."`
	Name     string `json:"name,omitempty" doc:"For people: who it is."`
	Balance  *int64 `json:"balance,omitempty" minimum:"0" maximum:"1000000000000" doc:"In whole units of its currency. Of a new number, 100000 if left out."`
	Behavior string `json:"behavior,omitempty" enum:"Approve,Cancel,WrongPin,Ignore,Manual" doc:"What the holder does when asked. Manual: answer_payer answers."`
	State    string `json:"state,omitempty" enum:"Active,Blocked"`
}

func (in *saveClientInput) check(wrong fieldErrors) { checkNumber(in.MSISDN, wrong) }

type saveClientOutput struct {
	head
	Payer *payer `json:"payer,omitempty"`
}

// newBalance is the balance of a test client that is added without one, so that it can pay.
const newBalance = 100_000

var saveTestClient = define(tool{
	name: "save_test_client", title: "Add or change a payer", repeats: true,
	description: "Adds a test client (a SIM with its holder), or changes the one with this number: balance, behavior, state.",
}, func(ctx context.Context, c *call, in *saveClientInput) (*saveClientOutput, error) {
	out := &saveClientOutput{}
	// The request log of the shop's requests is to have none for a number that is not there.
	all, err := c.sandbox.API.Payers(ctx, url.Values{}, mostClients)
	if err != nil {
		return nil, err
	}
	var saved wire.TestClient
	verb := "changed"
	if slices.ContainsFunc(all, func(p wire.TestClient) bool { return p.MSISDN == in.MSISDN }) {
		saved, err = c.sandbox.API.ChangePayer(ctx, in.MSISDN, wire.TestClientPatch{
			Name: given(in.Name), State: given(in.State), Balance: in.Balance, Behavior: given(in.Behavior),
		})
	} else {
		verb = "added"
		if in.Balance == nil {
			in.Balance = new(int64(newBalance))
		}
		saved, err = c.sandbox.API.AddPayer(ctx, wire.TestClientRequest{
			MSISDN: in.MSISDN, Name: in.Name, State: in.State, Balance: in.Balance, Behavior: in.Behavior,
		})
	}
	if err != nil {
		return nil, err
	}
	one := clientPayer(&saved)
	out.Payer = &one
	out.say("The test client %s is %s.", saved.MSISDN, verb)
	out.add(step{Tool: "make_payment", Arguments: arguments("msisdn", saved.MSISDN, "amount", 1500), Because: "pays from this number"})
	return out, nil
})

// given returns a pointer to a text; nil for "".
func given(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
