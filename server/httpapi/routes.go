package httpapi

import (
	"net/http"

	"github.com/go-chi/chi/v5"

	"github.com/cauri-dev/cauri/server/assets"
	"github.com/cauri-dev/cauri/server/httpapi/apidoc"
	"github.com/cauri-dev/cauri/server/httpfront"
	"github.com/cauri-dev/cauri/server/service"
)

// Front returns the front of /v1 for package httpfront.
func (a *API) Front() *httpfront.Front { return &httpfront.Front{Failed: a.failed, Kept: kept} }

// Route adds the routes of the API, and the handlers for unknown paths and methods of all fronts.
func (a *API) Route(router chi.Router) {
	answer := answerer{a.pipeline, a.Front()}
	router.NotFound(answer.open(a.notFound(router)))
	router.MethodNotAllowed(answer.open(a.methodNotAllowed(router)))
	for _, r := range a.routes(answer) {
		for _, form := range httpfront.FormsOf(r.Path) {
			router.Method(r.Method, form, r.handler)
		}
	}
	hosts := apidoc.Hosts{Public: a.baseURL, Console: a.console, Consoles: a.consoles, Sandbox: a.examples}
	for path, page := range apidoc.Pages(hosts) {
		for _, form := range httpfront.FormsOf(path) {
			router.Method(http.MethodGet, form, page)
			router.Method(http.MethodPost, form, page)
		}
	}
	none := answer.open(a.notFound(router))
	for _, path := range apidoc.TextPaths {
		for _, form := range httpfront.FormsOf(path) {
			router.Get(form, func(w http.ResponseWriter, r *http.Request) {
				if text := hosts.Text(r, r.URL.Path); text != nil {
					text.ServeHTTP(w, r)
				} else {
					none(w, r)
				}
			})
		}
	}
	for _, form := range httpfront.FormsOf(apidoc.AssetPath) {
		router.Get(form, assets.Serve)
	}
}

// answerer converts handlers to [http.HandlerFunc].
type answerer struct {
	pipeline *httpfront.Pipeline
	front    *httpfront.Front
}

// open returns a handler for requests that need no API key.
func (a answerer) open(h httpfront.OpenHandler) http.HandlerFunc {
	return a.pipeline.Handle(a.front, h)
}

// keyed returns a handler for requests that need an API key.
func (a answerer) keyed(h httpfront.Handler) http.HandlerFunc { return a.open(a.pipeline.WithKey(h)) }

// faulty returns a handler for requests that need an API key and record no transaction. It applies the sandbox's faults
// before h.
func (a answerer) faulty(h httpfront.Handler) http.HandlerFunc {
	return a.keyed(a.pipeline.AfterFault(h))
}

// reading returns a handler for requests with a body that change nothing. Faults act on them as on a GET, so that a fault
// that refuses payments does not refuse the question what came of them.
func (a answerer) reading(h httpfront.Handler) http.HandlerFunc {
	return a.keyed(func(w http.ResponseWriter, r *http.Request, who *service.Caller) (httpfront.Answer, error) {
		who.Faults.ReadOnly, who.Faults.Repeats = true, ""
		return h(w, r, who)
	})
}

// route is an operation of the API's description with its handler.
type route struct {
	apidoc.Operation
	handler http.HandlerFunc
}

// routes returns the routes of all operations, but not the route of the page.
func (a *API) routes(answer answerer) []route {
	return []route{
		{apidoc.CreatePayment, answer.keyed(a.createPayment)},
		{apidoc.GetPayment, answer.faulty(a.getPayment)},
		{apidoc.ListPayments, answer.faulty(a.listPayments)},
		{apidoc.CreateRefund, answer.keyed(a.createRefund)},
		{apidoc.CreateDisbursement, answer.keyed(a.createDisbursement)},
		{apidoc.ListEvents, answer.faulty(a.listEvents)},
		{apidoc.GetEvent, answer.faulty(a.getEvent)},
		{apidoc.ResendEvent, answer.faulty(a.resendEvent)},
		{apidoc.CompareEvent, answer.reading(a.pipeline.AfterFault(a.compareEvent))},
		{apidoc.GetWebhook, answer.faulty(a.getWebhook)},
		{apidoc.CreateReceiverCheck, answer.faulty(a.createReceiverCheck)},
		{apidoc.GetReceiverCheck, answer.faulty(a.getReceiverCheck)},
		{apidoc.ListTestClients, answer.faulty(a.listTestClients)},
		{apidoc.GetTestClient, answer.faulty(a.getTestClient)},
		{apidoc.CreateTestClient, answer.keyed(a.createTestClient)},
		{apidoc.PatchTestClient, answer.keyed(a.patchTestClient)},
		{apidoc.DeleteTestClient, answer.faulty(a.deleteTestClient)},
		{apidoc.StartManual, answer.faulty(a.setManual(true))},
		{apidoc.EndManual, answer.faulty(a.setManual(false))},
		{apidoc.GetOneTimeCode, answer.faulty(a.getOneTimeCode)},
		{apidoc.ListTestNumbers, answer.faulty(a.listTestNumbers)},
		{apidoc.ListRequests, answer.faulty(a.listRequests)},
		{apidoc.ListAccounts, answer.faulty(a.listAccounts)},
		{apidoc.ListEntries, answer.faulty(a.listEntries)},
		{apidoc.ListPrompts, answer.faulty(a.listPrompts)},
		{apidoc.AnswerPrompt, answer.faulty(a.answerPrompt)},
		{apidoc.ResetSandbox, answer.keyed(a.reset)},
		{apidoc.ListFaults, answer.keyed(a.listFaults)},
		{apidoc.SetFault, answer.keyed(a.setFault)},
		{apidoc.RemoveFault, answer.keyed(a.removeFault)},
		{apidoc.RemoveFaults, answer.keyed(a.removeFaults)},
		{apidoc.GetClock, answer.faulty(a.getClock)},
		{apidoc.AdvanceClock, answer.keyed(a.advanceClock)},
		{apidoc.EvaluateExpectations, answer.reading(a.evaluateExpectations)},
		{apidoc.OpenStream, answer.keyed(a.openStream)},
		{apidoc.CreateConsoleLink, answer.faulty(a.createConsoleLink)},
		{apidoc.ListConsoleSessions, answer.faulty(a.listConsoleSessions)},
		{apidoc.DeleteConsoleSessions, answer.faulty(a.deleteConsoleSessions)},
		{apidoc.DeleteConsoleSession, answer.faulty(a.deleteConsoleSession)},
		{apidoc.GetMeta, answer.open(a.meta)},
		{apidoc.GetHealth, answer.open(a.health)},
		{apidoc.GetDocument, apidoc.DocumentHandler(a.baseURL, answer.open(a.noOperation))},
		{apidoc.GetDocument30, apidoc.DocumentHandler30(a.baseURL, answer.open(a.noOperation))},
	}
}
