package download

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path"
	"strings"
	"time"

	"github.com/cauri-dev/cauri/hack/localcluster/host"
)

// errBroken means that a file arrived in part. The next attempt continues from there.
var errBroken = errors.New("the download broke off")

// fetcher downloads files.
type fetcher struct {
	settings Settings
	client   *http.Client
	out      io.Writer
	stall    time.Duration // maximum time without data
	silence  time.Duration // time before the first line of progress, and a fifth of the time between two lines
	most     int64         // maximum size of a file in bytes
}

func newFetcher(settings Settings, out io.Writer) fetcher {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DialContext = (&net.Dialer{Timeout: 10 * time.Second}).DialContext
	return fetcher{
		settings: settings, client: &http.Client{Transport: transport}, out: out,
		stall: 20 * time.Second, silence: time.Second, most: 300 * host.Mebibyte,
	}
}

// fetch downloads a file and checks its sum. It resumes an earlier, interrupted download in the same path. If the
// server breaks off, fetch resumes once.
func (f fetcher) fetch(ctx context.Context, file File, into string) error {
	err := f.attempt(ctx, file, into)
	var wrong WrongSum
	if ctx.Err() == nil && (errors.Is(err, errBroken) || errors.As(err, &wrong) && wrong.continued) {
		err = f.attempt(ctx, file, into)
	}
	return err
}

func (f fetcher) attempt(ctx context.Context, file File, into string) error {
	continued, err := f.more(ctx, file, into)
	if err != nil {
		return err
	}
	sum, err := sumOf(into, file.Sum)
	if err != nil || sum == file.Sum {
		return err
	}
	return errors.Join(WrongSum{URL: shown(f.settings.address(file)), Got: sum, Want: file.Sum, continued: continued}, os.Remove(into))
}

// more downloads the missing part of a file.
func (f fetcher) more(ctx context.Context, file File, into string) (continued bool, err error) {
	to, err := os.OpenFile(into, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return false, fmt.Errorf("saving a download: %w", err)
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	info, err := to.Stat()
	if err != nil {
		return false, fmt.Errorf("saving a download: %w", err)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watch := time.AfterFunc(f.stall, func() { cancel(fmt.Errorf("%w: no data for %s", errBroken, f.stall)) })
	defer watch.Stop()
	response, err := f.request(ctx, file, info.Size())
	if err != nil {
		return false, cause(ctx, err)
	}
	defer response.Body.Close()
	have := info.Size()
	if continued = response.StatusCode == http.StatusPartialContent; !continued {
		if err := to.Truncate(0); err != nil {
			return false, fmt.Errorf("saving a download: %w", err)
		}
		have = 0
	}
	body := &watchedBody{from: response.Body, alive: func() { watch.Reset(f.stall) }, progress: &progress{
		name: path.Base(file.URL), out: f.out, silence: f.silence, begun: time.Now(), have: have, size: have + response.ContentLength,
	}}
	copied, err := io.Copy(to, io.LimitReader(body, f.most-have+1))
	if err != nil {
		return continued, cause(ctx, fmt.Errorf("%w: %w", errBroken, err))
	}
	if have+copied > f.most {
		return continued, errors.Join(fmt.Errorf("%s is larger than %d MB", shown(f.settings.address(file)), f.most/host.Mebibyte), os.Remove(into))
	}
	body.progress.done()
	return continued, to.Sync()
}

// request requests a file from a position on.
func (f fetcher) request(ctx context.Context, file File, from int64) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, f.settings.address(file), nil)
	if err != nil {
		return nil, err
	}
	if from > 0 {
		request.Header.Set("Range", fmt.Sprintf("bytes=%d-", from))
	}
	response, err := f.client.Do(request)
	if err != nil {
		return nil, err
	}
	begins := fmt.Sprintf("bytes %d-", from)
	switch status := response.StatusCode; {
	case status == http.StatusOK:
		return response, nil
	case status == http.StatusPartialContent && from > 0 && strings.HasPrefix(response.Header.Get("Content-Range"), begins):
		return response, nil
	case status == http.StatusRequestedRangeNotSatisfiable && from > 0: // the local file is complete, or another file
		response.Body.Close()
		return f.request(ctx, file, 0)
	case status >= 500:
		err = fmt.Errorf("%w: %s answered %s", errBroken, request.URL.Redacted(), response.Status)
	default:
		err = fmt.Errorf("%s answered %s", request.URL.Redacted(), response.Status)
	}
	response.Body.Close()
	return nil, err
}

// cause replaces the error of a canceled request by the cause of the cancellation.
func cause(ctx context.Context, err error) error {
	if reason := context.Cause(ctx); reason != nil {
		return reason
	}
	return err
}

// watchedBody is the body of an answer that reports each arrival of data.
type watchedBody struct {
	from     io.Reader
	alive    func()
	progress *progress
}

func (w *watchedBody) Read(into []byte) (int, error) {
	n, err := w.from.Read(into)
	if n > 0 {
		w.alive()
		w.progress.add(n)
	}
	return n, err
}

// progress prints lines about a long download.
type progress struct {
	name       string
	out        io.Writer
	silence    time.Duration
	begun      time.Time
	said       time.Time
	have, size int64
}

func (p *progress) add(n int) {
	p.have += int64(n)
	now := time.Now()
	if now.Sub(p.begun) < p.silence || now.Sub(p.said) < 5*p.silence {
		return
	}
	p.said = now
	if p.size >= p.have {
		fmt.Fprintf(p.out, "  %-26s%d of %d MB\n", p.name, p.have/host.Mebibyte, p.size/host.Mebibyte)
	}
}

func (p *progress) done() {
	if took := time.Since(p.begun); took >= p.silence {
		fmt.Fprintf(p.out, "  %-26s%d MB (%.1f s)\n", p.name, p.have/host.Mebibyte, took.Seconds())
	}
}
