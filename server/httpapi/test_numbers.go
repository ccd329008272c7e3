package httpapi

import (
	"net/http"

	"github.com/cauri-dev/cauri/server/httpapi/decode"
	"github.com/cauri-dev/cauri/server/httpapi/view"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/httpfront"
	"github.com/cauri-dev/cauri/server/service"
)

func (a *API) listTestNumbers(w http.ResponseWriter, r *http.Request, who *service.Caller) (httpfront.Answer, error) {
	if _, wrong := decode.TestNumberParameters.Read(w.Header(), r.URL.RawQuery, who.Sandbox.Tenant, nil); len(wrong) > 0 {
		return httpfront.Answer{}, view.InvalidParams(wrong)
	}
	list := wire.TestNumberList{Data: []wire.TestNumber{}, Environments: []wire.Market{}}
	for _, n := range service.TestNumbers(who.Sandbox) {
		list.Data = append(list.Data, view.TestNumberOf(n))
	}
	for _, m := range who.Sandbox.EnabledMarkets() {
		list.Environments = append(list.Environments, wire.Market{Operator: string(m.Operator), Country: string(m.Country)})
	}
	return answered(http.StatusOK, list), nil
}
