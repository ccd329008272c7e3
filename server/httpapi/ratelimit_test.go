package httpapi_test

import (
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/server/fronts"
)

// clock is a clock that a test moves.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// limited is a fixture with n servers, whose clocks stand still, and a sandbox with a rate limit.
func limited(t *testing.T, limit int32, n int) (f *fixture, servers []*fixture, c *clock) {
	f = newFixture(t)
	f.config.RateLimit = &limit
	f.sandbox(f.config, key)
	c = &clock{at: time.Now()}
	for range n {
		servers = append(servers, f.serve(func(o *fronts.Options) { o.Now = c.now }))
	}
	return f, servers, c
}

// minute lets a minute pass for all that was counted.
func (f *fixture) minute(c *clock) {
	f.t.Helper()
	f.exec("update rate_usage set second = second - 70")
	c.advance(70 * time.Second)
}

func (r response) number(name string) int {
	n, err := strconv.Atoi(r.header.Get(name))
	if err != nil {
		return -1
	}
	return n
}

func TestNoRateLimitByDefault(t *testing.T) {
	f := newFixture(t)
	for range 20 {
		got := f.page("")
		for name := range got.header {
			if name == "X-Ratelimit-Limit" || name == "Retry-After" {
				t.Fatalf("headers are %v", got.header)
			}
		}
	}
	if n := read[int64](f, "select count(*) from rate_usage"); n != 0 {
		t.Error("requests are counted")
	}
}

func TestRateLimit(t *testing.T) {
	f, servers, c := limited(t, 100, 1)
	server := servers[0]
	for minute := range 2 {
		for i := range 100 {
			got := server.page("")
			if got.number("X-RateLimit-Limit") != 100 || got.number("X-RateLimit-Remaining") != 99-i {
				t.Fatalf("minute %d, request %d: headers are %v", minute, i, got.header)
			}
			if reset := got.number("X-RateLimit-Reset"); reset < 30 || reset > 62 || got.header.Get("Retry-After") != "" {
				t.Fatalf("minute %d, request %d: headers are %v", minute, i, got.header)
			}
		}
		before := f.transactions()
		for i := range 10 {
			got := server.call("POST", "/v1/payments", payment("p"))
			got.is(t, 429, "rate_limited")
			if got.number("X-RateLimit-Limit") != 100 || got.number("X-RateLimit-Remaining") != 0 || got.number("X-RateLimit-Reset") < 1 ||
				got.number("Retry-After") != got.number("X-RateLimit-Reset") || got.body["message"] == "" {
				t.Errorf("headers are %v: %s", got.header, got.raw)
			}
			c.advance(time.Duration(i) * 20 * time.Millisecond)
		}
		if f.transactions() != before {
			t.Error("a request that was refused was recorded")
		}
		f.minute(c)
	}
}

func TestRateLimitCountsAuthenticatedRequestsOnly(t *testing.T) {
	f, servers, c := limited(t, 10, 1)
	server := servers[0]
	call := func(method, path, key string, status int) {
		t.Helper()
		if got := server.call(method, path, nil, withKey(key)); got.status != status {
			t.Errorf("%s %s answered %d: %s", method, path, got.status, got.raw)
		}
	}
	call("GET", "/v1/payments", key, 200)
	for range 15 {
		call("GET", "/v1/payments", "cauri_sk_test_none", 401)
		call("POST", "/v1/payments", "", 401)
		call("GET", "/sandboxes/team/other/v1/payments", key, 401)
		call("GET", "/v1/meta", key, 200)
		call("GET", "/v1/health", key, 200)
		call("GET", "/v1/payments", otherKey, 200) // of a sandbox without a limit
	}
	// What is refused for itself is counted, under every form of a path.
	call("POST", "/v1/payments", key, 400)
	call("GET", "/api/v1/payments/TX_0", key, 404)
	call("GET", "/sandboxes/team/checkout/v1/payments?limit=0", key, 400)
	call("POST", "/sandboxes/team/checkout/api/v1/disbursements", key, 400)
	for range 5 {
		call("GET", "/v1/payments", key, 200)
	}
	call("GET", "/v1/payments", key, 429)
	call("POST", "/v1/disbursements", key, 429)
	call("GET", "/v1/payments", otherKey, 200)
	call("GET", "/v1/health", key, 200)

	limit := int32(12)
	f.config.RateLimit = &limit
	f.sandbox(f.config, key)
	call("GET", "/v1/payments", "cauri_sk_test_none", 401) // makes the server look
	c.advance(time.Second)
	call("GET", "/v1/payments", key, 200)
	call("GET", "/v1/payments", key, 200)
	call("GET", "/v1/payments", key, 429)
	f.config.RateLimit = nil
	f.sandbox(f.config, key)
	call("GET", "/v1/payments", "cauri_sk_test_none", 401)
	call("GET", "/v1/payments", key, 200)
}

func TestRateLimitOfSeveralServers(t *testing.T) {
	for name, c := range map[string]struct {
		limit   int32
		servers int
		weights []int // of every 10 requests
	}{
		"evenly":            {500, 2, []int{0, 1, 0, 1, 0, 1, 0, 1, 0, 1}},
		"unevenly":          {500, 2, []int{0, 0, 0, 0, 0, 0, 0, 0, 0, 1}},
		"a small limit":     {30, 2, []int{0, 1, 1, 0, 0, 1, 0, 1, 0, 1}},
		"the smallest":      {1, 3, []int{2, 1, 0, 2, 1, 0, 2, 1, 0, 2}},
		"by three, at once": {200, 3, []int{0, 1, 2, 0, 1, 2, 0, 1, 2, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			_, servers, clock := limited(t, c.limit, c.servers)
			clients := make(chan struct{}, 16) // more would wait longer than a request may, on a busy machine
			counts := servers[0].atOnce(int(c.limit)+40, func(i int) response {
				clients <- struct{}{}
				defer func() { <-clients }()
				server := servers[c.weights[i%10]]
				got := server.call("GET", "/v1/payments/TX_0", nil)
				// The database took too long, on a busy machine: it is asked again after a pause.
				for try := 0; got.status == 503 && try < 100; try++ {
					clock.advance(201 * time.Millisecond)
					got = server.call("GET", "/v1/payments/TX_0", nil)
				}
				got.body = object{"error": fmt.Sprint(got.status)}
				return got
			})
			granted := counts["404 404"]
			if granted > int(c.limit) || 10*granted < 9*int(c.limit) || counts["429 429"] != int(c.limit)+40-granted {
				t.Errorf("of a limit of %d, the answers are %v", c.limit, counts)
			}
		})
	}
}

// What a server does not use goes back, so that several that are asked now and then together come near the limit too.
func TestRateLimitOfSlowRequestsToManyServers(t *testing.T) {
	_, servers, c := limited(t, 200, 5)
	for i := range 180 {
		if i%5 == 0 {
			c.advance(1100 * time.Millisecond)
		}
		if got := servers[i%5].call("GET", "/v1/payments/TX_0", nil); got.status != 404 {
			t.Fatalf("request %d of 200 a minute was answered %d: %s", i, got.status, got.raw)
		}
	}
}

// What a server took is not used a second later than it was counted: the minute that counts it ends with the second.
func TestRateLimitIsNotSavedUp(t *testing.T) {
	_, servers, c := limited(t, 500, 1)
	f := servers[0]
	f.page("") // one of 10
	f.exec("update rate_usage set second = second - 70")
	c.advance(1100 * time.Millisecond)
	if got := f.page(""); got.number("X-RateLimit-Remaining") != 499 {
		t.Errorf("headers are %v", got.header)
	}
}
