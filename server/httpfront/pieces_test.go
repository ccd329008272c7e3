package httpfront

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"
)

// pieces is a body of a number of pieces, which ends with an error.
type pieces struct {
	text
	left int
	end  error
}

func (p *pieces) Next(ctx context.Context, before []byte) ([]byte, error) {
	if len(before) > 0 {
		return nil, errors.New("the buffer has the former piece")
	}
	if p.left--; p.left > 0 || ctx.Err() != nil {
		return append(before, p.text...), ctx.Err()
	}
	return append(before, p.text...), p.end
}

func TestPiecesAreWrittenUntilTheirEnd(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		end  error
		full UnreadBounds
		want string
		cut  bool
	}{
		"to the end":          {end: io.EOF, want: strings.Repeat("piece,", 3)},
		"to an error":         {end: errors.New("reading failed"), want: strings.Repeat("piece,", 2), cut: true},
		"without enough room": {end: io.EOF, full: UnreadBounds{Process: 1, Sandbox: 1}, want: "overloaded"},
	} {
		x := newPipeline()
		if c.full.Process > 0 {
			x.unread.bounds = c.full
			full := unread{all: pieceSize}
			x.unread.all, x.unread.of[""] = full, full
		}
		got, cause := serve(x, answering(Answer{Status: http.StatusOK, Body: &pieces{"piece,", 3, c.end}}, nil))
		if got.Body.String() != c.want || (cause == http.ErrAbortHandler) != c.cut {
			t.Errorf("%s: %d %q, %v, want %q", name, got.Code, got.Body, cause, c.want)
		}
		if c.full.Process == 0 && x.unread.all.all != 0 {
			t.Errorf("%s: %d bytes count as unread", name, x.unread.all.all)
		}
	}
}

func TestHeadReadsNoPieces(t *testing.T) {
	t.Parallel()
	x, body := newPipeline(), &pieces{"piece,", 3, io.EOF}
	router, recorder := chi.NewRouter(), httptest.NewRecorder()
	x.Use(router, nil)
	router.Get("/", x.Handle(nil, answering(Answer{Status: http.StatusOK, Body: body}, nil)))
	router.ServeHTTP(recorder, httptest.NewRequest(http.MethodHead, "/", nil))
	if recorder.Code != http.StatusOK || recorder.Header().Get("Content-Type") != "text/plain" || body.left != 3 || x.unread.all.all != 0 {
		t.Errorf("HEAD is answered %d %v, and %d pieces are left", recorder.Code, recorder.Header(), body.left)
	}
}

func TestPiecesEndWithTheProcess(t *testing.T) {
	t.Parallel()
	draining := make(chan struct{})
	x := newPipeline()
	x.draining = draining
	close(draining)
	got, cause := serve(x, answering(Answer{Status: http.StatusOK, Body: &pieces{"piece,", 1 << 40, io.EOF}}, nil))
	if got.Body.Len() > 0 || cause != http.ErrAbortHandler {
		t.Errorf("%q, %v", got.Body, cause)
	}
}
