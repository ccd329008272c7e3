package webhooks

import (
	"net"
	"time"
)

// SetTimeout shortens the time of an attempt in all, so that a test need not wait for the real one.
func (s *Sender) SetTimeout(d time.Duration) { s.client.Timeout = d }

// Timeout is the time of an attempt in all.
func (s *Sender) Timeout() time.Duration { return s.client.Timeout }

// SetResolver has names looked up by r.
func (s *Sender) SetResolver(r *net.Resolver) { s.dialer.Resolver = r }

// RetryAfter reads a Retry-After header.
var RetryAfter = retryAfter
