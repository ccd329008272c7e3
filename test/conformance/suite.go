package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"iter"
	"strconv"
	"sync"
	"sync/atomic"
)

// atOnce is how many rules are checked at the same time.
const atOnce = 16

// suite is one run against one sandbox.
type suite struct {
	ctx      context.Context
	client   *client
	fixtures fixtures
	watch    *watch
	receiver *receiver // nil: events are not checked

	name    string // of this run; part of everything that has to be unique
	counter atomic.Int64
}

// newSuite finds the API and, if it is asked to, begins to listen for events.
func newSuite(ctx context.Context, o options) (*suite, error) {
	s := &suite{ctx: ctx, watch: newWatch(), name: rand.Text()[:8]}
	found, err := newClient(ctx, o.url, o.key, s.watch.see)
	if err != nil {
		return nil, err
	}
	s.client = found
	if o.webhook != "" {
		if s.receiver, err = listen(o.webhook, o.secret); err != nil {
			return nil, fmt.Errorf("-webhook: %w", err)
		}
	}
	return s, nil
}

func (s *suite) close() {
	if s.receiver != nil {
		s.receiver.close()
	}
}

// unique returns a text that no run uses twice.
func (s *suite) unique() string {
	return s.name + strconv.FormatInt(s.counter.Add(1), 10)
}

// run checks the rules and yields their results in the order of the rules: first those that can run together, then those
// that must be alone, and at the end those that look at all answers.
func (s *suite) run(rules []rule) iter.Seq[result] {
	for _, r := range rules {
		if r.look != nil {
			s.watch.add(r)
		}
	}
	return func(yield func(result) bool) {
		results := make([]result, len(rules))
		s.runTogether(rules, results)
		for i, r := range rules {
			switch {
			case r.look != nil:
				continue
			case r.alone:
				results[i] = s.try(r)
			}
		}
		for i, r := range rules {
			if r.look != nil {
				results[i] = s.watch.result(r)
			}
			if !yield(results[i]) {
				return
			}
		}
	}
}

func (s *suite) runTogether(rules []rule, results []result) {
	var running sync.WaitGroup
	places := make(chan struct{}, atOnce)
	for i, r := range rules {
		if r.alone || r.look != nil {
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

// try checks one rule, in a goroutine of its own that the check may end early.
func (s *suite) try(r rule) result {
	c := &check{suite: s}
	var ended sync.WaitGroup
	ended.Go(func() {
		defer func() {
			if broken := recover(); broken != nil {
				c.problem("the check broke: %v", broken)
			}
		}()
		r.check(c)
	})
	ended.Wait()
	done := result{rule: r, problems: c.problems}
	if len(c.problems) == 0 {
		done.notChecked = c.reason
	}
	return done
}
