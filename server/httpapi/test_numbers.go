package httpapi

import (
	"net/http"

	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/service"
)

func (s *Server) listTestNumbers(_ http.ResponseWriter, r *http.Request) (answer, error) {
	list := wire.TestNumberList{Data: []wire.TestNumber{}}
	for _, n := range service.TestNumbers(callerOf(r).Sandbox) {
		list.Data = append(list.Data, wire.TestNumberOf(n))
	}
	return answer{status: http.StatusOK, body: list}, nil
}
