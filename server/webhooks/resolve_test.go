package webhooks_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/cauri-dev/cauri/server/egress"
	"github.com/cauri-dev/cauri/server/webhooks"
)

// names is a DNS server. Each name has answers, which are given one after the other, the last one for ever.
type names struct {
	conn net.PacketConn

	mu      sync.Mutex
	answers map[string][][]netip.Addr
	asked   int
}

func newNames(t *testing.T, answers map[string][][]netip.Addr) *names {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	n := &names{conn: conn, answers: answers}
	go n.serve()
	return n
}

// resolver asks this server and no other.
func (n *names) resolver() *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", n.conn.LocalAddr().String())
	}}
}

func (n *names) serve() {
	buffer := make([]byte, 1500)
	for {
		size, from, err := n.conn.ReadFrom(buffer)
		if err != nil {
			return
		}
		var query dnsmessage.Message
		if query.Unpack(buffer[:size]) != nil || len(query.Questions) != 1 {
			continue
		}
		if answer, err := n.answer(&query); err == nil {
			_, _ = n.conn.WriteTo(answer, from)
		}
	}
}

func (n *names) answer(query *dnsmessage.Message) ([]byte, error) {
	question := query.Questions[0]
	response := dnsmessage.Message{
		Header:    dnsmessage.Header{ID: query.ID, Response: true, Authoritative: true, RecursionAvailable: true},
		Questions: query.Questions,
	}
	for _, address := range n.addresses(question.Name.String(), question.Type == dnsmessage.TypeA) {
		header := dnsmessage.ResourceHeader{Name: question.Name, Type: question.Type, Class: dnsmessage.ClassINET}
		var body dnsmessage.ResourceBody
		switch {
		case question.Type == dnsmessage.TypeA && address.Is4():
			body = &dnsmessage.AResource{A: address.As4()}
		case question.Type == dnsmessage.TypeAAAA && !address.Is4():
			body = &dnsmessage.AAAAResource{AAAA: address.As16()}
		default:
			continue
		}
		response.Answers = append(response.Answers, dnsmessage.Resource{Header: header, Body: body})
	}
	return response.Pack()
}

// addresses are those of a name. A look-up asks for IPv4 once, which is when the next answer's turn comes.
func (n *names) addresses(name string, next bool) []netip.Addr {
	n.mu.Lock()
	defer n.mu.Unlock()
	answers := n.answers[strings.TrimSuffix(name, ".")]
	if len(answers) == 0 {
		return nil
	}
	if next {
		n.asked++
		if len(answers) > 1 {
			n.answers[strings.TrimSuffix(name, ".")] = answers[1:]
		}
	}
	return answers[0]
}

func (n *names) lookups() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.asked
}

func addresses(texts ...string) (all []netip.Addr) {
	for _, text := range texts {
		all = append(all, netip.MustParseAddr(text))
	}
	return all
}

