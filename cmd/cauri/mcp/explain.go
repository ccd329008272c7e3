package mcp

import (
	"context"
	"encoding/base64"
	"errors"
	"net/http"

	"github.com/cauri-dev/cauri/cmd/cauri/explain"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
)

// explainer returns who explains what happened in the sandbox of the call.
func (c *call) explainer() *explain.Explainer {
	return &explain.Explainer{API: c.sandbox.API, Secrets: c.sandbox.Secrets(), Now: c.server.now}
}

// stepsOf returns the steps of an explanation. A step that is a tool needs no command.
func (c *call) stepsOf(all []explain.Step) []step {
	var found []step
	for _, s := range all {
		one := step{Tool: s.Tool, Arguments: s.Arguments, Change: s.Change, Because: s.Because}
		if s.Tool == "" && s.Command != "" {
			one.Command = c.sandbox.Typed(s.Command)
		}
		found = append(found, one)
	}
	return found
}

type explainInput struct {
	ID string `json:"id" example:"TX_01JCC5H2M4Q7ZXW3V8R6T9B0YE" doc:"TX_, evt_, log_ or chk_ id, a reference, an order, or a phone number."`
}

type moment struct {
	At   string   `json:"at,omitempty"`
	What string   `json:"what"`
	ID   string   `json:"id,omitempty"`
	Text string   `json:"text"`
	Said *foreign `json:"said,omitempty"` // what somebody else wrote
}

type explainOutput struct {
	head
	Kind     string   `json:"kind"`
	Also     []string `json:"also,omitempty"` // codes of further causes
	Timeline []moment `json:"timeline"`
	Left     int      `json:"left,omitempty"` // how many moments are left out, in the middle
}

var explainTool = define(tool{
	name: "explain", title: "What happened to it", reads: true,
	description: "What happened to a transaction, an event, a request, a check, an order, a number or an operator's id: a timeline (request, " +
		"prompt, faults, settlement, attempts), the cause, and the next step.",
}, func(ctx context.Context, c *call, in *explainInput) (*explainOutput, error) {
	found, err := c.explainer().Explain(ctx, in.ID)
	if err != nil {
		return nil, notFound(err)
	}
	out := &explainOutput{Kind: string(found.Kind), Also: found.Also, Timeline: []moment{}}
	out.Summary, out.Cause, out.Next = found.Summary, found.Cause, c.stepsOf(found.Next)
	for _, m := range found.Timeline {
		one := moment{At: m.At, What: m.What, ID: m.ID, Text: m.Text}
		if m.Said != "" {
			one.Said = &foreign{m.Said, m.Cut}
		}
		out.Timeline = append(out.Timeline, one)
	}
	out.shorten()
	return out, nil
})

// shorten leaves moments out of the middle of a timeline that is too long: its beginning and its end tell the most.
func (o *explainOutput) shorten() {
	for len(raw(o.Timeline)) > maxRows && len(o.Timeline) > 2 {
		middle := len(o.Timeline) / 2
		o.Timeline = append(o.Timeline[:middle:middle], o.Timeline[middle+1:]...)
		o.Left++
	}
}

// notFound returns the failure for an id that the sandbox does not have, with what it has.
func notFound(err error) error {
	var missing *explain.NotFoundError
	if !errors.As(err, &missing) {
		return err
	}
	f := &failure{Code: "not_found", Message: sentence(missing.Error())}
	for _, id := range missing.Has {
		f.Next = append(f.Next, step{Tool: "explain", Arguments: arguments("id", id), Because: "explains one that there is"})
	}
	f.Next = append(f.Next, step{Tool: "list_transactions", Because: "lists the transactions that there are"},
		step{Tool: "list_requests", Because: "lists refused requests, which recorded nothing"})
	return f
}

type diagnoseInput struct {
	Event             string         `json:"event" example:"evt_01JCC5H2M4Q7ZXW3V8R6T9B0YE" doc:"Id of the event: its X-Service-Delivery."`
	Body              string         `json:"body,omitempty" doc:"The body that the receiver verified, as it arrived."`
	BodyBase64        string         `json:"body_base64,omitempty" doc:"The same in base64, for any bytes."`
	Headers           map[string]any `json:"headers,omitempty" doc:"Headers as they arrived, such as {\"X-Service-Signature\": \"sha256=...\"}."`
	ComputedSignature string         `json:"computed_signature,omitempty" doc:"The signature that the receiver's code computed. It is enough alone."`
}

func (in *diagnoseInput) check(wrong fieldErrors) {
	if in.Body != "" && in.BodyBase64 != "" {
		wrong.add("body_base64", "and body are both given: send one of them")
	}
	if _, err := base64.StdEncoding.DecodeString(in.BodyBase64); err != nil {
		wrong.add("body_base64", "is not base64: send the bytes as base64, or body")
	}
	for name, value := range in.Headers {
		if _, is := value.(string); !is {
			wrong.add("headers", "has %s, which is not a text", name)
		}
	}
}

// captured returns what is known of the request.
func (in *diagnoseInput) captured() explain.Captured {
	got := explain.Captured{Computed: in.ComputedSignature, Headers: http.Header{}}
	if in.Body != "" {
		got.Body = []byte(in.Body)
	}
	if in.BodyBase64 != "" {
		got.Body, _ = base64.StdEncoding.DecodeString(in.BodyBase64) // check has decoded it
	}
	for name, value := range in.Headers {
		got.Headers.Set(name, value.(string))
	}
	return got
}

type diagnoseOutput struct {
	head
	Event      string           `json:"event"`
	Also       []string         `json:"also,omitempty"`
	Difference *bodyDifference  `json:"difference,omitempty"`
	Schemes    []schemeVerified `json:"schemes,omitempty"`
}

type schemeVerified struct {
	Header   string `json:"header"`
	Verifies bool   `json:"verifies"`
}

// bodyDifference says where the bytes differ from those that were sent.
type bodyDifference struct {
	Offset      int      `json:"offset"`
	SentExcerpt *foreign `json:"sentExcerpt,omitempty"`
	YourExcerpt *foreign `json:"yourExcerpt,omitempty"`
	Fields      []string `json:"fields,omitempty"`
}

var diagnoseSignature = define(tool{
	name: "diagnose_signature", title: "Why a signature is refused", reads: true,
	description: "Why the receiver refuses an event's signature: from body and headers as they arrived, or from nothing but the signature that " +
		"the receiver computed, or from what the receiver answered.",
}, func(ctx context.Context, c *call, in *diagnoseInput) (*diagnoseOutput, error) {
	found, err := c.explainer().DiagnoseSignature(ctx, in.Event, in.captured())
	if err != nil {
		return nil, notFound(err)
	}
	out := &diagnoseOutput{Event: found.Event, Also: found.Also}
	out.Summary, out.Next = found.Summary, c.stepsOf(found.Next)
	if found.Negative() {
		out.Cause = found.Cause
	}
	if found.Comparison != nil {
		out.compare(found.Comparison)
	}
	return out, nil
})

func (o *diagnoseOutput) compare(found *wire.Comparison) {
	for _, s := range found.Schemes {
		o.Schemes = append(o.Schemes, schemeVerified{s.Header, s.Verifies})
	}
	if d := found.Difference; d != nil {
		o.Difference = &bodyDifference{d.Offset, foreignOf(d.SentExcerpt), foreignOf(d.YourExcerpt), d.Fields}
	}
}
