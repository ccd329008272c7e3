package httpapi

import (
	"net/http"

	"github.com/cauri-dev/cauri/server/httpapi/wire"
)

func (s *Server) createTestClient(w http.ResponseWriter, r *http.Request) (answer, error) {
	body, err := wire.CreateTestClient.Decode(w, r)
	if err != nil {
		return answer{}, err
	}
	added, err := s.service.AddTestClient(r.Context(), callerOf(r), body.TestClient())
	if err != nil {
		return answer{}, wire.TestClientRefusal(err)
	}
	return answer{status: http.StatusCreated, location: "/v1/test_clients/" + added.MSISDN, body: wire.TestClientOf(&added)}, nil
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
	changed, err := s.service.ChangeTestClient(r.Context(), callerOf(r), msisdn, patch.Apply)
	if err != nil {
		return answer{}, wire.TestClientRefusal(err)
	}
	return answer{status: http.StatusOK, body: wire.TestClientOf(&changed)}, nil
}

// deleteTestClient needs no body and ignores one.
func (s *Server) deleteTestClient(_ http.ResponseWriter, r *http.Request) (answer, error) {
	msisdn, err := msisdnOf(r)
	if err != nil {
		return answer{}, err
	}
	if err := s.service.RemoveTestClient(r.Context(), callerOf(r), msisdn); err != nil {
		return answer{}, wire.TestClientRefusal(err)
	}
	return answer{status: http.StatusNoContent}, nil
}
