package airtel

import (
	"context"
	"crypto/x509"
	"encoding/base64"
	"net/http"
	"strconv"
	"time"

	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/payments"
)

// tokenLifetime is the validity of a token (Documented).
const tokenLifetime = 180 * time.Second

func issueToken(ctx context.Context, s operatorapi.Sandbox, r *operatorapi.Request) (operatorapi.Answer, error) {
	if readTokenRequest(r.Body).GrantType == "" {
		refused := r.Unreadable(noGrant)
		if refused.Detail == "" {
			refused = refused.Expect("grant_type", "client_credentials")
		}
		return operatorapi.Answer{}, refused
	}
	token, err := r.IssueToken(ctx, s, tokenLifetime)
	seconds := int(tokenLifetime.Seconds())
	told := grant{"bearer", token, seconds}
	if numeric, set := s.Environments()[0].Quirks[quirkNumericExpiry]; set && !numeric {
		told.ExpiresIn = strconv.Itoa(seconds)
	}
	return operatorapi.Answer{Status: http.StatusOK, Body: told}, err
}

// grant is the answer with a token. ExpiresIn is a number, or a string with one.
type grant struct {
	TokenType   string `json:"token_type"`
	AccessToken string `json:"access_token"`
	ExpiresIn   any    `json:"expires_in"`
}

// collect records a collection. Only the enquiry reports a wrong PIN, or a barred or unknown number (Documented).
func collect(ctx context.Context, s operatorapi.Sandbox, r *operatorapi.Request, e operatorapi.Environment) (operatorapi.Answer, error) {
	order, body, err := newOrder(r, e, payCall, "subscriber")
	if err != nil {
		return operatorapi.Answer{}, err
	}
	order.CallbackURL, order.Sent = e.Callback.URL, sent{Hash: e.Callback.Hash}
	return transactionAnswer(acceptance{string(body.Transaction.ID), "SUCCESS"}, okStatus(inProcess, "SUCCESS")), s.Collect(ctx, *order)
}

// disburse records a disbursement, and answers with its outcome.
func disburse(ctx context.Context, s operatorapi.Sandbox, r *operatorapi.Request, e operatorapi.Environment) (operatorapi.Answer, error) {
	order, body, err := newOrder(r, e, payoutCall, "payee")
	if err == nil {
		err = checkPIN(ctx, s, body.PIN)
	}
	if err == nil {
		err = s.Disburse(ctx, *order)
	}
	if err != nil {
		return operatorapi.Answer{}, instead(err, ofPayouts)
	}
	p, err := s.Find(ctx, order.Reference, payoutCall)
	if err != nil {
		return operatorapi.Answer{}, err
	}
	o := outcomeOf(&p)
	a := transactionAnswer(payout{moneyID(paidOut, p.Transaction), payoutID(p.Transaction), p.Reference, o.status}, o.enquiryStatus())
	a.Outcome = true
	return a, nil
}

const moneyIDField = "transaction.airtel_money_id"

// giveBack records a refund of what is left of a collection, and answers with its outcome.
func giveBack(ctx context.Context, s operatorapi.Sandbox, r *operatorapi.Request, _ operatorapi.Environment) (operatorapi.Answer, error) {
	var body struct {
		Transaction struct {
			AirtelMoneyID string `json:"airtel_money_id"`
		} `json:"transaction"`
	}
	if err := readOrder(r, &body); err != nil {
		return operatorapi.Answer{}, err
	}
	const wanted = "the airtel_money_id of a paid collection of this sandbox"
	if body.Transaction.AirtelMoneyID == "" {
		return operatorapi.Answer{}, operatorapi.Refuse(operatorapi.Invalid).Expect(moneyIDField, wanted)
	}
	minute, ok := operatorapi.MinuteIn(body.Transaction.AirtelMoneyID, len(collected))
	if !ok {
		return operatorapi.Answer{}, operatorapi.Refuse(operatorapi.NotFound).Expect(moneyIDField, wanted)
	}
	parent, err := s.FindInMinute(ctx, minute, func(t *payments.Transaction) bool {
		return t.Type == payments.Collection && moneyID(collected, t) == body.Transaction.AirtelMoneyID
	})
	if err != nil {
		return operatorapi.Answer{}, operatorapi.ExpectFound(err, moneyIDField, wanted)
	}
	drawn, err := s.RandomHex()
	if err != nil {
		return operatorapi.Answer{}, err
	}
	order := operatorapi.Order{Operation: refundCall, Sent: sent{}}
	order.Reference, order.Parent = "refund-"+drawn, parent.ID
	if err := s.Refund(ctx, order); err != nil {
		return operatorapi.Answer{}, err
	}
	p, err := s.Find(ctx, order.Reference, refundCall)
	if err != nil {
		return operatorapi.Answer{}, err
	}
	done, result := refund{moneyID(paidOut, p.Transaction), "SUCCESS"}, okStatus(inProcess, "SUCCESS")
	if o := outcomeOf(&p); o.status != succeeded {
		done.Status, result = o.status, o.enquiryStatus()
	}
	a := transactionAnswer(done, result)
	a.Outcome = true
	return a, nil
}

// encryptionKey answers with the public key for PINs. It has 2048 bits, as in v2 and v3 (Documented).
func encryptionKey(
	_ context.Context, s operatorapi.Sandbox, _ *operatorapi.Request, _ operatorapi.Environment,
) (operatorapi.Answer, error) {
	key := s.PINKey()
	if key == nil {
		return operatorapi.Answer{}, operatorapi.Because(operatorapi.Unavailable, "no_encryption_key")
	}
	public, err := x509.MarshalPKIXPublicKey(key)
	body := publicKey{100, base64.StdEncoding.EncodeToString(public), "31-12-2099 23:59:59"}
	return dataAnswer(body, okStatus("DP02010001001", "SUCCESS")), err
}

// publicKey is the key for PINs.
type publicKey struct {
	KeyID     int    `json:"key_id"`
	Key       string `json:"key"`
	ValidUpto string `json:"valid_upto"`
}

// tell returns the handler that answers with the state of a transaction. The parameter operation is the name of the
// call that recorded the transaction.
func tell(operation string) operatorapi.HandlerIn[operatorapi.Environment] {
	return func(ctx context.Context, s operatorapi.Sandbox, r *operatorapi.Request, _ operatorapi.Environment) (operatorapi.Answer, error) {
		p, err := s.Find(ctx, r.Param("id"), operation)
		if err != nil {
			err = operatorapi.ExpectFound(err, "id", "the transaction.id of a request to "+operation)
			if operation == payoutCall {
				err = instead(err, map[operatorapi.Reason]operatorapi.Reason{operatorapi.NotFound: noPayout})
			}
			return operatorapi.Answer{}, err
		}
		o := outcomeOf(&p)
		body := enquiry{ID: p.Reference, Message: o.message, Status: o.status}
		switch {
		case p.Status != payments.Success:
		case operation == payoutCall:
			body.AirtelMoneyID = payoutID(p.Transaction)
		default:
			body.AirtelMoneyID = moneyID(collected, p.Transaction)
		}
		return transactionAnswer(body, o.enquiryStatus()), nil
	}
}
