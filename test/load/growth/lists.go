package growth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/cauri-dev/cauri/test/load/generator"
)

// List is a page of a list in a sandbox.
type List struct {
	Name string
	Path string // path of the first page after /v1
	// Back says that the page is read backward: it is the one before the second page, if the list has two.
	Back bool
}

// Lists are the pages to measure in every sandbox of a large database. Some have ten rows in the large sandbox and none
// in the others.
var Lists = []List{
	{"unfiltered", "/payments?limit=20", false},
	{"order_ref, three rows", "/payments?limit=20&order_ref=o-3", false},
	{"order_ref, 1 of 100 rows", "/payments?limit=20&order_ref=o-bulk", false},
	{"order_ref, none", "/payments?limit=20&order_ref=none", false},
	{"status SUCCESS, 9 of 10 rows", "/payments?limit=20&status=SUCCESS", false},
	{"status TIMEOUT, 1 of 100 rows", "/payments?limit=20&status=TIMEOUT", false},
	{"status PENDING, 1 of 3,000 rows", "/payments?limit=20&status=PENDING", false},
	{"status, ten rows or none", "/payments?limit=20&status=DUPLICATE_REFERENCE", false},
	{"type collection, 9 of 10 rows", "/payments?limit=20&type=collection", false},
	{"type refund, 1 of 25 rows", "/payments?limit=20&type=refund", false},
	{"country RW, 8 of 10 rows", "/payments?limit=20&country=RW", false},
	{"country, ten rows or none", "/payments?limit=20&country=TG", false},
	{"operator mtn, 6 of 10 rows", "/payments?limit=20&operator=mtn", false},
	{"operator orange, 1 of 10 rows", "/payments?limit=20&operator=orange", false},
	{"type and status, none", "/payments?limit=20&type=disbursement&status=TIMEOUT", false},
	{"type, status and operator, few rows", "/payments?limit=20&type=disbursement&status=INSUFFICIENT_FUNDS&operator=moov", false},
	{"events", "/events?limit=20", false},
	{"unfiltered, back", "/payments?limit=20", true},
	{"status SUCCESS, back", "/payments?limit=20&status=SUCCESS", true},
	{"events, back", "/events?limit=20", true},
	{"ledger entries, back", "/ledger/entries?limit=20", true},
	{"events, state queued, none", "/events?limit=20&state=queued", false},
	{"events, state failed, none", "/events?limit=20&state=failed", false},
}

// Heads returns the beginnings of the requests for a list in each of a range of sandboxes.
func Heads(ctx context.Context, address string, l List, from, to int64) (heads []string, err error) {
	for n := from; n <= to; n++ {
		path := "/v1" + l.Path
		if l.Back {
			if path, err = back(ctx, address, path, Key(n)); err != nil {
				return nil, fmt.Errorf("%s: %w", l.Name, err)
			}
		}
		heads = append(heads, generator.Head("GET", path, Key(n)))
	}
	return heads, nil
}

// Read reads a list at a rate per second, from a range of sandboxes in pseudo-random order. It returns the latencies.
func Read(ctx context.Context, address string, l List, from, to int64, rate float64, length time.Duration) (*generator.Histogram, error) {
	heads, err := Heads(ctx, address, l, from, min(to, from+1999))
	if err != nil {
		return nil, err
	}
	g, err := generator.Dial(ctx, generator.Target{
		Addresses: []string{address}, Status: 200, Append: func(buffer []byte, n int64) []byte {
			return generator.End(append(buffer, heads[uint64(n)*0x9e3779b97f4a7c15>>32%uint64(len(heads))]...))
		},
	}, 32)
	if err != nil {
		return nil, err
	}
	defer g.Close()
	result := g.Open(ctx, rate, length)
	if err := result.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", l.Name, err)
	}
	return &result.Latency, nil
}

// back returns the path of the page before the second page of a list; path if the list has one page.
func back(ctx context.Context, address, path, key string) (string, error) {
	page := func(path string) (next, previous string, err error) {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+path, nil)
		if err != nil {
			return "", "", err
		}
		r.Header.Set("Authorization", "Bearer "+key)
		got, err := http.DefaultClient.Do(r)
		if err != nil {
			return "", "", err
		}
		defer got.Body.Close()
		var list struct{ NextCursor, PreviousCursor string }
		return list.NextCursor, list.PreviousCursor, json.NewDecoder(got.Body).Decode(&list)
	}
	next, _, err := page(path)
	if err != nil || next == "" {
		return path, err
	}
	_, previous, err := page(path + "&cursor=" + next)
	if err == nil && previous == "" {
		err = errors.New("the second page leads nowhere back")
	}
	return path + "&before=" + previous, err
}
