package native

import (
	"context"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/cauri-dev/cauri/server/httpfront"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/server/service"
)

// sandbox is the sandbox of one request. It implements [operatorapi.Sandbox].
type sandbox struct {
	native  *Native
	api     *operatorapi.API
	route   *operatorapi.Route // nil for an unknown path
	request *http.Request
	who     *service.Caller
	digest  sandboxes.NativeDigest
	body    func() ([]byte, error) // returns the body of the request, which it reads once
	// recorded is the transaction that the request recorded. operation is the operator's name of the call.
	recorded  service.Recorded
	operation string
	wrong     operatorapi.WrongAnswer // gives the wrong answer of a fault to a status call; nil for the right answer
}

// sent returns the body of the request, as far as it could be read.
func (s *sandbox) sent() []byte {
	body, _ := s.body()
	return body
}

var _ operatorapi.Sandbox = (*sandbox)(nil)

// Environments implements [operatorapi.Sandbox].
func (s *sandbox) Environments() (enabled []operatorapi.Environment) {
	for _, market := range s.who.Sandbox.Markets {
		e := s.who.Sandbox.Environments[market]
		if market.Operator == s.api.Operator && e.Enabled {
			enabled = append(enabled, operatorapi.Environment{
				Country: market.Country, Currency: e.Currency, Vague: e.Vague, Quirks: e.Quirks,
				Callback: operatorapi.CallbackTarget{URL: e.CallbackURL, Hash: e.CallbackHash},
			})
		}
	}
	return enabled
}

// Balance implements [operatorapi.Sandbox].
func (s *sandbox) Balance(ctx context.Context, currency payments.Currency) (int64, error) {
	return s.native.ledger.FloatBalance(ctx, s.who.Sandbox.Tenant, currency)
}

// Holder implements [operatorapi.Sandbox]. A number without a SIM has a holder if the sandbox accepts unknown numbers.
// A SIM of another operator or country does not count.
func (s *sandbox) Holder(ctx context.Context, e operatorapi.Environment, msisdn string) (operatorapi.Holder, error) {
	sandbox, market := s.who.Sandbox, sandboxes.Market{Operator: s.api.Operator, Country: e.Country}
	sim, err := s.native.ledger.FindHolder(ctx, sandbox.Tenant, market.Operator, market.Country, msisdn)
	switch {
	case err == nil:
		return operatorapi.Holder{Name: sim.Name, Active: !sim.Blocked}, nil
	case !errors.Is(err, ledger.ErrNotFound):
		return operatorapi.Holder{}, err
	}
	facts := payments.DisbursementFacts{
		Policy: sandbox.Environments[market].UnknownPolicy, TestNumber: service.TestNumberIn(sandbox, market, msisdn),
	}
	if e.AnyNumber {
		elsewhere, err := s.native.ledger.FindSIM(ctx, sandbox.Tenant, msisdn)
		if err != nil {
			return operatorapi.Holder{}, err
		}
		if elsewhere == nil {
			facts.Policy = payments.Passthrough
		}
	}
	switch facts.Outcome() {
	case payments.UnknownMSISDN:
		return operatorapi.Holder{}, operatorapi.Refuse(operatorapi.NotFound).Say(s.native.service.WhyUnknown(ctx, sandbox, market, msisdn))
	case payments.AccountBlocked:
		return operatorapi.Holder{}, nil
	}
	return operatorapi.Holder{Active: true}, nil
}

// MayCall implements [operatorapi.Sandbox].
func (s *sandbox) MayCall(url string) bool {
	sandbox := s.who.Sandbox
	rules := operatorapi.CallbackRules{
		Hosts: sandbox.CallbackHosts, WebhookHost: sandbox.WebhookHost, Namespace: sandbox.Namespace,
	}
	allowed, _ := rules.Allow(url)
	return allowed
}

// Notify implements [operatorapi.Sandbox].
func (s *sandbox) Notify(ctx context.Context, n operatorapi.Notice) error {
	_, err := s.queue(ctx, n, false)
	return err
}

