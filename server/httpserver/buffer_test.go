package httpserver_test

import (
	"net"
	"net/http"
	"testing"

	"github.com/cauri-dev/cauri/server/httpserver"
)

type buffered struct {
	net.Conn
	bytes int
}

func (c *buffered) SetWriteBuffer(bytes int) error {
	c.bytes = bytes
	return nil
}

// The system keeps little for a client that does not read.
func TestSocketsKeepLittle(t *testing.T) {
	var conn buffered
	httpserver.HTTP(http.NotFoundHandler(), httpserver.Default).ConnState(&conn, http.StateNew)
	if conn.bytes != 64<<10 {
		t.Errorf("the buffer has %d bytes", conn.bytes)
	}
}
