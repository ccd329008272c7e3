package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/cauri-dev/cauri/test/load/generator"
	"github.com/cauri-dev/cauri/test/system"
)

// slowClients measures what good clients notice of strangers that hold connections open without a key.
func slowClients(ctx context.Context, b *bench) error {
	const connections = 8
	apis, err := b.apis(ctx, 1)
	if err != nil {
		return err
	}
	sandboxes, err := b.addSandboxes(ctx, b.settings.size(100), nobody)
	if err != nil {
		return err
	}
	if err := known(ctx, sandboxes, apis...); err != nil {
		return err
	}
	good := b.writes("/v1/payments", 201, sandboxes, []string{system.Unregistered}, "success", apis...)
	alone, attacked := b.closed(good, connections), b.closed(good, connections)
	attacked.name += " beside slow clients"
	attacked.measure = func(ctx context.Context) (m measured, err error) {
		end, err := attack(ctx, addressesOf(apis...)[0], b.settings.size(1000))
		if err != nil {
			return m, err
		}
		defer end()
		return b.closed(good, connections).measure(ctx)
	}
	results, err := b.inTurns(ctx, attacked, alone)
	if err != nil {
		return err
	}
	b.against("beside slow clients; floor: without them", "/s", results[0].rates(), results[1].rates()).atLeast(0.8)
	b.against("beside slow clients, p99 while as many as possible come", "ms", results[0].p99s(), results[1].p99s()).shown()
	b.memory(apis[0].Process)
	return nil
}

// slowRequests are what slow clients begin to send. Each goes on with a byte a second.
func slowRequests() []string {
	head := generator.Head("POST", "/v1/payments", "")
	return []string{
		"", "G", "GET /v1/health HTTP/1.1\r\nHost: x\r\nX-Slow: ", head,
		head + "Content-Length: 60000\r\n\r\n", head + "Transfer-Encoding: chunked\r\n\r\n",
	}
}

// attack holds so many connections open, each of them slow in one way, and opens another whenever one is closed. The result ends it.
func attack(ctx context.Context, address string, connections int) (end func(), err error) {
	ctx, cancel := context.WithCancel(ctx)
	requests := slowRequests()
	var clients sync.WaitGroup
	var open sync.WaitGroup
	failed := make(chan error, connections)
	for i := range connections {
		open.Add(1)
		clients.Go(func() {
			began := sync.OnceFunc(open.Done)
			defer began()
			for ctx.Err() == nil {
				if err := beSlow(ctx, address, requests[i%len(requests)], began); err != nil {
					failed <- err
					return
				}
			}
		})
	}
	open.Wait()
	end = func() { cancel(); clients.Wait() }
	select {
	case err := <-failed:
		end()
		return nil, fmt.Errorf("attacking by slow clients: %w", err)
	default:
		return end, nil
	}
}

// beSlow holds one connection open until the server closes it.
func beSlow(ctx context.Context, address, request string, began func()) error {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if ctx.Err() != nil {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	_, err = io.WriteString(conn, request)
	began()
	for tick := time.NewTicker(time.Second); err == nil; {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			_, err = io.WriteString(conn, "1")
		}
	}
	return nil // closed by the server, as it should be
}
