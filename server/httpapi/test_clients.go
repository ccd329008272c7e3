package httpapi

import (
	"net/http"

	"github.com/go-chi/chi/v5"

	"github.com/cauri-dev/cauri/server/httpapi/decode"
	"github.com/cauri-dev/cauri/server/httpapi/view"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/httpfront"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/server/service"
)

func (a *API) listTestClients(w http.ResponseWriter, r *http.Request, who *service.Caller) (httpfront.Answer, error) {
	tenant := who.Sandbox.Tenant
	q := decode.TestClientQuery{Limit: wire.DefaultLimit, Known: who.Sandbox.Known}
	if _, wrong := decode.TestClientParameters.Read(w.Header(), r.URL.RawQuery, tenant, &q); len(wrong) > 0 {
		return httpfront.Answer{}, view.InvalidParams(wrong)
	}
	found, err := a.ledger.ListTestClients(r.Context(), tenant, q.Filter, decode.MSISDNAt(q.After), q.Limit+1)
	if err != nil {
		return httpfront.Answer{}, err
	}
	page := wire.TestClientList{Data: []wire.TestClient{}, HasMore: len(found) > q.Limit}
	for i := range found[:min(len(found), q.Limit)] {
		page.Data = append(page.Data, view.TestClientOf(&found[i]))
	}
	if page.HasMore {
		page.NextCursor = new(decode.TestClientCursors.After(tenant, decode.NumberCursor(found[q.Limit-1].MSISDN)))
	}
	return answered(http.StatusOK, page), nil
}

func (a *API) getTestClient(_ http.ResponseWriter, r *http.Request, who *service.Caller) (httpfront.Answer, error) {
	msisdn, err := msisdnInPath(r)
	if err != nil {
		return httpfront.Answer{}, err
	}
	client, err := a.ledger.FindTestClient(r.Context(), who.Sandbox.Tenant, msisdn)
	if err != nil {
		return httpfront.Answer{}, orMissing(err, view.NoSuchTestClient(who.Sandbox, msisdn))
	}
	return answered(http.StatusOK, view.TestClientOf(client)), nil
}

// msisdnInPath returns the number in a request's path. The plus sign may be + or %2B. Its error has the type [*wire.Error].
func msisdnInPath(r *http.Request) (string, error) {
	msisdn := chi.URLParam(r, "msisdn")
	if !payments.ValidMSISDN(msisdn) {
		const wrong = "must be an E.164 number with its leading +, which may be written as %2B"
		return "", view.InvalidParams(wire.FieldErrors{"msisdn": {wrong}})
	}
	return msisdn, nil
}

func (a *API) createTestClient(w http.ResponseWriter, r *http.Request, who *service.Caller) (httpfront.Answer, error) {
	body, err := decode.CreateTestClient.Decode(w, r, who.Sandbox)
	if err != nil {
		return httpfront.Answer{}, err
	}
	added, err := a.service.AddTestClient(r.Context(), who, decode.NewTestClient(body))
	if err != nil {
		return httpfront.Answer{}, err
	}
	answer := answered(http.StatusCreated, view.TestClientOf(&added))
	answer.Header = http.Header{"Location": {httpfront.PathTo(r, "/v1/test_clients/"+added.MSISDN)}}
	return answer, nil
}

func (a *API) patchTestClient(w http.ResponseWriter, r *http.Request, who *service.Caller) (httpfront.Answer, error) {
	msisdn, err := msisdnInPath(r)
	if err != nil {
		return httpfront.Answer{}, err
	}
	patch, err := decode.PatchTestClient.Decode(w, r, who.Sandbox)
	if err != nil {
		return httpfront.Answer{}, err
	}
	change := func(c *ledger.TestClient) error { return decode.ApplyPatch(patch, c) }
	changed, err := a.service.ChangeTestClient(r.Context(), who, msisdn, change)
	if err != nil {
		return httpfront.Answer{}, orMissing(err, view.NoSuchTestClient(who.Sandbox, msisdn))
	}
	return answered(http.StatusOK, view.TestClientOf(&changed)), nil
}

// deleteTestClient needs no body and ignores one.
func (a *API) deleteTestClient(_ http.ResponseWriter, r *http.Request, who *service.Caller) (httpfront.Answer, error) {
	msisdn, err := msisdnInPath(r)
	if err != nil {
		return httpfront.Answer{}, err
	}
	if err := a.service.RemoveTestClient(r.Context(), who, msisdn); err != nil {
		return httpfront.Answer{}, orMissing(err, view.NoSuchTestClient(who.Sandbox, msisdn))
	}
	return httpfront.Answer{Status: http.StatusNoContent}, nil
}

func (a *API) getOneTimeCode(_ http.ResponseWriter, r *http.Request, who *service.Caller) (httpfront.Answer, error) {
	msisdn, err := msisdnInPath(r)
	if err != nil {
		return httpfront.Answer{}, err
	}
	code, err := a.service.OneTimeCode(r.Context(), who.Sandbox, msisdn, sandboxes.Market{})
	if err != nil {
		return httpfront.Answer{}, orMissing(err, view.NoSuchTestClient(who.Sandbox, msisdn))
	}
	return answered(http.StatusOK, wire.OneTimeCode{MSISDN: msisdn, OTP: code}), nil
}
