package ledgertest

import (
	"bytes"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
)

// Proxy is a proxy between a process and its database. It breaks connections in ways in which stopping the server does
// not.
type Proxy struct {
	listener net.Listener
	target   string

	mu      sync.Mutex
	open    chan struct{} // closed while packets pass
	cut     string        // the answer to a message with this text ends its connection; empty: none
	refuses bool
	conns   map[net.Conn]bool
	closed  bool
}

// NewProxy starts a proxy for the database at a URL. It returns the proxy and the URL of the database through the
// proxy. The proxy ends with the test.
func NewProxy(t testing.TB, database string) (*Proxy, string) {
	t.Helper()
	address, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{listener: listener, target: address.Host, open: make(chan struct{}), conns: map[net.Conn]bool{}}
	close(p.open)
	go p.serve()
	t.Cleanup(p.close)
	address.Host = listener.Addr().String()
	return p, address.String()
}

// Swallow lets no packet pass in either direction. Connections stay open, and new ones are accepted.
func (p *Proxy) Swallow() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open = make(chan struct{})
}

// Pass lets all packets pass again, the delayed ones first.
func (p *Proxy) Pass() {
	p.mu.Lock()
	defer p.mu.Unlock()
	close(p.open)
}

// CutAnswer ends the connection of the next statement that contains a text. It does so when the database has answered,
// before the answer passes. The statement must be sent whole, see [WholeStatements].
func (p *Proxy) CutAnswer(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut = text
}

// WholeStatements returns the URL of a database with the option that sends each statement whole, without preparing it
// first.
func WholeStatements(database string) string {
	address, err := url.Parse(database)
	if err != nil {
		panic(err) // this package made the URL
	}
	query := address.Query()
	query.Set("default_query_exec_mode", "exec")
	address.RawQuery = query.Encode()
	return address.String()
}

// Refuse ends all connections, and every new one at once.
func (p *Proxy) Refuse() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refuses = true
	for conn := range p.conns {
		_ = conn.Close()
	}
}

func (p *Proxy) serve() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		if p.keep(client) {
			go p.pass(client)
		}
	}
}

// pass connects a client with the database until one of them ends the connection.
func (p *Proxy) pass(client net.Conn) {
	defer p.drop(client)
	<-p.gate()
	server, err := net.Dial("tcp", p.target)
	if err != nil || !p.keep(server) {
		return
	}
	defer p.drop(server)
	var both sync.WaitGroup
	var cut atomic.Bool
	both.Go(func() {
		p.copy(server, client, func(sent []byte) bool { cut.Store(cut.Load() || p.cuts(sent)); return false })
	})
	both.Go(func() { p.copy(client, server, func([]byte) bool { return cut.Load() }) })
	both.Wait()
}

func (p *Proxy) copy(to, from net.Conn, cut func([]byte) bool) {
	defer func() { _, _ = to.Close(), from.Close() }()
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		<-p.gate()
		if n > 0 && cut(buffer[:n]) {
			return
		}
		if _, written := to.Write(buffer[:n]); written != nil || err != nil {
			return
		}
	}
}

func (p *Proxy) gate() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.open
}

// cuts reports whether the answer to a message is to be cut. It does so once for each CutAnswer.
func (p *Proxy) cuts(sent []byte) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cut == "" || !bytes.Contains(sent, []byte(p.cut)) {
		return false
	}
	p.cut = ""
	return true
}

func (p *Proxy) keep(conn net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.refuses {
		_ = conn.Close()
		return false
	}
	p.conns[conn] = true
	return true
}

func (p *Proxy) drop(conn net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = conn.Close()
	delete(p.conns, conn)
}

func (p *Proxy) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	_ = p.listener.Close()
	for conn := range p.conns {
		_ = conn.Close()
	}
	select {
	case <-p.open:
	default:
		close(p.open)
	}
}
