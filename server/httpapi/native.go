package httpapi

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/cauri-dev/cauri/server/httpapi/apidoc"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/server/service"
)

// The operators' own APIs, below /operators: each request is a request of the sandbox like one of /v1, and only its form is the operator's.

const (
	nativePrefix = "/operators/"
	// maxNativeBody bounds the body of a request, in bytes.
	maxNativeBody = 64 << 10
	// reasonHeader names the reason of a refusal in the terms of Cauri, since an operator has few.
	reasonHeader = "X-Cauri-Reason"
)

// nativeRoutes adds the routes of all operators. What an operator does not know is answered in its shape too.
func (s *Server) nativeRoutes(router chi.Router) {
	for _, api := range operators.NativeAPIs() {
		base := nativePrefix + string(api.Operator)
		for i := range api.Routes {
			route := &api.Routes[i]
			for _, form := range formsOf(base + route.Path) {
				router.Method(route.Method, form, s.native(api, route))
			}
		}
		for _, form := range formsOf(base + apidoc.NativeDocumentPath) {
			router.Get(form, apidoc.NativeDocumentHandler(api, base, s.baseURL))
		}
		for _, form := range formsOf(base) {
			router.Handle(form, s.native(api, nil))
			router.Handle(form+"/*", s.native(api, nil))
		}
	}
}

// nativePath is the path of a request to an operator's API without what clients add to it: a slash at the end, two in a row, a space.
func nativePath(path string) string {
	before, after, found := strings.Cut(path, nativePrefix)
	if !found || before != "" && strings.Count(before, "/") != 3 {
		return path
	}
	parts := strings.FieldsFunc(after, func(r rune) bool { return r == '/' })
	return before + nativePrefix + strings.TrimSpace(strings.Join(parts, "/"))
}

// native answers a call of an operator's API; route is nil for what the operator does not know.
func (s *Server) native(api *operatorapi.API, route *operatorapi.Route) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), answerTimeout)
		defer cancel()
		out := w.(*response)
		out.logged.native = api
		n := &nativeSandbox{server: s, api: api}
		answered, err := s.callNative(ctx, n, w, r, route)
		switch {
		case isDropped(err):
			answered = operatorapi.Answer{}
		case err != nil:
			answered = s.refuseNative(ctx, w, api, err)
		}
		a := answer{status: answered.Status, header: answered.Header.Clone(), body: encodeNative(answered.Body)}
		if f := out.fault(); f != nil && f.Answer().MalformedBody && a.body == nil {
			a.body = nativeBody("{}") // of which a half is sent
		}
		if n.awaited != nil {
			a.event, a.due = n.awaited, s.now()
		}
		s.send(out, a)
	}
}

// callNative lets a request through that has what the call needs, and makes the call.
func (s *Server) callNative(
	ctx context.Context, n *nativeSandbox, w http.ResponseWriter, r *http.Request, route *operatorapi.Route,
) (answered operatorapi.Answer, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("panic: %v\n%s", cause, debug.Stack())
		}
	}()
	if err := n.enter(ctx, r); err != nil {
		s.stranger(w, r)
		return operatorapi.Answer{}, err
	}
	w.(*response).logged.who = n.who
	s.tracing.Describe(ctx, "cauri.organization", n.who.Sandbox.OrganizationID)
	if route == nil {
		return operatorapi.Answer{}, operatorapi.Refuse(operatorapi.NoRoute)
	}
	if n.who.Sandbox.Suspended {
		return operatorapi.Answer{}, service.ErrSuspended
	}
	if err := n.limitRate(ctx, w); err != nil {
		return operatorapi.Answer{}, err
	}
	request := operatorapi.Request{Header: r.Header, Param: func(name string) string { return chi.URLParam(r, name) }, Product: route.Product}
	err = s.service.Renewing(ctx, n.who, func(ctx context.Context) (err error) {
		if request.User, err = n.user(ctx, r, route); err != nil {
			return err
		}
		if request.Body == nil { // else it was read before
			if request.Body, err = io.ReadAll(http.MaxBytesReader(w, r.Body, maxNativeBody)); err != nil {
				return operatorapi.Refuse(operatorapi.Invalid)
			}
		}
		answered, err = n.handle(ctx, route, &request)
		return err
	})
	return answered, err
}

