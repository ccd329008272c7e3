package mcp

import (
	"context"
	"encoding/json"
	"reflect"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/cauri-dev/cauri/cmd/cauri/cli"
)

// tool is a tool of the server.
type tool struct {
	name, title, description string

	reads    bool // it changes nothing
	destroys bool // what it removes cannot be brought back
	repeats  bool // a second call with the same arguments changes nothing more
	open     bool // it reaches the merchant's program
	alone    bool // it needs no sandbox

	input, output reflect.Type
	run           func(ctx context.Context, c *call, arguments json.RawMessage) (any, error)
}

// call is a call of a tool.
type call struct {
	server  *Server
	sandbox *cli.Found // nil for a tool that needs none
	tell    func(message string)
}

// define completes a tool with its types and its function.
func define[In, Out any](t tool, run func(ctx context.Context, c *call, in *In) (*Out, error)) tool {
	t.input, t.output = reflect.TypeFor[In](), reflect.TypeFor[Out]()
	t.run = func(ctx context.Context, c *call, arguments json.RawMessage) (any, error) {
		in := new(In)
		if err := decode(arguments, in); err != nil {
			return nil, err
		}
		if !t.alone {
			if err := c.open(ctx); err != nil {
				return nil, err
			}
		}
		out, err := run(ctx, c, in)
		if err != nil {
			return nil, err
		}
		return out, nil
	}
	return t
}

// described returns the tool as tools/list has it, with all hints.
func (t *tool) described() *sdk.Tool {
	output := schemaOf(t.output, false)
	output["required"] = []string{"summary", "next"} // a failure has these, and some clients check failures too
	return &sdk.Tool{
		Name: t.name, Title: t.title, Description: t.description,
		InputSchema: schemaOf(t.input, true), OutputSchema: output,
		Annotations: &sdk.ToolAnnotations{
			Title: t.title, ReadOnlyHint: t.reads, DestructiveHint: &t.destroys, IdempotentHint: t.repeats || t.reads, OpenWorldHint: &t.open,
		},
	}
}

// open finds the sandbox of a call.
func (c *call) open(ctx context.Context) (err error) {
	c.sandbox, err = c.server.sandbox.open(ctx, c.tell)
	return err
}
