package httpapi

import (
	"context"
	"net/http"

	"github.com/go-chi/chi/v5"

	"github.com/cauri-dev/cauri/server/advice"
	"github.com/cauri-dev/cauri/server/httpapi/decode"
	"github.com/cauri-dev/cauri/server/httpapi/view"
	"github.com/cauri-dev/cauri/server/httpapi/view/offline"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/httpfront"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/ledger/lists"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/service"
)

func (a *API) getEvent(_ http.ResponseWriter, r *http.Request, who *service.Caller) (httpfront.Answer, error) {
	id, err := payments.ParseEventID(chi.URLParam(r, "id"))
	if err != nil {
		return httpfront.Answer{}, view.NoSuchEvent()
	}
	event, err := a.service.ReadEvent(r.Context(), who, id)
	if err != nil {
		return httpfront.Answer{}, orMissing(err, view.NoSuchEvent())
	}
	declared := who.Sandbox.Faults
	detail := view.EventDetailOf(event.EventDetail, declared)
	if event.Callback != nil {
		detail = view.CallbackDetailOf(event.Callback, declared)
	}
	if last := view.Unacknowledged(event.EventDetail); last != nil {
		attempt, err := a.lastAttempt(r.Context(), who, event, last)
		if err != nil {
			return httpfront.Answer{}, err
		}
		detail.Advice = offline.AdviceOf(view.AdviceOn(last, attempt, declared), a.eventPage(r, who.Sandbox, detail.ID))
	}
	if event.Signature != nil {
		detail.Signature = view.EventSignatureOf(event.Signature.Attempt, &event.Signature.Explanation)
	}
	return answered(http.StatusOK, detail), nil
}

// lastAttempt returns the last attempt of an event with what is known of its receiver.
func (a *API) lastAttempt(
	ctx context.Context, who *service.Caller, event *service.Event, last *ledger.AttemptRecord,
) (advice.Attempt, error) {
	attempt := view.LastAttempt(event.EventDetail, last)
	if event.Callback != nil {
		attempt.Host = advice.HostAndPortOf(event.Callback.URL)
		return attempt, nil
	}
	webhook, err := a.service.ReadWebhook(ctx, who)
	if err != nil {
		return attempt, err
	}
	return attempt.Beside(&webhook.EndpointHealth, webhook.URL, last.RealStartedAt), nil
}

func (a *API) resendEvent(_ http.ResponseWriter, r *http.Request, who *service.Caller) (httpfront.Answer, error) {
	id, err := payments.ParseEventID(chi.URLParam(r, "id"))
	if err != nil {
		return httpfront.Answer{}, view.NoSuchEvent()
	}
	event, err := a.service.ResendEvent(r.Context(), who, id)
	if err != nil {
		return httpfront.Answer{}, orMissing(err, view.NoSuchEvent())
	}
	return answered(http.StatusAccepted, view.EventSummaryOf(&event, who.Sandbox.Faults)), nil
}

func (a *API) compareEvent(w http.ResponseWriter, r *http.Request, who *service.Caller) (httpfront.Answer, error) {
	id, err := payments.ParseEventID(chi.URLParam(r, "id"))
	if err != nil {
		return httpfront.Answer{}, view.NoSuchEvent()
	}
	body, err := decode.CompareEvent.Decode(w, r, who.Sandbox)
	if err != nil {
		return httpfront.Answer{}, err
	}
	yours, verifiedAt, err := decode.CapturedBody(body)
	if err != nil {
		return httpfront.Answer{}, err
	}
	compared, err := a.service.CompareEvent(r.Context(), who, id, &service.Captured{
		Body: yours, Signature: body.Signature, StandardSignature: body.WebhookSignature, Timestamp: body.WebhookTimestamp,
		Computed: body.ComputedSignature, SecretFingerprint: body.SecretFingerprint, VerifiedAt: verifiedAt,
	})
	if err != nil {
		return httpfront.Answer{}, orMissing(err, view.NoSuchEvent())
	}
	return answered(http.StatusOK, comparisonOf(compared, yours)), nil
}

func comparisonOf(c *service.Comparison, yours []byte) wire.Comparison {
	comparison := wire.Comparison{
		Same: c.Difference == nil, SentBytes: len(c.Sent), YourBytes: len(yours), Schemes: []wire.SchemeVerified{},
		Causes: []wire.ComparisonCause{},
	}
	if c.Attempt > 0 {
		comparison.Attempt = &c.Attempt
	}
	if c.Difference != nil {
		comparison.Difference = view.BodyDifferenceOf(c.Difference, c.Sent, yours)
	}
	for _, one := range c.Schemes {
		comparison.Schemes = append(comparison.Schemes, wire.SchemeVerified(one))
	}
	for _, one := range c.Causes {
		comparison.Causes = append(comparison.Causes, wire.ComparisonCause{Code: one.Code, Message: one.Words.String()})
	}
	return comparison
}

func (a *API) listEvents(w http.ResponseWriter, r *http.Request, who *service.Caller) (httpfront.Answer, error) {
	sandbox := who.Sandbox
	tenant := sandbox.Tenant
	q := decode.EventQuery{Limit: wire.DefaultLimit}
	if _, wrong := decode.EventParameters.Read(w.Header(), r.URL.RawQuery, tenant, &q); len(wrong) > 0 {
		return httpfront.Answer{}, view.InvalidParams(wrong)
	}
	var found []ledger.Event
	var err error
	if q.Before != nil {
		found, err = a.ledger.ListNewerEvents(r.Context(), tenant, q.Filter, *q.Before, q.Limit+1)
	} else {
		found, err = a.ledger.ListEvents(r.Context(), tenant, q.Filter, q.After, q.Limit+1)
	}
	if err != nil {
		return httpfront.Answer{}, err
	}
	rows, newer, older := lists.Page(found, q.Limit, q.After != nil, q.Before != nil)
	page := wire.EventList{Data: []wire.EventSummary{}, HasMore: older}
	for i := range rows {
		page.Data = append(page.Data, view.EventSummaryOf(&rows[i], sandbox.Faults))
	}
	if older {
		page.NextCursor = new(decode.AfterEvent(tenant, rows[len(rows)-1].EventID()))
	}
	if newer {
		page.PreviousCursor = new(decode.BeforeEvent(tenant, rows[0].EventID()))
	}
	return answered(http.StatusOK, page), nil
}
