package host

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// Hopeless marks the error of a check that ends a poll at once: waiting longer cannot help.
func Hopeless(err error) error { return hopelessError{err} }

type hopelessError struct{ error }

// Intervals of polling: for what usually is true within a second, and for what takes longer.
const (
	PollFast = 50 * time.Millisecond
	PollSlow = 250 * time.Millisecond
)

// Poll repeats a check until it returns nil. When the time is over it returns the check's last error.
func Poll(ctx context.Context, every, within time.Duration, check func(context.Context) error) error {
	limited, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	var last error
	for {
		err := check(limited)
		var final hopelessError
		if err == nil || errors.As(err, &final) {
			return err
		}
		if last == nil || limited.Err() == nil { // a check that was cut off knows less than the one before it
			last = err
		}
		select {
		case <-ticker.C:
		case <-limited.Done():
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return fmt.Errorf("not after %s: %w", within.Round(time.Second), last)
		}
	}
}

// AnswersOK is the check that a health address answers 200.
func AnswersOK(client *http.Client, url string) func(context.Context) error {
	return func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
		defer cancel()
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		response, err := client.Do(request)
		if err != nil {
			return err
		}
		response.Body.Close()
		if response.StatusCode != http.StatusOK {
			return fmt.Errorf("GET %s answers %s", url, response.Status)
		}
		return nil
	}
}
