package worker

import (
	"context"
	"errors"
	"time"

	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/ledger/queues"
	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/telemetry"
	"github.com/cauri-dev/cauri/server/webhooks"
)

const (
	// callbackConcurrency bounds all callbacks in flight. callbacksPerSandbox bounds those of one sandbox.
	callbackConcurrency = 128
	callbacksPerSandbox = 32
)

// callbackDatabase has the methods of the database that callbacks of the operators' own APIs need.
type callbackDatabase interface {
	TenantsToCallBack(ctx context.Context) ([]queues.DueTenant, error)
	LeaseDueCallbacks(ctx context.Context, from []queues.SlotGrant, lease time.Duration, build ledger.BuildCallback) (
		leased []ledger.LeasedCallback, found map[int64]int, err error)
	GiveBackCallbacks(ctx context.Context, callbacks []ledger.LeasedCallback) error
	SendCallbackAgain(ctx context.Context, c *ledger.LeasedCallback) (leaseHeld bool, err error)
	FinishCallback(ctx context.Context, c *ledger.LeasedCallback, a ledger.AttemptResult) (leaseHeld bool, err error)
}

// callBack sends the callbacks of the operators' own APIs, each as often as the operator does. If a worker dies during
// a callback, another worker may send it again.
func (w *Worker) callBack(ctx context.Context) {
	dispatcher := leasedDispatcher[ledger.LeasedCallback]{
		worker: w, name: "callbacks", queue: w.callingBack, inUse: w.queues.callbacks,
		listDue: w.database.TenantsToCallBack, attempt: w.callBackOne, release: w.database.GiveBackCallbacks,
		lease: func(ctx context.Context, grants []queues.SlotGrant) ([]ledger.LeasedCallback, map[int64]int, error) {
			return w.database.LeaseDueCallbacks(ctx, grants, lease, operators.CallbackBody)
		},
		tenant: func(c *ledger.LeasedCallback) int64 { return c.Tenant },
	}
	dispatcher.run(ctx)
}

var errNoCallback = errors.New("the operator has no API of its own here any more")

// callBackOne sends one callback.
func (w *Worker) callBackOne(ctx context.Context, c *ledger.LeasedCallback) (end attemptEnd, record func()) {
	log := w.log.With("callback", payments.EventID{ID: c.ID, Callback: true}.String(), "organization", c.OrganizationID, "operator", c.Operator)
	if c.Transaction != nil {
		log = log.With("transaction", c.Transaction.ID.String())
	}
	result := w.sendCallback(ctx, c)
	a := ledger.AttemptResult{
		StartedAt: c.Now, Duration: result.Duration, ResponseStatus: result.Status, ResponseBody: result.Body, State: ledger.EventDelivered,
		Copies: copiesOf(result),
	}
	if result.Err != nil {
		a.State, a.Error = ledger.EventFailed, result.Err.Error()
		if api := operators.NativeAPI(c.Operator); api != nil && c.Retries < len(api.Retries) {
			a.State, a.RetryAfter = ledger.EventQueued, api.Retries[c.Retries]
		}
		log = log.With("reason", result.Err)
	}
	log = log.With("status", result.Status, "duration", result.Duration)
	if f := c.Fault.OfCallback(); !f.Overlap && c.TimesSent+1 < f.Duplicate {
		return attemptEndOf(result.Status != 0, result.Duration), func() { w.callBackAgain(ctx, log, c) }
	}
	return attemptEndOf(result.Status != 0, result.Duration), func() {
		var held bool
		err := w.retryWrite(ctx, true, func(ctx context.Context) (err error) {
			held, err = w.database.FinishCallback(ctx, c, a)
			return err
		})
		w.countCallback(c, resultOfCallback(a.State, held, err), result.Kind())
		switch {
		case err != nil:
			log.ErrorContext(ctx, "cannot record the callback; it will be sent again", "error", err)
		case !held:
			log.WarnContext(ctx, "the callback took longer than its lease; another worker has it")
		default:
			log.InfoContext(ctx, "callback")
		}
	}
}

// resultOfCallback returns the metric label of a callback. err is the error of the write of its result.
func resultOfCallback(state ledger.EventState, leaseHeld bool, err error) string {
	switch {
	case err != nil:
		return telemetry.DeliveryUnrecorded
	case !leaseHeld:
		return telemetry.DeliveryLost
	}
	return resultOf[state]
}

// sendCallback sends a callback in the operator's format. It sends nothing if a fault drops the callback, or if the
// sandbox does not allow the host any more.
func (w *Worker) sendCallback(ctx context.Context, c *ledger.LeasedCallback) webhooks.Result {
	if c.Fault.OfCallback().Drop {
		return webhooks.Result{Err: webhooks.ErrLost{Fault: c.Fault}}
	}
	api := operators.NativeAPI(c.Operator)
	if api == nil {
		return webhooks.Result{Err: errNoCallback}
	}
	allowed, publicOnly := operatorapi.CallbackRules{Hosts: c.Hosts, WebhookHost: c.WebhookHost, Namespace: c.Namespace}.Allow(c.URL)
	if !allowed {
		return webhooks.Result{Err: webhooks.ErrHostNotAllowed}
	}
	message, body := operators.CallbackOf(&c.Callback, reasonIn(c.Fault)), c.Body
	if reasonIn(c.Fault) != "" {
		body = message.Body // the stored body stays unchanged
	}
	if api.Sign != nil {
		if c.Problem != nil {
			return webhooks.Result{Err: c.Problem}
		}
		body = api.Sign(body, c.Sent, api.CallbackKeyOf(c.SigningSecret))
	}
	call := webhooks.Callback{URL: c.URL, Method: message.Method, Header: message.Header, Body: body, PublicOnly: publicOnly}
	if f := c.Fault.OfCallback(); f.Overlap {
		call.Copies = f.Duplicate
	}
	return w.sender.Call(ctx, call)
}
