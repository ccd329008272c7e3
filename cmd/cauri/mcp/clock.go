package mcp

import (
	"context"

	"github.com/cauri-dev/cauri/server/english"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
)

type advanceClockInput struct {
	By   string `json:"by,omitempty" example:"61m" doc:"How far: hours, minutes, seconds, such as 61m or 24h. Send one of by, to and next."`
	To   string `json:"to,omitempty" example:"2026-12-01T00:00:00Z" doc:"Where to, in sandbox time (RFC 3339)."`
	Next *bool  `json:"next,omitempty" doc:"true: to the moment at which something is due next."`
}

func (in *advanceClockInput) check(wrong fieldErrors) {
	n := 0
	for _, is := range []bool{in.By != "", in.To != "", in.Next != nil && *in.Next} {
		if is {
			n++
		}
	}
	if n != 1 {
		wrong.add("next", "or by or to is needed: send exactly one of them, such as {\"next\": true}")
	}
}

type advanceClockOutput struct {
	head
	Clock clockNow `json:"clock"`
	// What became due on the way.
	Settled        int64 `json:"settled"`
	Expired        int64 `json:"expired"`
	Delivered      int64 `json:"delivered"`
	FailedAttempts int64 `json:"failedAttempts"`
}

// advancePart is how long one request waits for the end of an advance.
const advancePart = "20s"

var advanceClock = define(tool{
	name: "advance_clock", title: "Advance the clock",
	description: "Advances the sandbox's clock, so that what is due later happens now: outcomes, expiries, retries of webhooks. It does not go back.",
}, func(ctx context.Context, c *call, in *advanceClockInput) (*advanceClockOutput, error) {
	request := wire.AdvanceRequest{By: in.By, To: in.To, Wait: advancePart}
	if in.Next != nil && *in.Next {
		request.To = "nextDue"
	}
	done, target, err := c.sandbox.API.Advance(ctx, request)
	for err == nil && target != "" {
		c.tell("The clock is on its way to " + target)
		done, target, err = c.sandbox.API.Advance(ctx, wire.AdvanceRequest{To: target, Wait: advancePart})
	}
	if err != nil {
		return nil, err
	}
	clock, err := c.sandbox.API.Clock(ctx)
	if err != nil {
		return nil, err
	}
	out := &advanceClockOutput{
		Clock: clockOf(&clock), Settled: done.Settled, Expired: done.Expired, Delivered: done.Delivered, FailedAttempts: done.FailedAttempts,
	}
	out.say("It is %s in the sandbox. %s settled, %s expired, %s delivered, %s failed.", clock.Now,
		english.Plural(done.Settled, "payment", "payments"), english.Plural(done.Expired, "payment", "payments"),
		english.Plural(done.Delivered, "event", "events"), english.Plural(done.FailedAttempts, "attempt", "attempts"))
	if done.FailedAttempts > 0 {
		out.add(step{Tool: "list_events", Arguments: arguments("state", "queued"), Because: "lists events that were not acknowledged"})
	}
	out.add(step{Tool: "list_transactions", Because: "lists what became of the payments"})
	if clock.NextDueAt != nil {
		out.add(step{Tool: "advance_clock", Arguments: arguments("next", true), Because: "goes on to what is due next"})
	}
	return out, nil
})
