package httpapi

import (
	"errors"
	"net/http"
	"strings"

	"github.com/go-chi/chi/v5"

	"github.com/cauri-dev/cauri/server/httpapi/decode"
	"github.com/cauri-dev/cauri/server/httpapi/view"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/httpfront"
	"github.com/cauri-dev/cauri/server/ledger/faultcounts"
	"github.com/cauri-dev/cauri/server/service"
)

func (a *API) listFaults(w http.ResponseWriter, r *http.Request, who *service.Caller) (httpfront.Answer, error) {
	if _, wrong := decode.FaultParameters.Read(w.Header(), r.URL.RawQuery, who.Sandbox.Tenant, nil); len(wrong) > 0 {
		return httpfront.Answer{}, view.InvalidParams(wrong)
	}
	found, err := a.service.Faults(r.Context(), who.Sandbox)
	if err != nil {
		return httpfront.Answer{}, err
	}
	return answered(http.StatusOK, view.FaultListOf(found)), nil
}

func (a *API) setFault(w http.ResponseWriter, r *http.Request, who *service.Caller) (httpfront.Answer, error) {
	body, err := decode.SetFault.Decode(w, r, who.Sandbox)
	if err != nil {
		return httpfront.Answer{}, err
	}
	name := chi.URLParam(r, "fault")
	f, err := decode.FaultSetting(name, body)
	if err != nil {
		return httpfront.Answer{}, err
	}
	if strings.HasPrefix(r.UserAgent(), wire.CommandAgent) {
		f.By = "cli"
	}
	if err := a.service.SetFault(r.Context(), who, f); err != nil {
		return httpfront.Answer{}, err
	}
	found, err := a.service.Faults(r.Context(), who.Sandbox)
	if err != nil {
		return httpfront.Answer{}, err
	}
	for i := range found {
		if found[i].Set != nil && found[i].Name == name {
			return answered(http.StatusOK, view.FaultOf(&found[i])), nil
		}
	}
	return httpfront.Answer{}, view.NoSuchFault() // somebody has removed it
}

// removeFault needs no body and ignores one.
func (a *API) removeFault(_ http.ResponseWriter, r *http.Request, who *service.Caller) (httpfront.Answer, error) {
	err := a.service.RemoveFaults(r.Context(), who, chi.URLParam(r, "fault"))
	if errors.Is(err, faultcounts.ErrNoFault) {
		return httpfront.Answer{}, view.NoSuchFault()
	}
	return httpfront.Answer{Status: http.StatusNoContent}, err
}

// removeFaults needs no body and ignores one.
func (a *API) removeFaults(_ http.ResponseWriter, r *http.Request, who *service.Caller) (httpfront.Answer, error) {
	err := a.service.RemoveFaults(r.Context(), who, "")
	if errors.Is(err, faultcounts.ErrNoFault) { // there are none, as asked
		err = nil
	}
	return httpfront.Answer{Status: http.StatusNoContent}, err
}
