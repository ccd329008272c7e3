package webhooks

import "time"

// SetTimeout shortens the time of an attempt in all, so that a test need not wait for the real one.
func (s *Sender) SetTimeout(d time.Duration) { s.timeout = d }

// Timeout is the time of an attempt in all.
func (s *Sender) Timeout() time.Duration { return s.timeout }

// RetryAfter reads a Retry-After header.
var RetryAfter = retryAfter

// Reason is the error of an attempt that had a connection to nobody.
func Reason(err error) error { return reason(err, connecting, "") }
