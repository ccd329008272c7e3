package native

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"strings"

	"github.com/go-chi/chi/v5"
	"golang.org/x/text/language"

	"github.com/cauri-dev/cauri/server/assets"
	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/httpfront"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/requests"
	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/server/service"
	"github.com/cauri-dev/cauri/server/telemetry"
)

// assetPath is the path of the files of pages, below the base path of an operator's API.
const assetPath = "/assets/{file}"

// pageHeaders are the headers of every page. They keep its address, which is a secret, from search engines and from the
// shop's site.
var pageHeaders = http.Header{
	"Content-Security-Policy": {"default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; " +
		"frame-ancestors 'none'"},
	"Referrer-Policy":        {"no-referrer"},
	"X-Content-Type-Options": {"nosniff"},
	"X-Robots-Tag":           {"noindex, nofollow"},
	"Cache-Control":          {"no-store"},
	"Vary":                   {"Accept-Language, Cookie"},
}

// routePage adds the routes of an operator's page, if it has one.
func (n *Native) routePage(router chi.Router, api *operatorapi.API, base string) {
	if api.Page == nil {
		return
	}
	h := n.pipeline.Handle(&httpfront.Front{
		Failed: func(r *http.Request, err error) httpfront.Answer {
			return asPage(n.refuse(r, api, err, func(refusal *operatorapi.Refusal) operatorapi.Answer {
				return api.Page.Refuse(refusal, lookOf(r, api))
			}))
		},
		Kept: func(string, string) httpfront.LoggedFields { return httpfront.LoggedFields{} },
	}, n.page(api))
	for _, form := range httpfront.FormsOf(base + api.Page.Path) {
		router.Method(http.MethodGet, form, h)
		router.Method(http.MethodPost, form, h)
	}
	for _, form := range httpfront.FormsOf(base + assetPath) {
		router.Get(form, assets.Serve)
	}
}

// page returns the handler of the page of an operator's orders.
func (n *Native) page(api *operatorapi.API) httpfront.OpenHandler {
	return func(w http.ResponseWriter, r *http.Request) (httpfront.Answer, error) {
		ctx, cancel := context.WithTimeout(r.Context(), httpfront.AnswerTimeout)
		defer cancel()
		r = r.WithContext(ctx)
		s := &sandbox{native: n, api: api, request: r}
		visit := operatorapi.Visit{Look: lookOf(r, api), Query: r.URL.Query()}
		end, err := s.admitPayer(r, &visit)
		if err != nil {
			return httpfront.Answer{}, err
		}
		defer end()
		if r.Method == http.MethodPost {
			r.Body = http.MaxBytesReader(w, r.Body, maxBody)
			if err := r.ParseForm(); err != nil {
				return httpfront.Answer{}, operatorapi.Refuse(operatorapi.Invalid)
			}
			visit.Form = r.PostForm
		}
		var answered operatorapi.Answer
		err = n.service.Renewing(ctx, s.who, func(ctx context.Context) (err error) {
			if visit.Form == nil { // for a form, package service applies the faults, because they depend on the transaction
				if err := s.ApplyFault(ctx); err != nil {
					return err
				}
			}
			answered, err = api.Page.Handle(ctx, s, &visit)
			return err
		})
		if err != nil {
			return httpfront.Answer{}, err
		}
		a := asPage(answerOf(api, answered, s.who))
		a.Before, a.Hint = s.recorded.BeforeAnswer, s.recorded.Hint
		a.Header[requests.ReasonHeader] = nil // a payer must not learn whether the sandbox knows a number
		return a, nil
	}
}

// asPage returns an answer with the headers of a page.
func asPage(a httpfront.Answer) httpfront.Answer {
	if a.Header == nil {
		a.Header = http.Header{}
	}
	maps.Copy(a.Header, pageHeaders)
	return a
}

// lookOf returns the appearance of a page. Its addresses are relative.
func lookOf(r *http.Request, api *operatorapi.API) operatorapi.Look {
	up := strings.Repeat("../", strings.Count(api.Page.Path, "/")-1) + "assets/"
	return operatorapi.Look{
		Stylesheet: up + assets.Named("console.css"), Icon: up + assets.Named("shell.svg"), Sprite: up + assets.Named("sprite.svg"),
		Theme: assets.Theme(r), Lang: langOf(r),
	}
}

