package webhooks

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"strconv"
	"strings"
	"time"

	"github.com/cauri-dev/cauri/server/egress"
	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/payments"
)

const (
	// AttemptTimeout bounds a whole attempt: name resolution, connection and response.
	AttemptTimeout = 10 * time.Second
	// keptBody is how many bytes of a response body are kept.
	keptBody = 4 << 10
	// idlePerHost is the maximum number of idle connections to one receiver. It equals a worker's number of concurrent
	// attempts, because the sandboxes of a team often send to one receiver.
	idlePerHost = 512
)

// Sender sends events. It is safe for concurrent use.
type Sender struct {
	transport transports
	public    transports    // goes to public addresses only
	timeout   time.Duration // of an attempt
	userAgent string
	// callbackAgent is the User-Agent of callbacks whose operator's is not known.
	callbackAgent string
	now           func() time.Time
}

// NewSender makes a sender that connects only where the guard allows it. The version is part of its User-Agent. The
// function now measures the duration of attempts. It also sets the time of deliveries that have none.
func NewSender(guard egress.Guard, version string, now func() time.Time) *Sender {
	publicOnly := guard
	publicOnly.PublicOnly = true
	return &Sender{
		transport: transportsOf(guard, egress.ClientOptions{Timeout: AttemptTimeout, Idle: 1024, IdlePerHost: idlePerHost}),
		public:    transportsOf(publicOnly, egress.ClientOptions{Timeout: AttemptTimeout, Idle: 64, IdlePerHost: 8}),
		timeout:   AttemptTimeout,
		userAgent: "Cauri-Webhooks/" + version, callbackAgent: "Cauri-Callbacks/" + version,
		now: now,
	}
}

// UserAgent returns the User-Agent of events.
func (s *Sender) UserAgent() string { return s.userAgent }

// Delivery is an event with what is needed to send it.
type Delivery struct {
	URL      string
	Secret   string
	Previous []string    // secrets that also sign during a rotation, the most recent first
	ID       payments.ID // of the transaction
	Type     payments.Type
	Body     []byte
	At       time.Time       // by the clock of the database; zero: by the clock of the sender
	Fault    *faults.Webhook // of the attempt; nil: none
}

// Result is the result of an attempt. Err is nil if and only if the receiver acknowledged the event.
type Result struct {
	StartedAt  time.Time
	Duration   time.Duration
	Status     int           // HTTP status; 0: no response
	Body       []byte        // first 4 KiB of the response
	RetryAfter time.Duration // from a 429 or 503; 0 for none
	Err        error         // never contains the secret or a password of the URL
	Signed     Signed        // the zero value if the URL is invalid
	Copies     []Result      // of the copies that were sent at the same moment, in the order in which they ended; nil: there was one
}

// Send makes one attempt. If its fault overlaps copies, the result is that of the copy that answered last.
func (s *Sender) Send(ctx context.Context, d Delivery) Result {
	if d.At.IsZero() {
		d.At = s.now()
	}
	if f := d.Fault; f != nil && f.Overlap {
		return lastAnswer(AtOnce(ctx, f.Duplicate, func(ctx context.Context) Result { return s.send(ctx, d) }))
	}
	return s.send(ctx, d)
}

// send sends one copy.
func (s *Sender) send(ctx context.Context, d Delivery) Result {
	began := s.now()
	r := Result{StartedAt: d.At}
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	request, signed, err := s.request(ctx, d)
	if err != nil {
		r.Err = err
	} else {
		r.Signed = signed
		s.do(s.transport.of(ctx), request, &r)
	}
	r.Duration = s.now().Sub(began)
	return r
}

// do sends a request and reads the answer. It needs no [http.Client]: a redirect is an answer like any other, and the
// context of the request ends at the timeout. An http.Client copies the header of each request for a redirect.
func (s *Sender) do(transport http.RoundTripper, request *http.Request, r *Result) {
	if user := request.URL.User; user != nil {
		password, _ := user.Password()
		request.SetBasicAuth(user.Username(), password)
	}
	var progress progress
	response, err := transport.RoundTrip(request.WithContext(httptrace.WithClientTrace(request.Context(), progress.trace())))
	if err != nil {
		r.Err = reason(err, progress.stage(), request.URL.Hostname())
		return
	}
	defer func() { _ = response.Body.Close() }()
	r.Status = response.StatusCode
	// Only the status counts, even if the body is incomplete or endless. After a switch of protocols, the body is the
	// bare connection, which no timeout ends.
	if r.Status != http.StatusSwitchingProtocols {
		r.Body, _ = io.ReadAll(io.LimitReader(response.Body, keptBody))
	}
	if r.Status < 200 || r.Status > 299 {
		r.Err = errAnswered{r.Status}
	}
	if r.Status == http.StatusTooManyRequests || r.Status == http.StatusServiceUnavailable {
		r.RetryAfter = retryAfter(response.Header.Get("Retry-After"), r.StartedAt)
	}
}

func (s *Sender) request(ctx context.Context, delivery Delivery) (*http.Request, Signed, error) {
	d := withFault(delivery, delivery.Fault)
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, d.URL, bytes.NewReader(d.sent))
	if err != nil {
		return nil, Signed{}, errors.New("the webhook's URL cannot be read")
	}
	signed := Sign(d.Delivery)
	request.Header.Set("User-Agent", s.userAgent)
	for _, h := range d.headers(&signed) {
		request.Header.Set(h.Name, h.Value)
	}
	return request, signed, nil
}

// reason says why there is no response, without the URL, which may contain a password.
func reason(err error, reached stage, host string) error {
	var forbidden egress.ErrForbidden
	if errors.As(err, &forbidden) {
		return errForbiddenReceiver{forbidden}
	}
	var name *net.DNSError // a server of names that does not answer is a timeout too
	if errors.As(err, &name) {
		return err
	}
	var late interface{ Timeout() bool }
	if errors.As(err, &late) && late.Timeout() {
		return errLate{AttemptTimeout, reached, host}
	}
	return err
}

// retryAfter reads a Retry-After header: seconds or a date.
func retryAfter(value string, now time.Time) time.Duration {
	value = strings.TrimSpace(value)
	if seconds, err := strconv.Atoi(value); err == nil {
		return time.Duration(max(0, min(seconds, int(time.Hour/time.Second)*24))) * time.Second
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}