// questionLimit is the longest wait for the reply to a question. After this wait, two seconds are left to record the
// payment.
const questionLimit = httpfront.AnswerTimeout - 2*time.Second

// Ask implements [operatorapi.Sandbox].
func (s *sandbox) Ask(ctx context.Context, question operatorapi.Notice, limit time.Duration) (*operatorapi.Reply, error) {
	id, err := s.queue(ctx, question, true)
	if err != nil {
		return nil, err
	}
	attempt, err := s.native.service.AwaitReply(ctx, s.who.Sandbox, id, min(limit, questionLimit))
	if err != nil || attempt == nil || attempt.ResponseStatus == nil {
		return nil, err
	}
	return &operatorapi.Reply{Status: *attempt.ResponseStatus, Body: attempt.ResponseBody}, nil
}

// queue queues a callback that belongs to no transaction, and returns the id of the callback. If once is true, the
// callback has no retries.
func (s *sandbox) queue(ctx context.Context, n operatorapi.Notice, once bool) (payments.ID, error) {
	sent, err := json.Marshal(n.Sent)
	if err != nil {
		return payments.ID{}, fmt.Errorf("keeping what a callback is built from: %w", err)
	}
	id, err := payments.NewID(s.native.now(), s.native.random)
	if err != nil {
		return payments.ID{}, err
	}
	return s.native.ledger.AddNotice(ctx, s.who.Sandbox.Tenant, id, &ledger.Notice{
		Operator: s.api.Operator, Kind: n.Kind, URL: n.URL, Sent: sent,
		After: n.After * time.Duration(service.LatencyPercent(s.who.Sandbox)) / 100, Once: once,
	})
}

// Checks implements [operatorapi.Sandbox].
func (s *sandbox) Checks(name, value string) bool { return s.digest.Checks(name, value) }

// ApplyFault implements [operatorapi.Sandbox].
func (s *sandbox) ApplyFault(ctx context.Context) error {
	return s.native.service.ApplyFault(ctx, s.who)
}

// PINKey implements [operatorapi.Sandbox].
func (s *sandbox) PINKey() *rsa.PublicKey {
	if key := s.native.pinKey(); key != nil {
		return &key.PublicKey
	}
	return nil
}

// OpenPIN implements [operatorapi.Sandbox].
func (s *sandbox) OpenPIN(ctx context.Context, text []byte) ([]byte, error) {
	key := s.native.pinKey()
	if key == nil {
		return nil, errNoKey()
	}
	return s.native.turns.open(ctx, s.who.Sandbox.Tenant, key, text)
}

// errNoKey returns the refusal of a call that needs a key that is not set.
func errNoKey() error { return operatorapi.Because(operatorapi.Unavailable, "no_encryption_key") }

// CredentialKey implements [operatorapi.Sandbox].
func (s *sandbox) CredentialKey() *rsa.PublicKey {
	if key := s.native.credentialKey(); key != nil {
		return &key.PublicKey
	}
	return nil
}

// OpenCredential implements [operatorapi.Sandbox].
func (s *sandbox) OpenCredential(ctx context.Context, text []byte) ([]byte, error) {
	key := s.native.credentialKey()
	if key == nil {
		return nil, errNoKey()
	}
	return s.native.turns.open(ctx, s.who.Sandbox.Tenant, key.PrivateKey, text)
}

// RandomHex implements [operatorapi.Sandbox].
func (s *sandbox) RandomHex() (string, error) {
	var b [16]byte
	if _, err := io.ReadFull(s.native.random, b[:]); err != nil {
		return "", fmt.Errorf("making random digits: %w", err)
	}
	return fmt.Sprintf("%x", b), nil
}

// Now implements [operatorapi.Sandbox].
func (s *sandbox) Now(ctx context.Context) (time.Time, error) {
	if !s.who.Sandbox.Clocked {
		return s.native.now(), nil
	}
	clock, err := s.native.ledger.Clock(ctx, s.who.Sandbox.Tenant)
	return clock.Now, err
}

func hashOf(text string) sandboxes.KeyHash { return sha256.Sum256([]byte(text)) }
