package cases

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cauri-dev/cauri/test/load/bench"
	"github.com/cauri-dev/cauri/test/load/generator"
	"github.com/cauri-dev/cauri/test/load/growth"
	"github.com/cauri-dev/cauri/test/load/report"
	"github.com/cauri-dev/cauri/test/system"
)

const (
	// openConsoles is the number of open consoles of a sandbox.
	openConsoles = 10
	// pageLimit is the target of the 95th percentile of each page, in milliseconds.
	pageLimit = 100
	// pageRate is the number of pages that are opened in a second.
	pageRate = 20
	// loggedRequests is how many requests the log of a sandbox keeps.
	loggedRequests = 500
)

// console measures what open consoles cost the creates of other sandboxes, and the pages of a sandbox with many
// transactions.
func console(ctx context.Context, b *bench.Bench) error {
	if err := followedCreates(ctx, b); err != nil {
		return err
	}
	return beside(ctx, b, func(grown *bench.Bench) error { return consolePages(ctx, grown) })
}

// followedCreates measures creates with and without open consoles: of other sandboxes while nothing happens in the
// followed one, the same while it has a payment a second, and of the followed sandbox itself.
func followedCreates(ctx context.Context, b *bench.Bench) error {
	const connections = 8
	api, err := b.StartAPI(ctx, "api")
	if err != nil {
		return err
	}
	sandboxes, err := b.AddSandboxes(ctx, b.Settings.Size(100), bench.Nobody)
	if err != nil {
		return err
	}
	followed, err := b.AddSandbox(ctx, "followed", bench.Nobody)
	if err != nil {
		return err
	}
	if err := bench.Known(ctx, append(sandboxes, followed), api); err != nil {
		return err
	}
	client, err := followed.Client(ctx, api)
	if err != nil {
		return err
	}
	v, err := openConsole(ctx, api, followed.Config.Namespace, followed.Config.Name, followed.Key)
	if err != nil {
		return err
	}
	others := b.Writes("/v1/payments", 201, sandboxes, []string{system.Unregistered}, "success", api)
	others.Booked = func(ctx context.Context) (int64, error) { // without those of the followed sandbox
		return b.Count(ctx, "select count(*) from transactions where tenant <> $1", followed.Tenant)
	}
	own := b.Writes("/v1/payments", 201, []*system.Sandbox{followed}, []string{system.Unregistered}, "success", api)
	paid := 0
	payments := func(ctx context.Context) error { // a payment a second
		for {
			paid++
			payment := system.NewPayment(fmt.Sprintf("followed-%d", paid), system.Unregistered, "success")
			if _, err := client.Insist(ctx, "/payments", payment); err != nil || !system.Rest(ctx, time.Second) {
				return err
			}
		}
	}
	consoles := func(ctx context.Context) error { return v.follow(ctx, openConsoles) }
	for _, of := range []struct {
		name    string
		subject bench.Subject
		always  func(context.Context) error // beside both sides
		atLeast float64                     // 0: no target
	}{
		{"for others beside 10 open consoles of a quiet sandbox", others, nil, 0.98},
		{"for others beside 10 open consoles of a sandbox with a payment a second", others, payments, 0},
		{"in a sandbox that 10 open consoles follow", own, nil, 0},
	} {
		without := besides(b.Closed(of.subject, connections), of.always)
		with := besides(without, consoles)
		with.Name = of.name
		results, err := b.InTurns(ctx, with, without)
		if err != nil {
			return err
		}
		f := b.Against("created "+of.name+"; baseline: without consoles", "/s", results[0].Rates(), results[1].Rates()).Show()
		if of.atLeast > 0 {
			f.WantAtLeast(of.atLeast)
		}
		b.Against("created "+of.name+", p99", "ms", results[0].P99s(), results[1].P99s())
	}
	b.Memory(api.Process)
	return nil
}

// besides is a side beside something that goes on for as long; nil for nothing.
func besides(side bench.Side, what func(context.Context) error) bench.Side {
	if what == nil {
		return side
	}
	return bench.Side{Name: side.Name, Measure: func(ctx context.Context) (m report.Measured, err error) {
		beside, end := context.WithCancel(ctx)
		failed := make(chan error, 1)
		go func() { failed <- what(beside) }()
		m, err = side.Measure(ctx)
		end()
		if goneWrong := <-failed; goneWrong != nil && !errors.Is(goneWrong, context.Canceled) {
			err = errors.Join(err, goneWrong)
		}
		return m, err
	}}
}

