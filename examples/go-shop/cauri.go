package main

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// cauri is all that a shop needs of Cauri's API. No client library, and no module.
type cauri struct {
	uri, key, secret string // CAURI_URI, CAURI_API_KEY, CAURI_WEBHOOK_SECRET
}

// payment is what the shop reads of a payment.
type payment struct {
	ID     string `json:"id"`
	Status string `json:"status"`
}

// collect asks a customer's phone to pay. The answer is PENDING, or already final; the final status comes as a webhook.
func (c cauri) collect(ctx context.Context, amount int64, msisdn, reference, order string) (p payment, err error) {
	err = c.call(ctx, http.MethodPost, "/v1/payments", map[string]any{
		"application": "shop", "amount": amount, "currency": "RWF", "msisdn": msisdn, "reference": reference, "order_ref": order,
	}, &p)
	return p, err
}

// payment asks for a payment.
func (c cauri) payment(ctx context.Context, id string) (p payment, err error) {
	err = c.call(ctx, http.MethodGet, "/v1/payments/"+id, nil, &p)
	return p, err
}

// refund pays all of a payment back.
func (c cauri) refund(ctx context.Context, id, reference string) (p payment, err error) {
	err = c.call(ctx, http.MethodPost, "/v1/payments/"+id+"/refund", map[string]any{"reference": reference}, &p)
	return p, err
}

// verified reports whether a webhook is genuine. The body is what arrived, byte for byte.
func (c cauri) verified(body []byte, headers http.Header) bool {
	mac := hmac.New(sha256.New, []byte(c.secret))
	mac.Write(body)
	want := []byte("sha256=" + hex.EncodeToString(mac.Sum(nil)))
	return c.secret != "" && (hmac.Equal([]byte(headers.Get("X-Service-Signature")), want) ||
		hmac.Equal([]byte(headers.Get("X-Service-Signature-Previous")), want)) // during a rotation of the secret
}

// refusal is an answer that says what is wrong with a request. Sent again, the request is refused again.
type refusal struct{ Code, Message string }

func (r refusal) Error() string { return r.Code + ": " + r.Message }

// call repeats a request whose answer is lost, is no JSON, or asks for patience: its reference makes sure that it counts once.
func (c cauri) call(ctx context.Context, method, path string, body, answer any) (err error) {
	for attempt := range 3 {
		var wait time.Duration
		if wait, err = c.once(ctx, method, path, body, answer); err == nil || errors.As(err, new(refusal)) || wait > 5*time.Second {
			return err // who waits longer asks again later
		}
		if attempt < 2 {
			time.Sleep(wait)
		}
	}
	return err
}

// An operator's timeout takes up to 35 s.
var client = http.Client{Timeout: 40 * time.Second}

// once sends a request. If it fails and is no [refusal], it may be sent again after a while.
func (c cauri) once(ctx context.Context, method, path string, body, answer any) (wait time.Duration, err error) {
	var encoded []byte
	if body != nil {
		if encoded, err = json.Marshal(body); err != nil {
			return 0, err
		}
	}
	request, err := http.NewRequestWithContext(ctx, method, c.uri+"/api"+path, bytes.NewReader(encoded))
	if err != nil {
		return 0, err
	}
	request.Header.Set("Authorization", "Bearer "+c.key)
	request.Header.Set("Content-Type", "application/json")
	wait = 500 * time.Millisecond
	response, err := client.Do(request)
	if err != nil {
		return wait, err
	}
	defer response.Body.Close()
	if response.StatusCode/100 == 2 {
		return wait, json.NewDecoder(response.Body).Decode(answer)
	}
	if seconds, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil {
		wait = time.Duration(seconds) * time.Second
	}
	var problem struct{ Error, Message string }
	if err := json.NewDecoder(response.Body).Decode(&problem); err != nil {
		return wait, fmt.Errorf("%s %s: %s", method, path, response.Status)
	}
	refused := refusal{problem.Error, problem.Message}
	if response.StatusCode >= 500 || response.StatusCode == http.StatusTooManyRequests {
		return wait, fmt.Errorf("%s %s: %s", method, path, refused.Error())
	}
	return 0, fmt.Errorf("%s %s: %w", method, path, refused)
}
