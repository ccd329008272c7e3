package httpapi

import (
	"context"
	"net/http"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/store"
)

// disbursementBody is the body of POST /v1/disbursements.
type disbursementBody struct {
	_              struct{} `additionalProperties:"true"`
	Amount         int64    `json:"amount" minimum:"1" maximum:"1000000000000" example:"25000" doc:"In whole units of the currency."`
	Currency       string   `json:"currency" pattern:"^[A-Za-z]{3,4}$" patternDescription:"a currency of 3 or 4 letters" example:"RWF" doc:"The environment's currency. FCFA and CFA are taken as XOF."`
	Operator       string   `json:"operator" enum:"mtn,orange,moov,airtel" example:"mtn"`
	Country        string   `json:"country" pattern:"^[A-Z]{2}$" patternDescription:"an ISO 3166 alpha-2 code in capitals" example:"RW"`
	MSISDN         string   `json:"msisdn" pattern:"^\\+[1-9][0-9]{6,14}$" patternDescription:"an E.164 number with its leading +" example:"+250788123456" doc:"The recipient's number."`
	Application    string   `json:"application" minLength:"1" maxLength:"80" example:"shop" doc:"Slug of the store."`
	Reference      string   `json:"reference,omitempty" minLength:"1" maxLength:"80" example:"SHOP-DIS-20260531120000-0123456789AB" doc:"Idempotency key; generated when left out."`
	OrderRef       string   `json:"order_ref,omitempty" minLength:"1" maxLength:"120" example:"order-1042" doc:"Groups transactions; falls back to the reference."`
	OrderURL       string   `json:"order_url,omitempty" maxLength:"500" format:"uri" example:"https://shop.example/orders/1042" doc:"Absolute http or https URL of the order."`
	IsURLProtected bool     `json:"is_url_protected,omitempty" doc:"The order's link needs a permission."`
	Description    string   `json:"description,omitempty" maxLength:"200" example:"Weekly payout" doc:"Stored and returned; does not affect the outcome."`
}

var disbursementSchema = schemaFor[disbursementBody]()

// disbursementView is the answer of POST /v1/disbursements.
type disbursementView struct {
	TxID                  string `json:"tx_id" doc:"Transaction id." example:"TX_0SGCEVCRD35J7GWVBNSNZ5FWYM"`
	Type                  string `json:"type" enum:"disbursement"`
	Status                string `json:"status"`
	Amount                int64  `json:"amount" minimum:"1"`
	MerchantBalanceAfter  *int64 `json:"merchant_balance_after,omitempty" doc:"The merchant's float after the disbursement."`
	RecipientBalanceAfter *int64 `json:"recipient_balance_after" doc:"The recipient's SIM after it was credited, null if none was."`
	Idempotent            bool   `json:"idempotent" doc:"The disbursement existed already."`
}

func (s *Server) createDisbursement(w http.ResponseWriter, r *http.Request) (answer, error) {
	body, err := disbursementSchema.decode(w, r)
	if err != nil {
		return answer{}, err
	}
	made, replayed, err := s.disburse(r.Context(), sessionOf(r), body)
	if err != nil {
		return answer{}, err
	}
	a := created(made, replayed)
	a.status = http.StatusOK
	a.body = disbursementViewOf(made.transaction, replayed)
	return a, nil
}

func disbursementViewOf(t *payments.Transaction, replayed bool) disbursementView {
	return disbursementView{
		TxID: t.ID.String(), Type: string(t.Type), Status: string(t.Status), Amount: t.Amount,
		MerchantBalanceAfter: t.MerchantBalanceAfter, RecipientBalanceAfter: t.SIMBalanceAfter, Idempotent: replayed,
	}
}

// disburse records a disbursement, or finds the one that the same request made before.
func (s *Server) disburse(ctx context.Context, who session, body fields) (made recorded, replayed bool, err error) {
	asked := newIntent(payments.Disbursement, body, "")
	return s.once(ctx, who, asked, func(ctx context.Context, sandbox *store.Sandbox) (recorded, error) {
		return s.tryDisburse(ctx, sandbox, asked)
	})
}

func (s *Server) tryDisburse(ctx context.Context, sandbox *store.Sandbox, asked *intent) (recorded, error) {
	n, err := s.decideDisbursement(sandbox, asked)
	if err != nil {
		return recorded{}, err
	}
	n.Decided = store.Decided{RequestHash: asked.hash, ConfigVersion: sandbox.ConfigVersion}
	begun := s.now()
	if err := s.store.CreateDisbursement(ctx, sandbox.Tenant, n); err != nil {
		return recorded{}, err
	}
	return recorded{transaction: &n.Transaction, answerAt: begun.Add(n.AnswerAfter)}, nil
}

// decideDisbursement checks a disbursement against the sandbox's configuration. What becomes of it, its recipient and the float
// decide when it is recorded.
func (s *Server) decideDisbursement(sandbox *store.Sandbox, asked *intent) (*store.NewDisbursement, error) {
	body := asked.body
	market := store.Market{Operator: payments.Operator(body.text("operator")), Country: payments.Country(body.text("country"))}
	environment, err := environmentFor(sandbox, market, body)
	if err != nil {
		return nil, err
	}
	t := s.described(payments.Disbursement, body)
	if t.ID, err = payments.NewID(s.now(), s.random); err != nil {
		return nil, err
	}
	if t.Reference, err = s.referenceFor(asked, payments.OwnOrigin, payments.OpDisbursement); err != nil {
		return nil, err
	}
	if t.OrderRef == "" {
		t.OrderRef = t.Reference
	}
	t.Status = payments.Success
	t.EnvironmentID, t.Operator, t.Country = environment.ID, market.Operator, market.Country
	t.NetAmount, t.AbsorptionPct = t.Amount, environment.Terms.AbsorptionPct
	n := &store.NewDisbursement{
		Transaction: t, Latency: s.payoutLatency(sandbox), Unknown: payments.DisbursementFacts{Policy: environment.UnknownPolicy}.Outcome(),
	}
	n.Latency.Unknown, n.Latency.Blocked = s.latencyOf(n.Unknown, sandbox), s.latencyOf(payments.AccountBlocked, sandbox)
	return n, nil
}
