package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/cauri-dev/cauri/test/cluster/merchantapi"
)

// endpoint receives webhooks. It verifies before it parses, both ways that there are, fails closed, and writes down what came.
type endpoint struct {
	bindings map[string]binding

	mu       sync.Mutex
	behavior merchantapi.Behavior
	events   map[string]map[string]merchantapi.Event // by binding, by id
	refused  map[string][]string                     // by binding
}

func newEndpoint(bindings map[string]binding) *endpoint {
	e := &endpoint{bindings: bindings, events: map[string]map[string]merchantapi.Event{}, refused: map[string][]string{}}
	for name := range bindings {
		e.events[name] = map[string]merchantapi.Event{}
	}
	return e
}

func (e *endpoint) receive(w http.ResponseWriter, r *http.Request) {
	b, known := e.bindings[r.PathValue("binding")]
	if !known {
		http.NotFound(w, r)
		return
	}
	id := r.Header.Get("X-Service-Delivery")
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
	if err == nil {
		err = b.verify(r.Header, body)
	}
	var event merchantapi.Event
	if err == nil {
		err = json.Unmarshal(body, &event)
	}
	if err == nil && event.Event != r.Header.Get("X-Service-Event") {
		err = errors.New("the header X-Service-Event tells of " + r.Header.Get("X-Service-Event") + ", the body of " + event.Event)
	}
	if err != nil {
		e.refuse(b.name, fmt.Sprintf("%s: %v", id, err))
		http.Error(w, "refused", http.StatusUnauthorized)
		return
	}
	if e.acknowledges(r, e.write(b.name, id, event)) {
		w.WriteHeader(http.StatusNoContent)
	}
}

// verify checks the signature that the contract names and the one of Standard Webhooks.
func (b binding) verify(header http.Header, body []byte) error {
	mac := hmac.New(sha256.New, []byte(b.secret))
	mac.Write(body)
	want := "sha256=" + hex.EncodeToString(mac.Sum(nil))
	if b.secret == "" || !hmac.Equal([]byte(want), []byte(header.Get("X-Service-Signature"))) {
		return errors.New("X-Service-Signature does not match the body and the secret")
	}
	standard, err := standardwebhooks.NewWebhook(b.secret)
	if err != nil {
		return err
	}
	return standard.Verify(body, header)
}

// write notes an arrival, and returns after what time it is to be acknowledged.
func (e *endpoint) write(name, id string, event merchantapi.Event) time.Duration {
	e.mu.Lock()
	defer e.mu.Unlock()
	event.Arrived = e.events[name][id].Arrived + 1
	e.events[name][id] = event
	return e.behavior.AcknowledgeAfter
}

// acknowledges waits for its time, and returns false if the sender goes away first.
func (e *endpoint) acknowledges(r *http.Request, after time.Duration) bool {
	timer := time.NewTimer(after)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-r.Context().Done():
		return false
	}
}

func (e *endpoint) refuse(name, why string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.refused[name] = append(e.refused[name], why)
}

func (e *endpoint) behave(w http.ResponseWriter, r *http.Request) {
	var behavior merchantapi.Behavior
	if !read(w, r, &behavior) {
		return
	}
	e.mu.Lock()
	e.behavior = behavior
	e.mu.Unlock()
	w.WriteHeader(http.StatusNoContent)
}

func (e *endpoint) tell(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("binding")
	if _, known := e.bindings[name]; !known {
		http.NotFound(w, r)
		return
	}
	e.mu.Lock()
	arrivals := merchantapi.Arrivals{Events: maps.Clone(e.events[name]), Refused: slices.Clone(e.refused[name])}
	e.mu.Unlock()
	write(w, arrivals)
}
