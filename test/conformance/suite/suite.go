// Package suite checks rules against a sandbox: client, fixtures, matchers, the receiver of events, the report.
package suite

import (
	"context"
	"crypto/rand"
	"fmt"
	"iter"
	"strconv"
	"sync"
	"sync/atomic"
)

// atOnce is the number of rules to check in parallel.
const atOnce = 16

// Suite is one run against one sandbox.
type Suite struct {
	ctx      context.Context
	Client   *client
	fixtures fixtures
	watch    *watch
	Receiver *receiver // nil: events are not checked

	Name    string // unique to this run; part of every unique text
	counter atomic.Int64
}

// New finds the API and, if requested, starts to listen for events.
func New(ctx context.Context, url, key, webhook, secret string) (*Suite, error) {
	s := &Suite{ctx: ctx, watch: newWatch(), Name: rand.Text()[:8]}
	found, err := newClient(ctx, url, key, s.watch.see)
	if err != nil {
		return nil, err
	}
	s.Client = found
	if webhook != "" {
		if s.Receiver, err = listen(webhook, secret); err != nil {
			return nil, fmt.Errorf("-webhook: %w", err)
		}
	}
	return s, nil
}

func (s *Suite) Close() {
	if s.Receiver != nil {
		s.Receiver.close()
	}
}

// Unique returns a text that no other run uses.
func (s *Suite) Unique() string {
	return s.Name + strconv.FormatInt(s.counter.Add(1), 10)
}

// Run checks the rules and yields their results in this order: rules that run in parallel, rules that run alone, rules
// about all answers.
func (s *Suite) Run(rules []Rule) iter.Seq[result] {
	for _, r := range rules {
		if r.Look != nil {
			s.watch.add(r)
		}
	}
	return func(yield func(result) bool) {
		results := make([]result, len(rules))
		s.runTogether(rules, results)
		for i, r := range rules {
			switch {
			case r.Look != nil:
				continue
			case r.Alone:
				results[i] = s.try(r)
			}
		}
		for i, r := range rules {
			if r.Look != nil {
				results[i] = s.watch.result(r)
			}
			if !yield(results[i]) {
				return
			}
		}
	}
}

func (s *Suite) runTogether(rules []Rule, results []result) {
	var running sync.WaitGroup
	places := make(chan struct{}, atOnce)
	for i, r := range rules {
		if r.Alone || r.Look != nil {
			continue
		}
		places <- struct{}{}
		running.Go(func() {
			defer func() { <-places }()
			results[i] = s.try(r)
		})
	}
	running.Wait()
}

// try checks one rule in its own goroutine, which the check may end early.
func (s *Suite) try(r Rule) result {
	c := &Check{Suite: s}
	var ended sync.WaitGroup
	ended.Go(func() {
		defer func() {
			if broken := recover(); broken != nil {
				c.Problem("the check broke: %v", broken)
			}
		}()
		r.Check(c)
	})
	ended.Wait()
	done := result{rule: r, problems: c.problems}
	if len(c.problems) == 0 {
		done.notChecked = c.reason
	}
	return done
}
