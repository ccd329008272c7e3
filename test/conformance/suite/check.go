package suite

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"
)

// Check is a rule being checked. Problems add up, so that one run shows all of them; what has a fatal one ends at once.
type Check struct {
	*Suite
	mu       sync.Mutex
	problems []string
	reason   string // for which the rule is not checked
}

// Problem notes that the rule does not hold, and why.
func (c *Check) Problem(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.problems = append(c.problems, fmt.Sprintf(format, args...))
}

// Fail notes a problem and ends the check. Only the check's own goroutine may call it.
func (c *Check) Fail(format string, args ...any) {
	c.Problem(format, args...)
	runtime.Goexit()
}

// NotChecked ends the check of a rule about which nothing can be said. Only the check's own goroutine may call it.
func (c *Check) NotChecked(reason string) {
	c.reason = reason
	runtime.Goexit()
}

// Send sends a request; without an answer the check ends.
func (c *Check) Send(r Request) Answer {
	a, err := c.Client.send(c.ctx, r)
	if err != nil {
		c.Fail("%v", err)
	}
	return a
}

func (c *Check) Get(path string) Answer { return c.Send(Request{Method: "GET", Path: path}) }

func (c *Check) Post(path string, body any) Answer {
	return c.Send(Request{Method: "POST", Path: path, Body: body})
}

// Burst sends n requests at the same time, and returns the answers in the order of the requests.
func (c *Check) Burst(n int, nth func(i int) Request) []Answer {
	answers := make([]Answer, n)
	failures := make([]error, n)
	start := make(chan struct{})
	var running sync.WaitGroup
	for i := range n {
		r := nth(i)
		running.Go(func() {
			<-start
			answers[i], failures[i] = c.Client.send(c.ctx, r)
		})
	}
	close(start)
	running.Wait()
	if i := slices.IndexFunc(failures, func(err error) bool { return err != nil }); i >= 0 {
		c.Fail("%v", failures[i])
	}
	return answers
}

// Expect returns the object that an answer of the status has; with any other answer the check ends.
func (c *Check) Expect(a Answer, status int) Object {
	if a.Status != status {
		c.Fail("%s, want %d", a, status)
	}
	return c.ObjectOf(a)
}

func (c *Check) ObjectOf(a Answer) Object {
	o, err := a.Object()
	if err != nil {
		c.Fail("%s: %v", a, err)
	}
	return o
}

// Refused notes a problem unless the answer is an error of the status and the code. It returns the error's detail.
func (c *Check) Refused(a Answer, status int, code string) Object {
	o, err := a.Object()
	if a.Status != status || err != nil || o["error"] != code {
		c.Problem("%s, want %d %s", a, status, code)
		return nil
	}
	detail, _ := o["detail"].(Object)
	return detail
}

// FieldsRefused notes a problem unless the answer is a 400 that names every one of the fields.
func (c *Check) FieldsRefused(a Answer, fields ...string) {
	detail := c.Refused(a, 400, "invalid_body")
	if detail == nil {
		if a.Status == 400 {
			c.Problem("%s, which has no detail", a)
		}
		return
	}
	messages, _ := detail["fieldErrors"].(Object)
	for _, field := range fields {
		if list, _ := messages[field].([]any); len(list) == 0 {
			c.Problem("%s, whose detail.fieldErrors has no list of messages for %s", a, field)
		}
	}
}

// Fields notes a problem for each field of an object that is not as wanted. Fields that are not mentioned may be anything.
func (c *Check) Fields(what string, got, want Object) {
	for _, problem := range Compare("", got, want) {
		c.Problem("%s: %s", what, problem)
	}
}

// Patience is how long the suite waits for something that happens by itself, a settlement for instance.
const Patience = 30 * time.Second

// Eventually asks again and again until there is no problem left, and notes the last one when patience ends.
func (c *Check) Eventually(attempt func() (problem string)) {
	deadline := time.Now().Add(Patience)
	for {
		problem := attempt()
		if problem == "" {
			return
		}
		if time.Now().After(deadline) {
			c.Fail("after %v: %s", Patience, problem)
		}
		c.Pause(100 * time.Millisecond)
	}
}

// Pause waits; if the run's time ends before, so does the check.
func (c *Check) Pause(d time.Duration) {
	select {
	case <-time.After(d):
	case <-c.ctx.Done():
		c.Fail("%v", outOfTime(c.ctx, c.ctx.Err()))
	}
}
