package httpapi

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// A sandbox's faults of the api, and of an operator's answers, act on a request whose body is valid, before anything is recorded and before
// it is found that an earlier request recorded it. They disturb what is answered, and never what is recorded.

// disturbance is what faults do to one request.
type disturbance struct {
	fault   *faults.Fault // that acts, nil for none
	told    *faults.Fault // that disturbs what the operator tells of a transaction, nil for none
	acted   []string      // names of those that acted on requests with its reference, with this one
	tenant  int64         // that it was decided for
	version int64         // of the configuration that it was decided by
	came    int           // requests with its reference to the tenant; 0: they were not counted
}

// errDropped ends a request whose connection a fault drops before anything is recorded.
var errDropped = errors.New("a fault drops the connection")

// endedByFault is the error of a request that a fault ends before anything is recorded, and before it is looked whether it is a repetition.
type endedByFault struct{ error }

func (e endedByFault) Unwrap() error { return e.error }

// hasAnswerFaults reports whether a fault of a sandbox can act on requests.
func hasAnswerFaults(sandbox *sandboxes.Sandbox) bool {
	return slices.ContainsFunc(sandbox.Faults, func(f faults.Fault) bool { return f.Answer() != nil })
}

// disturb decides which fault acts on a request of /v1. It returns [endedByFault] if the request ends by it.
func (s *Server) disturb(ctx context.Context, who session, sandbox *sandboxes.Sandbox, p *faults.Place) error {
	p.Where = faults.AtRequest
	return s.disturbAt(ctx, who, sandbox, p)
}

// disturbAt decides which fault acts on a request. It returns [endedByFault] if the request ends by it. What was decided holds, unless no
// fault acts and the configuration changes before the request is recorded.
func (s *Server) disturbAt(ctx context.Context, who session, sandbox *sandboxes.Sandbox, p *faults.Place) error {
	d := &who.out.disturbance
	if d.fault != nil || d.version == sandbox.ConfigVersion {
		return nil
	}
	r := who.out.request
	p.Path, p.Draws = pathWithin(nativePath(r.URL.Path)), faults.DrawsOf(sandbox.Seed, sandbox.Tenant)
	p.Reads = p.Reads || r.Method == http.MethodGet
	var err error
	if p.Now, d.acted, err = s.ledger.RequestInFaults(ctx, sandbox.Tenant, sandbox.Faults, p.Key()); err != nil {
		return err
	}
	if p.Attempt, err = s.timesCame(ctx, d, sandbox, p.Reference); err != nil {
		return err
	}
	acts, err := s.ledger.ActFault(ctx, sandbox.Tenant, p, sandbox.Faults.At(p))
	if err != nil {
		return err
	}
	d.fault, d.version = acts, sandbox.ConfigVersion
	if acts == nil {
		return nil
	}
	if !slices.Contains(d.acted, acts.Name) {
		d.acted = append(d.acted, acts.Name)
	}
	s.metrics.Disturbed(string(acts.Kind()))
	return ends(acts)
}

// ends returns the error of a request that a fault ends, nil for any other fault.
func ends(f *faults.Fault) error {
	switch a := f.Answer(); {
	case a.Status != 0:
		return endedByFault{wire.Simulated(f, a.Status, a.RetryAfter.Of())}
	case a.DropConnection == faults.BeforeCommit:
		return endedByFault{errDropped}
	}
	return nil
}

// timesCame counts the requests with a reference, if a fault asks for it.
func (s *Server) timesCame(ctx context.Context, d *disturbance, sandbox *sandboxes.Sandbox, reference string) (int, error) {
	asked := slices.ContainsFunc(sandbox.Faults, func(f faults.Fault) bool { return f.Answer() != nil && f.When.Attempt != 0 })
	if !asked || reference == "" || d.came > 0 && d.tenant == sandbox.Tenant {
		return d.came, nil
	}
	came, err := s.ledger.CountFaultRequest(ctx, sandbox.Tenant, reference)
	if err == nil {
		d.tenant, d.came = sandbox.Tenant, came
	}
	return came, err
}