// handle makes a call. Faults act on one that records a transaction when it is known which.
func (n *nativeSandbox) handle(ctx context.Context, route *operatorapi.Route, r *operatorapi.Request) (operatorapi.Answer, error) {
	if !route.Orders {
		if err := n.server.service.ApplyFault(ctx, n.who); err != nil {
			return operatorapi.Answer{}, err
		}
	}
	return route.Handle(ctx, n, r)
}

// limitRate counts the request against the sandbox's rate limit, as one of /v1.
func (n *nativeSandbox) limitRate(ctx context.Context, w http.ResponseWriter) error {
	if n.who.Sandbox.RateLimit == 0 {
		return nil
	}
	a, err := n.server.takeRequest(ctx, n.who)
	if err != nil || a.granted {
		return err
	}
	w.Header().Set("Retry-After", secondsOf(a.reset))
	return operatorapi.Refuse(operatorapi.TooMany)
}

// isDropped reports whether a fault drops the connection of a request.
func isDropped(err error) bool {
	var fault service.ErrFault
	return errors.As(err, &fault) && fault.Fault.Answer().Status == 0
}

// refuseNative is the operator's answer to an error. What is not meant for the caller is logged.
func (s *Server) refuseNative(ctx context.Context, w http.ResponseWriter, api *operatorapi.API, err error) operatorapi.Answer {
	refusal := nativeRefusal(err)
	deliberate := errors.As(err, new(*operatorapi.Refusal)) || errors.As(err, new(service.ErrFault))
	if refusal.Why == operatorapi.Internal && !deliberate {
		s.log.ErrorContext(ctx, "request failed", "request", requestID(ctx), "error", err)
	} else if errors.Is(err, postgres.ErrUnavailable) && !errors.Is(err, postgres.ErrOverloaded) {
		s.log.WarnContext(ctx, "request failed", "request", requestID(ctx), "error", err)
	}
	told := refusalOf(err)
	if told == nil && (errors.Is(err, postgres.ErrUnavailable) || errors.Is(err, postgres.ErrConfigChanged)) {
		told = wire.Overloaded()
	}
	if told != nil && told.RetryAfter != "" {
		w.Header().Set("Retry-After", told.RetryAfter)
	}
	w.(*response).logged.code = refusal.Code()
	w.Header().Set(reasonHeader, refusal.Code())
	return api.Refuse(refusal)
}

// nativeRefusal is an error as the frame of the operators' APIs knows it.
func nativeRefusal(err error) *operatorapi.Refusal {
	var refusal *operatorapi.Refusal
	told := refusalOf(err)
	switch {
	case errors.As(err, &refusal):
		return refusal
	case told != nil && errors.As(err, new(service.ErrFault)):
		return operatorapi.OfStatus(told.Status, told.Code)
	case told != nil:
		return operatorapi.Because(whyOf(told), told.Code)
	case errors.Is(err, postgres.ErrOverloaded), errors.Is(err, postgres.ErrConfigChanged):
		return operatorapi.Because(operatorapi.Unavailable, wire.Overloaded().Code)
	case errors.Is(err, postgres.ErrUncertain), errors.Is(err, postgres.ErrUnavailable):
		return operatorapi.Refuse(operatorapi.Unavailable)
	case errors.Is(err, ledger.ErrNotFound):
		return operatorapi.Refuse(operatorapi.NotFound)
	case errors.Is(err, ledger.ErrTooManyUsers):
		return operatorapi.Because(operatorapi.Unavailable, "too_many_users")
	}
	return operatorapi.Refuse(operatorapi.Internal)
}

// whyOf sorts the errors of /v1.
func whyOf(e *wire.Error) operatorapi.Why {
	switch {
	case e.Code == wire.DuplicateReference("").Code:
		return operatorapi.Duplicate
	case e.Code == wire.QuotaExceeded(ledger.ErrQuotaExceeded{}).Code, e.Status == http.StatusServiceUnavailable:
		return operatorapi.Unavailable
	case e.Status == http.StatusUnauthorized:
		return operatorapi.KeyInvalid
	case e.Status == http.StatusNotFound:
		return operatorapi.NotFound
	case e.Status >= http.StatusInternalServerError:
		return operatorapi.Internal
	}
	return operatorapi.Invalid
}

