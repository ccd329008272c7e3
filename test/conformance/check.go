package main

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"
)

// check is a rule being checked. Problems add up, so that one run shows all of them; what has a fatal one ends at once.
type check struct {
	*suite
	mu       sync.Mutex
	problems []string
	reason   string // for which the rule is not checked
}

// problem notes that the rule does not hold, and why.
func (c *check) problem(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.problems = append(c.problems, fmt.Sprintf(format, args...))
}

// fail notes a problem and ends the check. Only the check's own goroutine may call it.
func (c *check) fail(format string, args ...any) {
	c.problem(format, args...)
	runtime.Goexit()
}

// notChecked ends the check of a rule about which nothing can be said. Only the check's own goroutine may call it.
func (c *check) notChecked(reason string) {
	c.reason = reason
	runtime.Goexit()
}

// send sends a request; without an answer the check ends.
func (c *check) send(r request) answer {
	a, err := c.client.send(c.ctx, r)
	if err != nil {
		c.fail("%v", err)
	}
	return a
}

func (c *check) get(path string) answer { return c.send(request{method: "GET", path: path}) }

func (c *check) post(path string, body any) answer {
	return c.send(request{method: "POST", path: path, body: body})
}

// burst sends n requests at the same time, and returns the answers in the order of the requests.
func (c *check) burst(n int, nth func(i int) request) []answer {
	answers := make([]answer, n)
	failures := make([]error, n)
	start := make(chan struct{})
	var running sync.WaitGroup
	for i := range n {
		r := nth(i)
		running.Go(func() {
			<-start
			answers[i], failures[i] = c.client.send(c.ctx, r)
		})
	}
	close(start)
	running.Wait()
	if i := slices.IndexFunc(failures, func(err error) bool { return err != nil }); i >= 0 {
		c.fail("%v", failures[i])
	}
	return answers
}

// expect returns the object that an answer of the status has; with any other answer the check ends.
func (c *check) expect(a answer, status int) object {
	if a.status != status {
		c.fail("%s, want %d", a, status)
	}
	return c.objectOf(a)
}

func (c *check) objectOf(a answer) object {
	o, err := a.object()
	if err != nil {
		c.fail("%s: %v", a, err)
	}
	return o
}

// refused notes a problem unless the answer is an error of the status and the code. It returns the error's detail.
func (c *check) refused(a answer, status int, code string) object {
	o, err := a.object()
	if a.status != status || err != nil || o["error"] != code {
		c.problem("%s, want %d %s", a, status, code)
		return nil
	}
	detail, _ := o["detail"].(object)
	return detail
}

// fieldsRefused notes a problem unless the answer is a 400 that names every one of the fields.
func (c *check) fieldsRefused(a answer, fields ...string) {
	detail := c.refused(a, 400, "invalid_body")
	if detail == nil {
		if a.status == 400 {
			c.problem("%s, which has no detail", a)
		}
		return
	}
	messages, _ := detail["fieldErrors"].(object)
	for _, field := range fields {
		if list, _ := messages[field].([]any); len(list) == 0 {
			c.problem("%s, whose detail.fieldErrors has no list of messages for %s", a, field)
		}
	}
}

// fields notes a problem for each field of an object that is not as wanted. Fields that are not mentioned may be anything.
func (c *check) fields(what string, got, want object) {
	for _, problem := range compare("", got, want) {
		c.problem("%s: %s", what, problem)
	}
}

// patience is how long the suite waits for something that happens by itself, a settlement for instance.
const patience = 30 * time.Second

// eventually asks again and again until there is no problem left, and notes the last one when patience ends.
func (c *check) eventually(attempt func() (problem string)) {
	deadline := time.Now().Add(patience)
	for {
		problem := attempt()
		if problem == "" {
			return
		}
		if time.Now().After(deadline) {
			c.fail("after %v: %s", patience, problem)
		}
		c.pause(100 * time.Millisecond)
	}
}

// pause waits; if the run's time ends before, so does the check.
func (c *check) pause(d time.Duration) {
	select {
	case <-time.After(d):
	case <-c.ctx.Done():
		c.fail("%v", outOfTime(c.ctx, c.ctx.Err()))
	}
}
