package growth

import (
	"context"
	"fmt"
	"time"

	"github.com/cauri-dev/cauri/test/load/generator"
)

// List is a first page of a list in a sandbox.
type List struct {
	Name string
	Path string // path after /v1
}

// Lists are the pages to measure in every sandbox of a large database. Some have ten rows in the large sandbox and none
// in the others.
var Lists = []List{
	{"unfiltered", "/payments?limit=20"},
	{"order_ref, three rows", "/payments?limit=20&order_ref=o-3"},
	{"order_ref, 1 of 100 rows", "/payments?limit=20&order_ref=o-bulk"},
	{"order_ref, none", "/payments?limit=20&order_ref=none"},
	{"status SUCCESS, 9 of 10 rows", "/payments?limit=20&status=SUCCESS"},
	{"status TIMEOUT, 1 of 100 rows", "/payments?limit=20&status=TIMEOUT"},
	{"status PENDING, 1 of 3,000 rows", "/payments?limit=20&status=PENDING"},
	{"status, ten rows or none", "/payments?limit=20&status=DUPLICATE_REFERENCE"},
	{"type collection, 9 of 10 rows", "/payments?limit=20&type=collection"},
	{"type refund, 1 of 25 rows", "/payments?limit=20&type=refund"},
	{"country RW, 8 of 10 rows", "/payments?limit=20&country=RW"},
	{"country, ten rows or none", "/payments?limit=20&country=TG"},
	{"operator mtn, 6 of 10 rows", "/payments?limit=20&operator=mtn"},
	{"operator orange, 1 of 10 rows", "/payments?limit=20&operator=orange"},
	{"type and status, none", "/payments?limit=20&type=disbursement&status=TIMEOUT"},
	{"type, status and operator, few rows", "/payments?limit=20&type=disbursement&status=INSUFFICIENT_FUNDS&operator=moov"},
	{"events", "/events?limit=20"},
	{"events, state queued, none", "/events?limit=20&state=queued"},
	{"events, state failed, none", "/events?limit=20&state=failed"},
}

// Read reads a list at a rate per second, from a range of sandboxes in pseudo-random order. It returns the latencies.
func Read(ctx context.Context, address string, l List, from, to int64, rate float64, length time.Duration) (*generator.Histogram, error) {
	heads := make([]string, 0, min(to-from+1, 2000))
	for n := from; n <= to && len(heads) < cap(heads); n++ {
		heads = append(heads, generator.Head("GET", "/v1"+l.Path, Key(n)))
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
