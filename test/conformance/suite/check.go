package suite

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"
)

// Check is the state of a rule during its check. It collects problems, so that one run shows all of them. A fatal
// problem ends the check.
type Check struct {
	*Suite
	mu       sync.Mutex
	problems []string
	reason   string // why the rule is not checked
}

// Problem records that the rule does not hold, and why.
func (c *Check) Problem(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.problems = append(c.problems, fmt.Sprintf(format, args...))
}

// Fail records a problem and ends the check. Only the check's own goroutine may call it.
func (c *Check) Fail(format string, args ...any) {
	c.Problem(format, args...)
	runtime.Goexit()
}

// NotChecked ends a check without a result. Only the check's own goroutine may call it.
func (c *Check) NotChecked(reason string) {
	c.reason = reason
	runtime.Goexit()
}

// Send sends a request. If there is no answer, the check ends.
func (c *Check) Send(r Request) Answer {
	a, err := c.Client.send(c.ctx, r)
	if err != nil {
		c.Fail("%v", err)
	}
	return a
}

// Unanswered sends a request, and records a problem if an answer comes.
func (c *Check) Unanswered(r Request) {
	a, err := c.Client.send(c.ctx, r)
	switch {
	case c.ctx.Err() != nil:
		c.Fail("%v", err)
	case err == nil:
		c.Problem("%s, want no answer", a)
	}
}

func (c *Check) Get(path string) Answer { return c.Send(Request{Method: "GET", Path: path}) }

func (c *Check) Post(path string, body any) Answer {
	return c.Send(Request{Method: "POST", Path: path, Body: body})
}

// Burst sends n concurrent requests and returns the answers in the order of the requests.
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

// Expect returns the object of an answer with the status. With any other answer, the check ends.
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

// Refused records a problem unless the answer is an error with the status and the code. It returns the error's detail.
func (c *Check) Refused(a Answer, status int, code string) Object {
	o, err := a.Object()
	if a.Status != status || err != nil || o["error"] != code {
		c.Problem("%s, want %d %s", a, status, code)
		return nil
	}
	detail, _ := o["detail"].(Object)
	return detail
}

// FieldsRefused records a problem unless the answer is a 400 that names every one of the fields.
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

// Fields records a problem for each field of an object that is not as wanted. It ignores other fields.
func (c *Check) Fields(what string, got, want Object) {
	for _, problem := range Compare("", got, want) {
		c.Problem("%s: %s", what, problem)
	}
}

// Patience is the timeout of asynchronous changes, such as a settlement.
const Patience = 30 * time.Second

// Eventually repeats a test until it finds no problem. After the timeout it records the last problem.
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

// Pause waits. If the time of the run ends, the check ends.
func (c *Check) Pause(d time.Duration) {
	select {
	case <-time.After(d):
	case <-c.ctx.Done():
		c.Fail("%v", outOfTime(c.ctx, c.ctx.Err()))
	}
}
