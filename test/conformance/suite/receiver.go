package suite

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Delivery is one attempt to deliver an event.
type Delivery struct {
	Method string
	path   string
	Header http.Header
	Body   []byte
	Event  Object // nil if the body is not an object
}

// receiver is a merchant's endpoint. It acknowledges deliveries with valid signatures, unless a mark in the reference
// requests a failure.
type receiver struct {
	Secret string
	server *http.Server

	mu         sync.Mutex
	deliveries map[string][]Delivery // by transaction
	unsigned   []refusal             // deliveries with an invalid signature
	strayed    []string              // requests to the target of a redirect
	broken     error                 // why the receiver has stopped
}

// refusal is a refused delivery.
type refusal struct{ body, problem string }

func (r refusal) String() string { return shorten(r.body, 160) + ": " + r.problem }

// Marks in a reference that make the receiver refuse the first attempt.
const (
	FailsOnce = "-FAIL-ONCE-"
	MovesOnce = "-MOVE-ONCE-"
)

// elsewhere is the target of redirects.
const elsewhere = "/moved"

func listen(address, secret string) (*receiver, error) {
	r := &receiver{Secret: secret, deliveries: map[string][]Delivery{}}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	r.server = &http.Server{Handler: r, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		if err := r.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.broken = err
		}
	}()
	return r, nil
}

func (r *receiver) close() { _ = r.server.Close() }

// ServeHTTP takes a delivery.
func (r *receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if problem := SignatureProblem(r.Secret, request.Header, body); problem != "" {
		r.refuse(refusal{string(body), problem})
		http.Error(w, "bad signature", http.StatusUnauthorized)
		return
	}
	d := Delivery{Method: request.Method, path: request.URL.Path, Header: request.Header, Body: body}
	d.Event, _ = Answer{Body: body}.Object()
	first := r.keep(d)
	reference := TextOf(d.Event, "reference")
	switch {
	case first && strings.Contains(reference, FailsOnce):
		w.WriteHeader(http.StatusInternalServerError)
	case first && strings.Contains(reference, MovesOnce):
		http.Redirect(w, request, elsewhere, http.StatusTemporaryRedirect)
	default:
		w.WriteHeader(http.StatusNoContent)
	}
}

func (r *receiver) refuse(what refusal) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.unsigned = append(r.unsigned, what)
}

// keep stores a delivery and reports whether it is the first of its transaction.
func (r *receiver) keep(d Delivery) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if strings.HasPrefix(d.path, elsewhere) {
		r.strayed = append(r.strayed, d.Method+" "+d.path)
	}
	id := TextOf(d.Event, "tx_id")
	r.deliveries[id] = append(r.deliveries[id], d)
	return len(r.deliveries[id]) == 1
}

// Of returns the deliveries of a transaction so far.
func (r *receiver) Of(id string) []Delivery {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.deliveries[id])
}

// Trouble returns why the event of a transaction cannot arrive any more, if that is known.
func (r *receiver) Trouble(id string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.broken != nil {
		return fmt.Sprintf("the receiver has stopped: %v", r.broken)
	}
	for _, refused := range r.unsigned {
		if strings.Contains(refused.body, id) {
			return "a delivery was refused: " + refused.String()
		}
	}
	return ""
}

// Refusals are all refused deliveries.
func (r *receiver) Refusals() []refusal {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.unsigned)
}

// Strays are the requests that followed a redirect.
func (r *receiver) Strays() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.strayed)
}

// SignatureProblem verifies the signature of the raw body.
func SignatureProblem(secret string, header http.Header, body []byte) string {
	want := "sha256=" + hex.EncodeToString(digest([]byte(secret), string(body)))
	if got := header.Get("X-Service-Signature"); !hmac.Equal([]byte(got), []byte(want)) {
		return fmt.Sprintf("X-Service-Signature is %q, want %q", got, want)
	}
	return ""
}

// StandardProblem verifies the three headers of Standard Webhooks.
func StandardProblem(secret string, header http.Header, body []byte) string {
	id, timestamp := header.Get("webhook-id"), header.Get("webhook-timestamp")
	want := standardSignature(secret, id, timestamp, body)
	if got := header.Get("webhook-signature"); !slices.Contains(strings.Fields(got), want) {
		return fmt.Sprintf("webhook-signature is %q, want it to contain %q", got, want)
	}
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || time.Since(time.Unix(seconds, 0)).Abs() > 5*time.Minute {
		return fmt.Sprintf("webhook-timestamp is %q, want the time of the attempt in seconds", timestamp)
	}
	return ""
}

// standardSignature computes the signature. The key is the decoded whsec_ secret, or the bytes of any other secret.
func standardSignature(secret, id, timestamp string, body []byte) string {
	key := []byte(secret)
	if encoded, ok := strings.CutPrefix(secret, "whsec_"); ok {
		if decoded, err := base64.StdEncoding.DecodeString(encoded); err == nil {
			key = decoded
		}
	}
	return "v1," + base64.StdEncoding.EncodeToString(digest(key, id+"."+timestamp+"."+string(body)))
}

func digest(key []byte, message string) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(message))
	return mac.Sum(nil)
}
