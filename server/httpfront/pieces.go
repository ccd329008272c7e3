package httpfront

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"
)

// pieceSize is the approximate size of a piece in bytes. Until the whole body is written, an answer in pieces counts as
// one piece of unread bytes.
const pieceSize = 256 << 10

// errDraining ends the writing of pieces when the process is told to stop.
var errDraining = errors.New("the process is told to stop")

// writePieces writes an answer piece by piece. If this fails, it marks the call, so that the connection is closed.
func (x *Pipeline) writePieces(ctx context.Context, c *call, a *Answer, body Pieces) {
	release, ok := x.unread.acquire(c.organization(), c.guest, pieceSize)
	if !ok {
		x.write(&c.out, c, &x.options.Overloaded)
		return
	}
	defer release()
	header := c.out.Header()
	for name, values := range a.Header {
		header[name] = values
	}
	header.Set("Content-Type", body.ContentType())
	c.out.WriteHeader(a.Status)
	if isHead(c.request) {
		return
	}
	var text []byte
	for err := error(nil); err == nil; {
		if text, err = x.writePiece(ctx, c, body, text[:0]); err != nil && !errors.Is(err, io.EOF) {
			c.cut = true
			if !errors.Is(err, errGone) && !errors.Is(err, errDraining) {
				x.LogFailure(ctx, err)
			}
		}
	}
}

// errGone is returned when the client has disconnected or does not read.
var errGone = errors.New("the client does not read the answer")

// writePiece reads and writes the next piece. It returns the buffer for the next one.
func (x *Pipeline) writePiece(ctx context.Context, c *call, body Pieces, text []byte) ([]byte, error) {
	select {
	case <-x.draining:
		return text, errDraining
	default:
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), AnswerTimeout)
	defer cancel()
	text, ended := c.next(ctx, body, text)
	if ended != nil && !errors.Is(ended, io.EOF) {
		return text, ended
	}
	connection := http.NewResponseController(c.out.ResponseWriter)
	_ = connection.SetWriteDeadline(time.Now().Add(x.streamWrite)) // an error means that the connection is closed
	if _, err := c.out.Write(text); err != nil {
		return text, errGone
	}
	return text, ended
}

// next reads the next piece. A guest waits for a turn.
func (c *call) next(ctx context.Context, body Pieces, text []byte) ([]byte, error) {
	if c.turns != nil {
		end, err := c.turns.acquire(ctx)
		if err != nil {
			return text, err
		}
		defer end()
	}
	return body.Next(ctx, text)
}
