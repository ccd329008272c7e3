package httpfront

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/service"
)

// text is a body.
type text string

func (text) ContentType() string                    { return "text/plain" }
func (t text) Append(before []byte) ([]byte, error) { return append(before, t...), nil }

// serve answers a request with a handler of a front that tells every error as 418.
func serve(x *Pipeline, h OpenHandler) (*httptest.ResponseRecorder, any) {
	front := &Front{
		Failed: func(_ *http.Request, err error) Answer {
			return Answer{Status: http.StatusTeapot, Body: text(err.Error()), Code: "failed"}
		},
		Kept: func(string, string) LoggedFields { return LoggedFields{} },
	}
	router, recorder := chi.NewRouter(), httptest.NewRecorder()
	x.Use(router, front)
	router.Get("/", x.Handle(front, h))
	var cause any
	func() {
		defer func() { cause = recover() }()
		router.ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, "/", nil))
	}()
	return recorder, cause
}

func newPipeline() *Pipeline {
	return New(Options{
		Now: time.Now, Log: slog.New(slog.DiscardHandler), Held: NewHeldAnswers(HeldBounds{}, nil), Version: "1",
		RoutedPath: func(u *url.URL) string { return u.Path },
		Overloaded: Answer{
			Status: http.StatusServiceUnavailable, Header: http.Header{"Retry-After": {"1"}}, Body: text("overloaded"),
		},
	})
}

func TestAnswersOfHandlers(t *testing.T) {
	t.Parallel()
	drops := service.ErrFault{Fault: &faults.Fault{API: &faults.API{DropConnection: faults.BeforeCommit}}}
	for name, c := range map[string]struct {
		handler OpenHandler
		status  int
		body    string
	}{
		"a body":   {answering(Answer{Status: http.StatusOK, Body: text("fine")}, nil), http.StatusOK, "fine"},
		"no body":  {answering(Answer{Status: http.StatusNoContent}, nil), http.StatusNoContent, ""},
		"an error": {answering(Answer{}, errors.New("wrong")), http.StatusTeapot, "wrong"},
		"a panic":  {func(http.ResponseWriter, *http.Request) (Answer, error) { panic("oh") }, http.StatusTeapot, "panic: oh"},
		"later":    {answering(Answer{Status: http.StatusOK, Due: time.Now().Add(time.Millisecond), Body: text("late")}, nil), http.StatusOK, "late"},
		"nothing":  {answering(Answer{}, drops), 0, ""},
	} {
		got, cause := serve(newPipeline(), c.handler)
		if c.status == 0 {
			if cause != http.ErrAbortHandler {
				t.Errorf("%s: the connection is not closed: %v", name, cause)
			}
			continue
		}
		if got.Code != c.status || !strings.HasPrefix(got.Body.String(), c.body) || cause != nil {
			t.Errorf("%s: %d %s, %v", name, got.Code, got.Body, cause)
		}
		if got.Header().Get("X-Request-Id") == "" || got.Header().Get("X-Service-Api-Version") != "1" {
			t.Errorf("%s: the headers are %v", name, got.Header())
		}
	}
}

// What an answer waits for is not bounded by the time of a handler, and what it comes to is answered as a handler's answer is.
func TestAnswersThatAwait(t *testing.T) {
	t.Parallel()
	full := newPipeline()
	full.held = NewHeldAnswers(HeldBounds{Sandbox: 1}, nil)
	full.held.Acquire("")
	waits := func(ctx context.Context) (Answer, error) {
		if _, bounded := ctx.Deadline(); bounded {
			return Answer{}, errors.New("bounded")
		}
		select {
		case <-ctx.Done():
			return Answer{Status: http.StatusAccepted, Body: text("not yet")}, nil
		default:
			return Answer{Status: http.StatusOK, Body: text("done")}, nil
		}
	}
	fails := func(context.Context) (Answer, error) { return Answer{}, errors.New("wrong") }
	panics := func(context.Context) (Answer, error) { panic("oh") }
	due := func(context.Context) (Answer, error) {
		return Answer{Status: http.StatusOK, Due: time.Now().Add(time.Hour)}, nil
	}
	for name, c := range map[string]struct {
		x      *Pipeline
		await  func(context.Context) (Answer, error)
		status int
		body   string
	}{
		"an answer":       {newPipeline(), waits, http.StatusOK, "done"},
		"one too many":    {full, waits, http.StatusAccepted, "not yet"},
		"an error":        {newPipeline(), fails, http.StatusTeapot, "wrong"},
		"a panic":         {newPipeline(), panics, http.StatusTeapot, "panic: oh"},
		"one that is due": {newPipeline(), due, http.StatusOK, ""},
	} {
		got, cause := serve(c.x, answering(Answer{Await: c.await}, nil))
		if got.Code != c.status || !strings.HasPrefix(got.Body.String(), c.body) || cause != nil {
			t.Errorf("%s: %d %s, %v", name, got.Code, got.Body, cause)
		}
	}
}