// rules reads deny rules.
func rules(t testing.TB, texts ...string) []egress.DenyRule {
	t.Helper()
	all, err := egress.ParseDenyRules(texts)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// onEveryAddress serves on a port of all of this machine's addresses, loopback as well as what containers and hosts call theirs.
func onEveryAddress(t *testing.T) (port string, hits *atomic.Int32) {
	t.Helper()
	hits = new(atomic.Int32)
	listener, err := net.Listen("tcp", ":0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) { hits.Add(1) }), ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
	_, port, err = net.SplitHostPort(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port, hits
}

// A name is no way around what its address is forbidden for, whichever family the address is of and however it is wrapped.
func TestNamesThatLeadToForbiddenAddresses(t *testing.T) {
	t.Parallel()
	port, hits := onEveryAddress(t)
	for _, address := range []string{
		"127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1", "::127.0.0.1", "64:ff9b::127.0.0.1", "2002:7f00:1::",
		"0.0.0.0", "0.1.2.3", "::", "::ffff:0.0.0.0",
		"169.254.169.254", "::ffff:169.254.169.254", "64:ff9b::169.254.169.254", "fd00:ec2::254", "fd20:ce::254",
		"100.100.100.200", "192.0.0.192", "168.63.129.16", "fe80::1", "224.0.0.1", "ff02::1", "255.255.255.255",
	} {
		t.Run(address, func(t *testing.T) {
			t.Parallel()
			n := newNames(t, map[string][][]netip.Addr{"receiver.test": {addresses(address)}})
			sender := webhooks.NewSender(egress.Guard{Resolver: n.resolver()}, "1.2.3", time.Now)
			sender.SetTimeout(time.Minute)
			r := sender.Send(t.Context(), delivery("http://receiver.test:"+port+"/"))
			var forbidden egress.ErrForbidden
			if !errors.As(r.Err, &forbidden) {
				t.Errorf("got %+v, want ErrForbidden", r)
			}
			if n.lookups() == 0 {
				t.Error("the name was not looked up here")
			}
			if hits.Load() != 0 {
				t.Error("the event was sent")
			}
		})
	}
}

// Where a name has an address that is forbidden beside one that is not, the forbidden one is not connected to.
func TestNameWithAForbiddenAndAnAllowedAddress(t *testing.T) {
	t.Parallel()
	port, hits := onEveryAddress(t)
	n := newNames(t, map[string][][]netip.Addr{"receiver.test": {addresses("127.0.0.2", "127.0.0.1")}})
	sender := webhooks.NewSender(egress.Guard{AllowLoopback: true, Deny: rules(t, "127.0.0.2"), Resolver: n.resolver()}, "1.2.3", time.Now)
	if r := sender.Send(t.Context(), delivery("http://receiver.test:"+port+"/")); r.Err != nil || hits.Load() != 1 {
		t.Errorf("got %+v, %d hits", r, hits.Load())
	}
}

// A name that is harmless when it is looked at and another when it is connected to gains nothing: what is checked is the
// address of the very connection. The first answer here is let through, every later one is forbidden, and the other way round.
func TestNameThatChangesItsAnswer(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		answers [][]netip.Addr
		sent    []bool
	}{
		"from allowed to forbidden": {[][]netip.Addr{addresses("127.0.0.1"), addresses("127.0.0.2")}, []bool{true, false, false}},
		"from forbidden to allowed": {[][]netip.Addr{addresses("127.0.0.2"), addresses("127.0.0.1")}, []bool{false, true, true}},
		"to and fro": {
			[][]netip.Addr{addresses("127.0.0.1"), addresses("127.0.0.2"), addresses("127.0.0.1")}, []bool{true, false, true},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			port, hits := onEveryAddress(t)
			n := newNames(t, map[string][][]netip.Addr{"receiver.test": c.answers})
			guard := egress.Guard{AllowLoopback: true, Deny: rules(t, "127.0.0.2"), Resolver: n.resolver()}
			var want int32
			for i, sent := range c.sent {
				// A sender of its own for each, so that no connection of before is used again.
				sender := webhooks.NewSender(guard, "1.2.3", time.Now)
				before := n.lookups()
				r := sender.Send(t.Context(), delivery("http://receiver.test:"+port+"/"))
				var forbidden egress.ErrForbidden
				if sent {
					want++
				}
				if sent != (r.Err == nil) || !sent && !errors.As(r.Err, &forbidden) || hits.Load() != want {
					t.Errorf("attempt %d: %+v, %d hits, want %d", i+1, r, hits.Load(), want)
				}
				if got := n.lookups() - before; got != 1 {
					t.Errorf("attempt %d looked the name up %d times, want once: what was checked has to be what is connected to", i+1, got)
				}
			}
		})
	}
}

// A receiver that redirects to a forbidden address, by name or not, is not followed there.
func TestRedirectionToAForbiddenAddress(t *testing.T) {
	t.Parallel()
	port, hits := onEveryAddress(t)
	for _, target := range []string{"http://127.0.0.2:" + port + "/", "http://inside.test:" + port + "/", "//127.0.0.2:" + port,
		"file:///etc/passwd"} {
		t.Run(target, func(t *testing.T) {
			t.Parallel()
			n := newNames(t, map[string][][]netip.Addr{"inside.test": {addresses("127.0.0.2")}})
			url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Location", target)
				w.WriteHeader(http.StatusTemporaryRedirect)
			})
			sender := webhooks.NewSender(egress.Guard{AllowLoopback: true, Deny: rules(t, "127.0.0.2"), Resolver: n.resolver()}, "1.2.3", time.Now)
			r := sender.Send(t.Context(), delivery(url))
			if r.Status != http.StatusTemporaryRedirect || r.Err == nil || hits.Load() != 0 || n.lookups() != 0 {
				t.Errorf("got %+v, %d hits, %d look-ups", r, hits.Load(), n.lookups())
			}
		})
	}
}

