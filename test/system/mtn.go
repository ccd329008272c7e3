package system

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// nativeDigests are what the operators' own APIs accept of a sandbox with an API key, as the controller writes it.
func nativeDigests(key string) []byte {
	digests := sandboxes.NativeDigests{}
	for _, api := range operators.NativeAPIs() {
		c := api.Derive(key)
		digests[api.Operator] = sandboxes.DigestOf(c.Key, c.User, c.UserKey).With(c.Checked)
	}
	return digests.Encode()
}

// MTN calls MTN's own API, product collection, in one sandbox.
type MTN struct {
	Header http.Header // that each request needs
	base   string
	http   *http.Client
}

// MTN returns a client with a token. It returns when the api knows the sandbox.
func (s *Sandbox) MTN(ctx context.Context, api *API) (*MTN, error) {
	if _, err := s.Client(ctx, api); err != nil {
		return nil, err
	}
	c := operators.NativeAPI(payments.MTN).Derive(s.Key)
	m := &MTN{http.Header{}, api.URL + "/operators/mtn/collection", &http.Client{Transport: transport, Timeout: answerWithin}}
	m.Header.Set("Ocp-Apim-Subscription-Key", c.Key)
	m.Header.Set("X-Target-Environment", "mtnrwanda")
	return m, m.login(ctx, c)
}

func (m *MTN) login(ctx context.Context, c operatorapi.Credentials) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, m.base+"/token/", nil)
	if err != nil {
		return err
	}
	request.Header = m.Header.Clone()
	request.SetBasicAuth(c.User, c.UserKey)
	answer, err := (&Client{http: m.http}).do(request)
	var told struct {
		Token string `json:"access_token"`
	}
	if err == nil && (answer.Status != http.StatusOK || json.Unmarshal(answer.Body, &told) != nil) {
		err = answer.unexpected()
	}
	if err != nil {
		return fmt.Errorf("asking for a token: %w", err)
	}
	m.Header.Set("Authorization", "Bearer "+told.Token)
	return nil
}

// RequestToPay asks a payer for 100 francs. The outcome is told to callback, unless that is empty.
func (m *MTN) RequestToPay(ctx context.Context, reference, msisdn, callback string) (Answer, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, m.base+"/v1_0/requesttopay", bytes.NewReader(RequestToPay(msisdn)))
	if err != nil {
		return Answer{}, err
	}
	request.Header = m.Header.Clone()
	request.Header.Set("X-Reference-Id", reference)
	if callback != "" {
		request.Header.Set("X-Callback-Url", callback)
	}
	return (&Client{http: m.http}).do(request)
}

// RequestToPay is the body of a request to pay 100 francs.
func RequestToPay(msisdn string) []byte {
	return []byte(`{"amount":"100","currency":"RWF","externalId":"order-1042","payer":{"partyIdType":"MSISDN","partyId":"` + msisdn +
		`"},"payerMessage":"Two tickets","payeeNote":"shop"}`)
}
