package httpapi

import (
	"errors"
	"net/http"

	"github.com/go-chi/chi/v5"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/store"
)

func (s *Server) listTestClients(_ http.ResponseWriter, r *http.Request) (answer, error) {
	tenant := sessionOf(r).sandbox.Tenant
	q := testClientQuery{limit: defaultLimit}
	if _, wrong := testClientParameters.read(r.URL.RawQuery, tenant, &q); len(wrong) > 0 {
		return answer{}, invalidParams(wrong)
	}
	found, err := s.store.ListTestClients(r.Context(), tenant, q.filter, msisdnAt(q.after), q.limit+1)
	if err != nil {
		return answer{}, err
	}
	page := testClientListView{Data: []testClientView{}, HasMore: len(found) > q.limit}
	for i := range found[:min(len(found), q.limit)] {
		page.Data = append(page.Data, testClientViewOf(&found[i]))
	}
	if page.HasMore {
		page.NextCursor = new(testClientCursors.after(tenant, placeOf(found[q.limit-1].MSISDN)))
	}
	return answer{status: http.StatusOK, body: page}, nil
}

func (s *Server) getTestClient(_ http.ResponseWriter, r *http.Request) (answer, error) {
	msisdn, err := msisdnOf(r)
	if err != nil {
		return answer{}, err
	}
	client, err := s.store.FindTestClient(r.Context(), sessionOf(r).sandbox.Tenant, msisdn)
	if errors.Is(err, store.ErrNotFound) {
		return answer{}, noSuchTestClient()
	}
	if err != nil {
		return answer{}, err
	}
	return answer{status: http.StatusOK, body: testClientViewOf(client)}, nil
}

// msisdnOf is the number in a path, whose + may be written as it is or as %2B. Its error is of type [*Error].
func msisdnOf(r *http.Request) (string, error) {
	msisdn := chi.URLParam(r, "msisdn")
	if !payments.ValidMSISDN(msisdn) {
		return "", invalidParams(fieldErrors{"msisdn": {"has to be an E.164 number with its leading +, which may be written as %2B"}})
	}
	return msisdn, nil
}
