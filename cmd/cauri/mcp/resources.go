package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	docsScheme      = "cauri://docs/"
	operationScheme = "cauri://api/"
	statusURI       = "cauri://sandbox/status"
	requestsURI     = "cauri://sandbox/requests"

	markdown = "text/markdown"
	jsonText = "application/json"
)

// addResources adds the pages, the operations, and what the sandbox is doing.
func (s *Server) addResources() {
	library := pages()
	for i := range library.pages {
		p := &library.pages[i]
		s.mcp.AddResource(&sdk.Resource{
			URI: docsScheme + p.name, Name: p.name, Title: p.title, Description: cut(p.about, 200), MIMEType: markdown, Size: int64(len(p.text)),
		}, s.resource(markdown, func(context.Context, *call, string) (string, error) { return p.text, nil }))
	}
	s.mcp.AddResourceTemplate(&sdk.ResourceTemplate{
		URITemplate: operationScheme + "{operation}", Name: "operation", Title: "An operation of the API", MIMEType: markdown,
		Description: "Method, fields, an example, answers and errors of one operation, such as createPayment.",
	}, s.resource(markdown, func(ctx context.Context, c *call, uri string) (string, error) {
		found, err := c.operation(ctx, strings.TrimPrefix(uri, operationScheme))
		if err != nil {
			return "", err
		}
		return found.Sections[0].Text, nil
	}))
	for _, r := range []struct {
		sdk.Resource
		of tool
	}{
		{sdk.Resource{URI: statusURI, Name: "status", Title: "Status of the sandbox", MIMEType: jsonText}, getStatus},
		{sdk.Resource{URI: requestsURI, Name: "requests", Title: "The last refused requests", MIMEType: jsonText}, listRequests},
	} {
		s.mcp.AddResource(&r.Resource, s.resource(jsonText, func(ctx context.Context, c *call, _ string) (string, error) {
			out, err := r.of.run(ctx, c, nil)
			if err != nil {
				return "", err
			}
			text, err := json.Marshal(out)
			return string(text), err
		}))
	}
}

// resource returns the handler of a resource whose text a function returns.
func (s *Server) resource(media string, text func(ctx context.Context, c *call, uri string) (string, error)) sdk.ResourceHandler {
	return func(ctx context.Context, request *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		uri := request.Params.URI
		found, err := text(ctx, &call{server: s, tell: func(string) {}}, uri)
		if err != nil {
			return nil, fmt.Errorf("%s", failureOf(err).Message)
		}
		return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: uri, MIMEType: media, Text: found}}}, nil
	}
}

// mostCompletions is the maximum number of completions, by the protocol.
const mostCompletions = 100

// complete completes the arguments of prompts and of the template.
func (s *Server) complete(ctx context.Context, request *sdk.CompleteRequest) (*sdk.CompleteResult, error) {
	typed, ref := request.Params.Argument, request.Params.Ref
	var all []string
	switch {
	case ref != nil && ref.Type == "ref/prompt":
		all = choicesOf(ref.Name, typed.Name)
	case ref != nil && ref.URI == operationScheme+"{operation}":
		c := &call{server: s, tell: func(string) {}}
		if c.open(ctx) == nil { // without a sandbox, nothing is completed
			if found, err := c.operations(ctx); err == nil {
				all = slices.Sorted(maps.Keys(found))
			}
		}
	}
	fit := []string{}
	for _, value := range all {
		if strings.HasPrefix(strings.ToLower(value), strings.ToLower(typed.Value)) {
			fit = append(fit, value)
		}
	}
	shown := fit[:min(len(fit), mostCompletions)]
	return &sdk.CompleteResult{Completion: sdk.CompletionResultDetails{Values: shown, Total: len(fit), HasMore: len(fit) > len(shown)}}, nil
}