// nativeBody is the body of an answer in the operator's form.
type nativeBody []byte

const nativeType = "application/json;charset=utf-8"

// encodeNative returns a [nativeBody], nil for none.
func encodeNative(body any) any {
	if body == nil {
		return nil
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(body); err != nil {
		panic(err) // texts and numbers, which can always be encoded
	}
	return nativeBody(bytes.TrimSuffix(out.Bytes(), []byte("\n")))
}

// nativeSandbox is the sandbox of one request to an operator's API. It implements [operatorapi.Sandbox].
type nativeSandbox struct {
	server *Server
	api    *operatorapi.API
	who    *service.Caller
	digest sandboxes.NativeDigest
	// awaited is what is to be sent before the request is answered, nil for nothing.
	awaited *service.BeforeAnswer
}

var _ operatorapi.Sandbox = (*nativeSandbox)(nil)

// Environments implements [operatorapi.Sandbox].
func (n *nativeSandbox) Environments() (enabled []operatorapi.Environment) {
	for _, market := range n.who.Sandbox.Markets {
		e := n.who.Sandbox.Environments[market]
		if market.Operator == n.api.Operator && e.Enabled {
			enabled = append(enabled, operatorapi.Environment{Country: market.Country, Currency: e.Currency, Vague: e.Vague, Quirks: e.Quirks})
		}
	}
	return enabled
}

// Balance implements [operatorapi.Sandbox].
func (n *nativeSandbox) Balance(ctx context.Context, currency payments.Currency) (int64, error) {
	return n.server.ledger.FloatBalance(ctx, n.who.Sandbox.Tenant, currency)
}

// Holder implements [operatorapi.Sandbox]. A number that no SIM has exists where the sandbox lets unknown numbers pay.
func (n *nativeSandbox) Holder(ctx context.Context, e operatorapi.Environment, msisdn string) (operatorapi.Holder, error) {
	sandbox, market := n.who.Sandbox, sandboxes.Market{Operator: n.api.Operator, Country: e.Country}
	sim, err := n.server.ledger.FindHolder(ctx, sandbox.Tenant, msisdn)
	switch {
	case err == nil:
		return operatorapi.Holder{Name: sim.Name, Active: !sim.Blocked}, nil
	case !errors.Is(err, ledger.ErrNotFound):
		return operatorapi.Holder{}, err
	}
	facts := payments.DisbursementFacts{
		Policy: sandbox.Environments[market].UnknownPolicy, TestNumber: service.TestNumberIn(sandbox, market, msisdn),
	}
	switch facts.Outcome() {
	case payments.UnknownMSISDN:
		return operatorapi.Holder{}, operatorapi.Refuse(operatorapi.NotFound)
	case payments.AccountBlocked:
		return operatorapi.Holder{}, nil
	}
	return operatorapi.Holder{Active: true}, nil
}

// MayCall implements [operatorapi.Sandbox].
func (n *nativeSandbox) MayCall(url string) bool {
	sandbox := n.who.Sandbox
	allowed, _ := operatorapi.CallbackRules{Hosts: sandbox.CallbackHosts, WebhookHost: sandbox.WebhookHost, Namespace: sandbox.Namespace}.Allow(url)
	return allowed
}

// Text implements [operatorapi.Sandbox].
func (n *nativeSandbox) Text() (string, error) {
	var b [16]byte
	if _, err := io.ReadFull(n.server.random, b[:]); err != nil {
		return "", fmt.Errorf("making a random text: %w", err)
	}
	return fmt.Sprintf("%x", b), nil
}

// Now implements [operatorapi.Sandbox].
func (n *nativeSandbox) Now(ctx context.Context) (time.Time, error) {
	if !n.who.Sandbox.Clocked {
		return n.server.now(), nil
	}
	clock, err := n.server.ledger.Clock(ctx, n.who.Sandbox.Tenant)
	return clock.Now, err
}

func hashOf(text string) sandboxes.KeyHash { return sha256.Sum256([]byte(text)) }
