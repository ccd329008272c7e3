package cases

import (
	"context"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/cauri-dev/cauri/test/load/bench"
	"github.com/cauri-dev/cauri/test/load/generator"
	"github.com/cauri-dev/cauri/test/load/report"
	"github.com/cauri-dev/cauri/test/system"
)

// slowClients measures how well normal clients are served while strangers without a key hold connections open.
func slowClients(ctx context.Context, b *bench.Bench) error {
	const connections = 8
	apis, err := b.Apis(ctx, 1)
	if err != nil {
		return err
	}
	sandboxes, err := b.AddSandboxes(ctx, b.Settings.Size(100), bench.Nobody)
	if err != nil {
		return err
	}
	if err := bench.Known(ctx, sandboxes, apis...); err != nil {
		return err
	}
	good := b.Writes("/v1/payments", 201, sandboxes, []string{system.Unregistered}, "success", apis...)
	alone, attacked := b.Closed(good, connections), b.Closed(good, connections)
	attacked.Name += " beside slow clients"
	attacked.Measure = func(ctx context.Context) (m report.Measured, err error) {
		end, err := attack(ctx, bench.AddressesOf(apis...)[0], b.Settings.Size(1000))
		if err != nil {
			return m, err
		}
		defer end()
		return b.Closed(good, connections).Measure(ctx)
	}
	results, err := b.InTurns(ctx, attacked, alone)
	if err != nil {
		return err
	}
	b.Against("beside slow clients; baseline: without them", "/s", results[0].Rates(), results[1].Rates()).WantAtLeast(0.8)
	b.Against("beside slow clients, p99 while as many as possible come", "ms", results[0].P99s(), results[1].P99s()).Show()
	b.Memory(apis[0].Process)
	return nil
}

// slowRequests are the first bytes of slow clients. Each client then sends one byte per second.
func slowRequests() []string {
	head := generator.Head("POST", "/v1/payments", "")
	return []string{
		"", "G", "GET /v1/health HTTP/1.1\r\nHost: x\r\nX-Slow: ", head,
		head + "Content-Length: 60000\r\n\r\n", head + "Transfer-Encoding: chunked\r\n\r\n",
	}
}

// attack holds n connections open, each slow in one way, and replaces closed ones. The result stops it.
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
		return nil, fmt.Errorf("starting slow clients: %w", err)
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
	return nil // the server closed it, as expected
}
