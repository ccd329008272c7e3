package generator

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"
	"time"
)

// connection is one keep-alive connection. It implements only the part of HTTP/1.1 that answers of a correct server
// need.
type connection struct {
	address string
	mu      sync.Mutex // guards writes to conn, and reads by other goroutines
	conn    net.Conn   // nil if closed
	reader  *bufio.Reader
	request []byte // reused
	body    []byte // of the last answer, reused
}

func (c *connection) dial(ctx context.Context) error {
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "tcp", c.address)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.conn, c.reader = conn, bufio.NewReaderSize(conn, 16<<10)
	return nil
}

func (c *connection) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conn != nil {
		_ = c.conn.Close()
	}
	c.conn = nil
}

// until sets the deadline of exchanges, including one in progress.
func (c *connection) until(moment time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conn == nil {
		return nil
	}
	return c.conn.SetDeadline(moment)
}

// exchange sends c.request and reads the answer. After an error the connection is closed.
func (c *connection) exchange() (status int, err error) {
	if _, err = c.conn.Write(c.request); err == nil {
		status, err = c.answer()
	}
	if err != nil {
		c.close()
	}
	return status, err
}

// answer reads an answer up to its end.
func (c *connection) answer() (status int, err error) {
	line, err := c.line()
	if err != nil {
		return 0, err
	}
	if status, err = statusOf(line); err != nil {
		return 0, err
	}
	length, chunked := -1, false
	for {
		if line, err = c.line(); err != nil {
			return 0, err
		}
		if len(line) == 0 {
			break
		}
		if value, found := header(line, "content-length"); found {
			if length, err = strconv.Atoi(string(value)); err != nil || length < 0 {
				return 0, fmt.Errorf("the answer's Content-Length is %q", value)
			}
		} else if value, found := header(line, "transfer-encoding"); found {
			chunked = bytes.EqualFold(value, []byte("chunked"))
		}
	}
	c.body = c.body[:0]
	switch {
	case status == 204 || status == 304:
		return status, nil
	case chunked:
		return status, c.chunks()
	case length >= 0:
		return status, c.read(length)
	}
	return 0, errors.New("the answer does not state its length")
}

// chunks reads a chunked body and its trailers.
func (c *connection) chunks() error {
	for {
		line, err := c.line()
		if err != nil {
			return err
		}
		text, _, _ := bytes.Cut(line, []byte(";"))
		size, err := strconv.ParseUint(string(text), 16, 31)
		if err != nil {
			return fmt.Errorf("the answer has a chunk of length %q", text)
		}
		if size > 0 {
			if err := c.read(int(size)); err != nil {
				return err
			}
		}
		for { // the end of the chunk, or the trailers
			if line, err = c.line(); err != nil {
				return err
			}
			if size > 0 || len(line) == 0 {
				break
			}
		}
		if size == 0 {
			return nil
		}
	}
}

// read appends n bytes to the body.
func (c *connection) read(n int) error {
	begin := len(c.body)
	if cap(c.body) < begin+n {
		c.body = append(make([]byte, 0, 2*(begin+n)), c.body...)
	}
	c.body = c.body[:begin+n]
	_, err := io.ReadFull(c.reader, c.body[begin:])
	return err
}

// line reads a line, without its end.
func (c *connection) line() ([]byte, error) {
	line, err := c.reader.ReadSlice('\n')
	if err != nil {
		return nil, err
	}
	return bytes.TrimRight(line, "\r\n"), nil
}

func statusOf(line []byte) (int, error) {
	if len(line) >= 12 && bytes.HasPrefix(line, []byte("HTTP/1.1 ")) {
		if status, err := strconv.Atoi(string(line[9:12])); err == nil {
			return status, nil
		}
	}
	return 0, fmt.Errorf("the answer begins with %q", line)
}

// header returns the value of a header line if it has the name. The name must be in lower case.
func header(line []byte, name string) ([]byte, bool) {
	if len(line) <= len(name) || line[len(name)] != ':' || !bytes.EqualFold(line[:len(name)], []byte(name)) {
		return nil, false
	}
	return bytes.TrimSpace(line[len(name)+1:]), true
}
