package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
)

// document is what is read of the API's description.
type document struct {
	Paths map[string]map[string]json.RawMessage `json:"paths"`
}

// described is the place of an operation in the API's description.
type describedOperation struct{ method, path string }

// operations returns the operations of the API, by their ids.
func (c *call) operations(ctx context.Context) (map[string]describedOperation, error) {
	var d document
	if err := c.sandbox.API.Page(ctx, "/openapi.json", url.Values{}, &d); err != nil {
		return nil, err
	}
	all := map[string]describedOperation{}
	for path, methods := range d.Paths {
		for method, text := range methods {
			var operation struct {
				ID string `json:"operationId"`
			}
			if json.Unmarshal(text, &operation) == nil && operation.ID != "" {
				all[operation.ID] = describedOperation{strings.ToUpper(method), path}
			}
		}
	}
	return all, nil
}

// operation returns the description of an operation, as Markdown.
func (c *call) operation(ctx context.Context, id string) (*readDocsOutput, error) {
	if err := c.open(ctx); err != nil {
		return nil, err
	}
	all, err := c.operations(ctx)
	if err != nil {
		return nil, err
	}
	names := slices.Sorted(maps.Keys(all))
	if _, known := all[id]; !known {
		problem := fmt.Sprintf("is no operation: %s", listed(names, "", "the operations are"))
		if near := nearest(id, names); near != "" {
			problem = "is no operation: did you mean " + near + "?"
		}
		return nil, invalid(fieldErrors{"operation": {problem}})
	}
	text, err := c.sandbox.API.Text(ctx, "/docs/api/"+url.PathEscape(id)+".md")
	if err != nil {
		return nil, err
	}
	out := &readDocsOutput{}
	out.say("The operation %s: %s %s.", id, all[id].method, all[id].path)
	short := cut(text, maxPage)
	out.Sections = []docsSection{{Page: "api/" + id, Title: id, Text: short, Cut: len(short) < len(text)}}
	return out, nil
}