func answering(a Answer, err error) OpenHandler {
	return func(http.ResponseWriter, *http.Request) (Answer, error) { return a, err }
}

// A large answer that would be one too many that nobody reads is refused, without what belongs to it.
func TestLargeAnswerIsRefused(t *testing.T) {
	t.Parallel()
	x := newPipeline()
	release, _ := x.unread.acquire("", false, x.unread.bounds.Sandbox)
	defer release()
	large := Answer{
		Status: http.StatusOK, Header: http.Header{"Link": {"<next>"}, "Content-Encoding": {"gzip"}}, Body: text(strings.Repeat("x", largeAnswer)),
	}
	got, _ := serve(x, answering(large, nil))
	if got.Code != http.StatusServiceUnavailable || got.Body.String() != "overloaded" || got.Header().Get("Link")+got.Header().Get("Content-Encoding") != "" ||
		got.Header().Get("Retry-After") != "1" {
		t.Errorf("%d %s %v", got.Code, got.Body, got.Header())
	}
}

func TestFaultsAreCarriedOut(t *testing.T) {
	t.Parallel()
	now, delay := time.Now(), faults.Duration(time.Minute)
	fault := func(a faults.API) *faults.Fault { return &faults.Fault{Name: "bad", API: &a} }
	told := &faults.Fault{Name: "pending", Operator: &faults.Operator{Reason: "x"}}
	for name, c := range map[string]struct {
		faults service.RequestFaults
		status int
		body   string
		due    time.Time
		names  string
	}{
		"none":      {service.RequestFaults{}, http.StatusOK, "whole", time.Time{}, ""},
		"late":      {service.RequestFaults{ToAnswer: fault(faults.API{Delay: &delay})}, http.StatusOK, "whole", now.Add(time.Minute), "bad"},
		"dropped":   {service.RequestFaults{ToAnswer: fault(faults.API{DropConnection: faults.AfterCommit})}, 0, "whole", time.Time{}, "bad"},
		"malformed": {service.RequestFaults{ToAnswer: fault(faults.API{MalformedBody: true})}, http.StatusOK, "wh", time.Time{}, "bad"},
		"of a status": {
			service.RequestFaults{ToAnswer: fault(faults.API{}), ToStatus: told}, http.StatusOK, "whole", time.Time{},
			"bad pending",
		},
		"the same for both": {service.RequestFaults{ToAnswer: told, ToStatus: told}, http.StatusOK, "whole", time.Time{}, "pending"},
	} {
		if c.faults.ToAnswer == told { // a fault of a status has an answer too if it delays that
			told.Operator.Delay = new(faults.Duration)
		}
		a := applyFaults(&c.faults, Answer{Status: http.StatusOK, Body: text("whole")}, now)
		body, err := a.Body.Append(nil)
		if names := strings.Join(a.Header.Values(faults.Header), " "); err != nil || a.Status != c.status || string(body) != c.body ||
			!a.Due.Equal(c.due) || names != c.names {
			t.Errorf("%s: %d %q at %v, by %q", name, a.Status, body, a.Due, names)
		}
	}
}

// What may be held is bounded for each organization, and for all.
func TestHeldAnswersAreBounded(t *testing.T) {
	t.Parallel()
	h := NewHeldAnswers(HeldBounds{Process: 3, Sandbox: 2}, nil)
	first, ok := h.Acquire("a")
	_, second := h.Acquire("a")
	_, third := h.Acquire("a")
	_, other := h.Acquire("b")
	_, fifth := h.Acquire("c")
	if !ok || !second || third || !other || fifth || h.Count("a") != 2 {
		t.Errorf("%t %t %t %t %t, %d are held", ok, second, third, other, fifth, h.Count("a"))
	}
	first()
	if _, ok := h.Acquire("c"); !ok || h.Count("a") != 1 {
		t.Error("what is given back is not there for others")
	}
}
