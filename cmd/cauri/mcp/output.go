package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/cauri-dev/cauri/cmd/cauri/cli"
	"github.com/cauri-dev/cauri/cmd/cauri/sandboxapi"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
)

const (
	// maxOutput is the maximum size of an output, in bytes of JSON.
	maxOutput = 24 << 10
	// maxText is the maximum size of a text that somebody else wrote, in bytes.
	maxText = 2 << 10
	// maxNext is the maximum number of steps.
	maxNext = 3
)

// head begins every output.
type head struct {
	Summary string `json:"summary"`
	Cause   string `json:"cause,omitempty"` // code of package advice; absent if all is well
	Next    []step `json:"next"`
}

// step is what to do next: a call of a tool as it stands, a command, or a change in the shop's code.
type step struct {
	Tool      string         `json:"tool,omitempty"`
	Arguments map[string]any `json:"arguments,omitempty"`
	Command   string         `json:"command,omitempty"`
	Change    string         `json:"change,omitempty"`
	Because   string         `json:"because,omitempty"`
}

func (h *head) say(format string, args ...any) { h.Summary = fmt.Sprintf(format, args...) }

func (h *head) add(steps ...step) { h.Next = append(h.Next, steps...) }

func (h *head) headOf() *head { return h }

// headed is an output with a head.
type headed interface{ headOf() *head }

// Foreign is a text that somebody else wrote. It is data, never an instruction.
type foreign struct {
	Text string `json:"text"`
	Cut  bool   `json:"cut,omitempty"`
}

// foreignOf returns the beginning of a text; nil for none.
func foreignOf(text string) *foreign {
	if text == "" {
		return nil
	}
	short := cut(text, maxText)
	return &foreign{short, len(short) < len(text)}
}

// cut returns the beginning of a text, at most some bytes.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}

// The codes of failures that are not the API's.
const (
	codeArguments   = "invalid_arguments"
	codeNoSandbox   = "no_sandbox"
	codeUnreachable = "unreachable"
	codeTimeout     = "timeout"
	codeCanceled    = "canceled"
	codeInternal    = "internal"
)

// failure is the error of a tool.
type failure struct {
	Code        string
	Message     string
	Fields      fieldErrors
	Transaction string // id of what may have been recorded
	Reference   string
	Next        []step
}

func (f *failure) Error() string { return f.Code + ": " + f.Message }

// failureOutput is the output for a failure. Its summary makes it fit the schema of every tool.
type failureOutput struct {
	Summary       string      `json:"summary"`
	Error         string      `json:"error"`
	Message       string      `json:"message"`
	FieldErrors   fieldErrors `json:"fieldErrors,omitempty"`
	TransactionID string      `json:"transactionId,omitempty"`
	Reference     string      `json:"reference,omitempty"`
	Next          []step      `json:"next"`
}

// failureOf returns what an error means to an agent.
func failureOf(err error) *failure {
	var known *failure
	var refused *sandboxapi.RefusedError
	var unreachable *sandboxapi.UnreachableError
	switch {
	case errors.As(err, &known):
		return known
	case errors.As(err, &refused):
		return refusal(refused)
	case errors.As(err, &unreachable):
		return &failure{Code: codeUnreachable, Message: cli.Message(err), Next: []step{
			{Tool: "get_status", Because: "tells whether the sandbox answers again"},
		}}
	case errors.Is(err, context.DeadlineExceeded):
		return &failure{Code: codeTimeout, Message: cli.Message(err)}
	case errors.Is(err, context.Canceled):
		return &failure{Code: codeCanceled, Message: "The call was canceled. What it had begun may go on."}
	}
	return &failure{Code: codeInternal, Message: cli.Message(err)}
}

func refusal(refused *sandboxapi.RefusedError) *failure {
	f := &failure{Code: refused.Code, Message: refused.Message, Fields: refused.Fields}
	if f.Code == "" {
		f.Code, f.Message = codeUnreachable, refused.Error()
	}
	if len(f.Fields) > 0 {
		f.Message = ended("The API refuses fields: " + f.Fields.sentence())
	}
	switch {
	case refused.RetryAfter > 0:
		f.Message += fmt.Sprintf(" Call again in %s.", refused.RetryAfter)
	case refused.Code == "not_found":
		f.Next = append(f.Next, step{Tool: "list_transactions", Because: "lists the transactions that there are"},
			step{Tool: "list_events", Because: "lists the events that there are"})
	}
	return f
}

// resultOf returns the result of a call. The JSON of the output is in it twice, because many clients show only texts.
func resultOf(output any, err error) *sdk.CallToolResult {
	if err != nil {
		f := failureOf(err)
		output = &failureOutput{f.Message, f.Code, f.Message, f.Fields, f.Transaction, f.Reference, steps(f.Next)}
	}
	if h, ok := output.(headed); ok {
		h.headOf().Next = steps(h.headOf().Next)
	}
	text, wrong := json.Marshal(output)
	if wrong == nil && len(text) > maxOutput {
		text, wrong = nil, fmt.Errorf("the output has %d bytes, more than %d", len(text), maxOutput)
	}
	if wrong != nil {
		output = &failureOutput{Summary: "The output is too large.", Error: "too_large", Next: []step{},
			Message: "The output is too large: ask for fewer, with a smaller limit or more filters."}
		text, _ = json.Marshal(output) // of a known form
		err = wrong
	}
	return &sdk.CallToolResult{
		Content: []sdk.Content{&sdk.TextContent{Text: string(text)}}, StructuredContent: json.RawMessage(text), IsError: err != nil,
	}
}

// steps returns the first steps, without those that are there twice.
func steps(all []step) []step {
	found := []step{}
	seen := map[string]bool{}
	for _, s := range all {
		key, _ := json.Marshal(step{Tool: s.Tool, Arguments: s.Arguments, Command: s.Command, Change: s.Change})
		if !seen[string(key)] && len(found) < maxNext {
			seen[string(key)] = true
			found = append(found, s)
		}
	}
	return found
}

// adviceSteps returns the steps of an advice of the API. A step that is a tool needs no command.
func (c *call) adviceSteps(a *wire.Advice) (all []step) {
	for _, next := range a.Next {
		s := step{Tool: next.Tool, Arguments: next.Arguments, Because: strings.TrimSuffix(next.Because, ":")}
		if next.Tool == "" {
			s.Command = c.sandbox.Typed(next.Command)
		}
		all = append(all, s)
	}
	return all
}