// A callback is held to its own rules: the URL is chosen by who has the API key, and may lead to public addresses only. What its name led
// to a moment before, a connection that a webhook keeps to the same name, and a second answer of the name change nothing.
func TestCallbackToANameThatChangesItsAnswer(t *testing.T) {
	t.Parallel()
	port, hits := onEveryAddress(t)
	n := newNames(t, map[string][][]netip.Addr{"receiver.test": {addresses("127.0.0.1"), addresses("127.0.0.2", "127.0.0.1"),
		addresses("10.0.0.1", "fd00::1", "127.0.0.1")}})
	sender := webhooks.NewSender(egress.Guard{AllowLoopback: true, Deny: rules(t, "127.0.0.2"), Resolver: n.resolver()}, "1.2.3", time.Now)
	url := "http://receiver.test:" + port + "/"
	if r := sender.Send(t.Context(), delivery(url)); r.Err != nil || hits.Load() != 1 {
		t.Fatalf("the webhook: %+v, %d hits", r, hits.Load())
	}
	call := webhooks.Callback{URL: url, Method: http.MethodPut, Header: http.Header{}, PublicOnly: true}
	var forbidden egress.ErrForbidden
	for range 2 {
		if r := sender.Call(t.Context(), call); !errors.As(r.Err, &forbidden) || hits.Load() != 1 {
			t.Errorf("the callback: %+v, %d hits, want ErrForbidden", r, hits.Load())
		}
	}
	call.PublicOnly = false // of a host that the sandbox names: it goes where webhooks go
	if r := sender.Call(t.Context(), call); r.Err != nil || hits.Load() != 2 {
		t.Errorf("the callback to a host that is named: %+v, %d hits", r, hits.Load())
	}
}

// A connection that is kept leads to the receiver that was checked: when its name leads elsewhere, also to a forbidden address, that one
// gets nothing, and the name is looked up again once the connection is gone.
func TestKeptConnectionOfANameThatChangesItsAnswer(t *testing.T) {
	t.Parallel()
	allowed, denied := new(atomic.Int32), new(atomic.Int32)
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.Context().Value(http.LocalAddrContextKey).(net.Addr).String(), "127.0.0.2:") {
			denied.Add(1)
		}
		if allowed.Add(1) == 2 {
			w.Header().Set("Connection", "close")
		}
	}), ReadHeaderTimeout: time.Minute}
	listener, err := net.Listen("tcp4", ":0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	n := newNames(t, map[string][][]netip.Addr{"receiver.test": {addresses("127.0.0.1"), addresses("127.0.0.2")}})
	sender := webhooks.NewSender(egress.Guard{AllowLoopback: true, Deny: rules(t, "127.0.0.2"), Resolver: n.resolver()}, "1.2.3", time.Now)
	var forbidden egress.ErrForbidden
	for attempt, sent := range []bool{true, true, false, false} {
		r := sender.Send(t.Context(), delivery("http://receiver.test:"+port+"/"))
		if sent != (r.Err == nil) || !sent && !errors.As(r.Err, &forbidden) {
			t.Errorf("attempt %d: %+v, want it to be sent: %t", attempt+1, r, sent)
		}
	}
	if allowed.Load() != 2 || denied.Load() != 0 {
		t.Errorf("%d requests came, %d of them at the forbidden address", allowed.Load(), denied.Load())
	}
}
