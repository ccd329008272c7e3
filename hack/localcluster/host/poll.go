package host

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// Hopeless wraps an error that ends a poll at once, because waiting cannot help.
func Hopeless(err error) error { return hopelessError{err} }

type hopelessError struct{ error }

// Polling intervals. The short one is for conditions that are usually true within a second.
const (
	PollFast = 50 * time.Millisecond
	PollSlow = 250 * time.Millisecond
)

// Poll repeats a check until it returns nil. After the timeout, it returns the last error of the check.
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
		if last == nil || limited.Err() == nil { // keeps the last error of a complete check
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

// AnswersOK returns a check that a health URL answers 200.
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