// consolePages measures the pages of a sandbox with -transactions transactions. Another sandbox has as many.
func consolePages(ctx context.Context, b *bench.Bench) error {
	total := int64(b.Settings.Size(b.Settings.Transactions))
	conn, err := b.SQL.Acquire(ctx)
	if err != nil {
		return err
	}
	_, err = growth.Fill(ctx, conn.Conn(), growth.Size{Transactions: 2 * total, Sandboxes: 2, Large: total}, func(string) {})
	conn.Release()
	if err != nil {
		return err
	}
	api, err := b.StartAPI(ctx, "api")
	if err != nil {
		return err
	}
	if err := verified(ctx, b); err != nil {
		return err
	}
	if err := failRequests(ctx, api, loggedRequests); err != nil {
		return err
	}
	v, err := openConsole(ctx, api, "growth", "growth-1", growth.Key(1))
	if err != nil {
		return err
	}
	payment, err := v.link(ctx, "/payments", regexp.MustCompile(`href="(payments/TX_[^"]+)"`))
	if err != nil {
		return err
	}
	event, err := v.link(ctx, "/webhooks", regexp.MustCompile(`href="(webhooks/evt_[^"]+)"`))
	if err != nil {
		return err
	}
	older, err := v.link(ctx, "/payments", regexp.MustCompile(`href="(payments\?[^"]+)">Older<`))
	if err != nil {
		return err
	}
	for _, path := range []string{
		"/overview", "/payments", "/payments?status=TIMEOUT", "/payments?type=refund&market=mtn-RW", "/payments?order=none", older, payment,
		"/webhooks", event, "/requests", "/ledger", "/ledger/RWF", "/setup",
	} {
		page := reads("GET "+path, []string{v.head(path)}, bench.AddressesOf(api))
		results, err := b.InTurns(ctx, b.Open(page, pageRate))
		if err != nil {
			return err
		}
		name := regexp.MustCompile(`_[0-9A-Z]{26}|=[\w-]{30,}`).ReplaceAllString(path, "...")
		b.Add(report.Figure{
			Name: fmt.Sprintf("%s of %s transactions, p95", name, report.Number(float64(total))), Unit: "ms", Value: results[0].P95s(),
		}).WantAtMost(pageLimit)
	}
	b.Memory(api.Process)
	return nil
}

// verified starts a worker and waits until it has verified the ledgers, since pages add what came since then.
func verified(ctx context.Context, b *bench.Bench) error {
	if _, err := b.StartWorker(ctx, "worker"); err != nil {
		return err
	}
	return system.Until(ctx, caseLimit, "the worker has verified the ledgers", func(ctx context.Context) error {
		left, err := b.Count(ctx, `select count(*) from organizations o
			where not exists (select from ledger_proofs p where p.tenant = o.tenant and p.passed_at is not null)`)
		if err == nil && left > 0 {
			err = fmt.Errorf("%d ledgers are not verified", left)
		}
		return err
	})
}

// failRequests sends requests that are refused, and kept in the log of the first sandbox.
func failRequests(ctx context.Context, api *system.API, n int) error {
	head := generator.Head("POST", "/v1/payments", growth.Key(1))
	refused := generator.Target{
		Addresses: bench.AddressesOf(api), Status: http.StatusBadRequest, Append: func(buffer []byte, n int64) []byte {
			return generator.JSON(append(buffer, head...), fmt.Appendf(nil, `{"amount":"%d","msisdn":"0788","reference":"refused"}`, n))
		},
	}
	g, err := generator.Dial(ctx, refused, 1)
	if err != nil {
		return err
	}
	defer g.Close()
	result := g.Open(ctx, float64(n), time.Second)
	return result.Err()
}

// openedConsole is the console of a sandbox in a browser that is signed in.
type openedConsole struct{ address, path, cookie string }

// openConsole signs in to a console.
func openConsole(ctx context.Context, api *system.API, namespace, name, key string) (*openedConsole, error) {
	c := &openedConsole{address: api.URL, path: "/sandboxes/" + namespace + "/" + name + "/console"}
	return c, c.signIn(ctx, "/sign-in", url.Values{"key": {key}})
}

// head is the beginning of the request of a page.
func (c *openedConsole) head(path string) string {
	return generator.Head("GET", c.path+path, "") + "Cookie: " + c.cookie + "\r\nAccept-Encoding: gzip\r\n"
}

// get opens a page. The caller closes its body.
func (c *openedConsole) get(ctx context.Context, path string) (io.ReadCloser, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, c.address+c.path+path, nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Cookie", c.cookie)
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode != http.StatusOK {
		return nil, errors.Join(fmt.Errorf("%s answered %d", path, answer.StatusCode), answer.Body.Close())
	}
	return answer.Body, nil
}

// link is the path of the first link of a page that matches.
func (c *openedConsole) link(ctx context.Context, path string, form *regexp.Regexp) (string, error) {
	body, err := c.get(ctx, path)
	if err != nil {
		return "", err
	}
	defer body.Close()
	text, err := io.ReadAll(body)
	found := form.FindSubmatch(text)
	if err == nil && found == nil {
		err = fmt.Errorf("%s has no link like %s", path, form)
	}
	if err != nil {
		return "", err
	}
	return "/" + html.UnescapeString(string(found[1])), nil
}

// follow keeps overviews open: each has a stream, and is read again a second after something changed.
func (c *openedConsole) follow(ctx context.Context, n int) error {
	return bench.InParallel(ctx, n, n, func(ctx context.Context, _ int) error {
		stream, err := c.get(ctx, "/stream")
		if err != nil {
			return err
		}
		defer stream.Close()
		var waits atomic.Bool
		var replaced time.Time // as console.js does it
		var reading sync.WaitGroup
		defer reading.Wait()
		lines := bufio.NewScanner(stream)
		for lines.Scan() {
			if lines.Text() != "event: change" || !waits.CompareAndSwap(false, true) {
				continue
			}
			reading.Go(func() {
				if system.Rest(ctx, max(time.Second/4, time.Until(replaced.Add(2500*time.Millisecond)))) {
					replaced = time.Now()
					waits.Store(false)
					if page, err := c.get(ctx, "/overview"); err == nil { // one that fails is read again after the next change
						_, _ = io.Copy(io.Discard, page)
						_ = page.Close()
					}
				}
			})
		}
		return ctx.Err()
	})
}