// disturbed answers a request that records no transaction by f, after the faults of its sandbox. Unless it only reads, a fault acts once
// for its method and path.
func (s *Server) disturbed(f handler) handler {
	return func(w http.ResponseWriter, r *http.Request) (answer, error) {
		who := sessionOf(r)
		if hasAnswerFaults(who.sandbox) {
			var p faults.Place
			if r.Method != http.MethodGet {
				p.Request = r.Method + " " + pathWithin(r.URL.Path)
			}
			if err := s.disturb(r.Context(), who, who.sandbox, &p); err != nil {
				return answer{}, err
			}
		}
		return f(w, r)
	}
}

func (s *Server) disturbCollection(ctx context.Context, who session, sandbox *sandboxes.Sandbox, body *wire.CreatePaymentRequest) error {
	if !hasAnswerFaults(sandbox) {
		return nil
	}
	const presume = false
	market, _, err := s.marketOf(ctx, sandbox, body, presume)
	if err != nil && !errors.As(err, new(*wire.Error)) { // what is wrong with the market is said later
		return err
	}
	return s.disturb(ctx, who, sandbox, &faults.Place{
		Type: payments.Collection, Operator: market.Operator, Country: market.Country, Store: body.Application, MSISDN: body.MSISDN,
		Reference: body.Reference,
	})
}

func (s *Server) disturbDisbursement(ctx context.Context, who session, sandbox *sandboxes.Sandbox, body *wire.DisbursementRequest) error {
	if !hasAnswerFaults(sandbox) {
		return nil
	}
	return s.disturb(ctx, who, sandbox, &faults.Place{
		Type: payments.Disbursement, Operator: payments.Operator(body.Operator), Country: payments.Country(body.Country),
		Store: body.Application, MSISDN: body.MSISDN, Reference: body.Reference,
	})
}

func (s *Server) disturbRefund(
	ctx context.Context, who session, sandbox *sandboxes.Sandbox, parentID payments.ID, body *wire.RefundRequest,
) error {
	if !hasAnswerFaults(sandbox) {
		return nil
	}
	p := &faults.Place{Type: payments.Refund, Reference: body.Reference, Request: "refund of " + parentID.String()}
	parent, err := s.ledger.GetTransaction(ctx, sandbox.Tenant, parentID)
	switch {
	case err == nil:
		p.Operator, p.Country, p.Store, p.MSISDN = parent.Operator, parent.Country, parent.Store, parent.MSISDN
	case !errors.Is(err, ledger.ErrNotFound):
		return err
	}
	return s.disturb(ctx, who, sandbox, p)
}

// additions are what the faults of a request and the sandbox's seed add to the transaction that it records.
func (who session) additions(sandbox *sandboxes.Sandbox, reference string) ledger.Additions {
	var a ledger.Additions
	if sandbox.Seed != nil {
		a.ProviderTxID = payments.ProviderTxIDOf(faults.DrawsOf(sandbox.Seed, sandbox.Tenant).Digest("operator's number", reference))
	}
	if acted := who.out.disturbance.acted; len(acted) > 0 {
		a.Disturbance = &ledger.Disturbance{Faults: acted}
	}
	return a
}

// noteReplay writes down that a fault acts on the repetition of a request that recorded a transaction.
func (s *Server) noteReplay(ctx context.Context, who session, t *payments.Transaction) error {
	f := who.out.disturbance.fault
	if f == nil || slices.Contains(t.Faults, f.Name) {
		return nil
	}
	t.Faults = append(t.Faults, f.Name)
	return s.ledger.AddTransactionFault(ctx, who.sandbox.Tenant, t.ID, f.Name)
}

// pathWithin is the path of a request within its sandbox, as the API's description has it.
func pathWithin(path string) string {
	if named, found := strings.CutPrefix(path, "/sandboxes/"); found {
		if parts := strings.SplitN(named, "/", 3); len(parts) == 3 {
			path = "/" + parts[2]
		}
	}
	if within, found := strings.CutPrefix(path, apiForm); found && strings.HasPrefix(within, "/") {
		return within
	}
	return path
}
