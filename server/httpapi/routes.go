package httpapi

import (
	"net/http"

	"github.com/cauri-dev/cauri/server/httpapi/apidoc"
)

// route is an operation of the API's description, and what answers it.
type route struct {
	apidoc.Operation
	handler http.HandlerFunc
}

// routes are all operations, but for the page.
func (a *API) routes() []route {
	return []route{
		{apidoc.CreatePayment, a.keyed(a.createPayment)},
		{apidoc.GetPayment, a.faulty(a.getPayment)},
		{apidoc.ListPayments, a.faulty(a.listPayments)},
		{apidoc.CreateRefund, a.keyed(a.createRefund)},
		{apidoc.CreateDisbursement, a.keyed(a.createDisbursement)},
		{apidoc.ListEvents, a.faulty(a.listEvents)},
		{apidoc.GetEvent, a.faulty(a.getEvent)},
		{apidoc.ResendEvent, a.faulty(a.resendEvent)},
		{apidoc.ListTestClients, a.faulty(a.listTestClients)},
		{apidoc.GetTestClient, a.faulty(a.getTestClient)},
		{apidoc.CreateTestClient, a.keyed(a.createTestClient)},
		{apidoc.PatchTestClient, a.keyed(a.patchTestClient)},
		{apidoc.DeleteTestClient, a.faulty(a.deleteTestClient)},
		{apidoc.ListTestNumbers, a.faulty(a.listTestNumbers)},
		{apidoc.ListRequests, a.faulty(a.listRequests)},
		{apidoc.ListAccounts, a.faulty(a.listAccounts)},
		{apidoc.ListEntries, a.faulty(a.listEntries)},
		{apidoc.ListPrompts, a.faulty(a.listPrompts)},
		{apidoc.AnswerPrompt, a.faulty(a.answerPrompt)},
		{apidoc.ResetSandbox, a.keyed(a.reset)},
		{apidoc.GetClock, a.faulty(a.getClock)},
		{apidoc.AdvanceClock, a.keyed(a.advanceClock)},
		{apidoc.OpenStream, a.keyed(a.openStream)},
		{apidoc.GetMeta, a.open(a.meta)},
		{apidoc.GetHealth, a.open(a.health)},
		{apidoc.GetDocument, apidoc.DocumentHandler(a.baseURL)},
		{apidoc.GetDocument30, apidoc.DocumentHandler30(a.baseURL)},
	}
}
