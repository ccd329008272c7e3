package webhooks

import (
	"reflect"
	"strings"
	"time"
)

// BodyFields returns the names of the fields of an event.
func BodyFields() (names []string) {
	for _, field := range reflect.VisibleFields(reflect.TypeFor[body]()) {
		if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// SetTimeout shortens the time of an attempt in all, so that a test need not wait for the real one.
func (s *Sender) SetTimeout(d time.Duration) { s.timeout = d }

// Timeout is the time of an attempt in all.
func (s *Sender) Timeout() time.Duration { return s.timeout }

// RetryAfter reads a Retry-After header.
var RetryAfter = retryAfter

// Reason is the error of an attempt that had a connection to nobody.
func Reason(err error) error { return reason(err, connecting, "") }