// pageLanguages are the languages of pages. languageOf finds the best of them.
var (
	pageLanguages = []string{"en", "fr"}
	languageOf    = language.NewMatcher([]language.Tag{language.English, language.French})
)

// langOf returns the best language of pages for a browser; "" if the browser wants none of them.
func langOf(r *http.Request) string {
	accepted, _, err := language.ParseAcceptLanguage(r.Header.Get("Accept-Language"))
	if err != nil {
		return ""
	}
	_, i, confidence := languageOf.Match(accepted...)
	if confidence == language.No {
		return ""
	}
	return pageLanguages[i]
}

// payerPerSecond and payerBurst limit the requests to the page of one order.
const (
	payerPerSecond = 1
	payerBurst     = 30
)

// admitPayer finds the sandbox and the order in the path of a page. The caller calls end after the request. Neither the
// refusal nor its time depends on whether the sandbox exists. An order is not found if the API key that opened it is no
// longer valid. The requests of payers do not count against the sandbox's rate limit.
func (s *sandbox) admitPayer(r *http.Request, visit *operatorapi.Visit) (end func(), err error) {
	token := param(r, "token")
	if err := s.findOrder(r, token); err != nil {
		return nil, err
	}
	sandbox, hash := s.who.Sandbox, hashOf(token)
	payer := httpfront.Guest{ID: string(hash[:]), PerSecond: payerPerSecond, Burst: payerBurst}
	if end, err = s.native.pipeline.AdmitGuest(r, sandbox.OrganizationID, payer); err != nil {
		return nil, err
	}
	found, err := s.native.ledger.FindCheckout(r.Context(), sandbox.Tenant, s.api.Operator, hash)
	switch {
	case errors.Is(err, ledger.ErrNotFound), errors.Is(err, postgres.ErrConfigChanged), err == nil && !s.holds(found.MadeWith):
		err = operatorapi.Refuse(operatorapi.NotFound) // its key or its sandbox is gone
	case err == nil && sandbox.Suspended:
		err = service.ErrSuspended
	}
	if err != nil {
		end()
		return nil, err
	}
	s.who.Key, visit.Order = found.MadeWith, checkoutOf(found, token)
	return end, nil
}

// findOrder finds the sandbox that the path of a page names. It refuses with [operatorapi.NotFound] if no sandbox has
// this name, or if the sandbox has no order with this token. It asks the database in both cases, so that they take the
// same time.
func (s *sandbox) findOrder(r *http.Request, token string) error {
	n := s.native
	if !s.api.Page.Token.MatchString(token) {
		_ = n.pipeline.NoteUnauthenticated(r, telemetry.AuthInvalid)
		return operatorapi.Refuse(operatorapi.NotFound)
	}
	var failure error
	var asked *sandboxes.Sandbox
	_, err := n.pipeline.Find(r, func() *service.Caller {
		named, _ := httpfront.SandboxInPath(r)
		opened, ok := n.directory.ByName(named.Namespace, named.Name)
		if !ok {
			opened = &sandboxes.Sandbox{} // no order belongs to its tenant
		}
		if asked != nil && asked.Tenant == opened.Tenant {
			return nil
		}
		asked = opened
		var known bool
		known, failure = n.ledger.KnowsNativeSecret(r.Context(), opened.Tenant, s.api.Operator, hashOf(token))
		if failure != nil || !known {
			return nil
		}
		f := n.pipeline.RequestFaults(r)
		f.At, f.Operator = faults.AtOperator, s.api.Operator
		s.who = &service.Caller{Sandbox: opened, Faults: f}
		return s.who
	})
	switch {
	case errors.Is(err, service.ErrUnauthorized) && failure != nil:
		return failure
	case errors.Is(err, service.ErrUnauthorized):
		return operatorapi.Refuse(operatorapi.NotFound)
	}
	return err
}
