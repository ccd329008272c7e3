package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"runtime/debug"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/cauri-dev/cauri/cmd/cauri/cli"
)

// Options are the settings of a server.
type Options struct {
	Version  string
	ReadOnly bool // offers only the tools that change nothing
	// Find finds the sandbox and connects to it.
	Find func(ctx context.Context) (*cli.Found, error)
	// Start starts a sandbox that Find finds, and waits for it; nil: the server starts none. A second call waits for the
	// same sandbox while it runs.
	Start func(ctx context.Context) error
}

// Server offers the tools of a sandbox.
type Server struct {
	options Options
	secrets *secrets
	sandbox *holder
	tools   []tool
	mcp     *sdk.Server
	now     func() time.Time
}

// New returns a server.
func New(o Options) *Server {
	s := &Server{options: o, secrets: newSecrets(), now: time.Now}
	s.sandbox = newHolder(&o, s.secrets)
	s.mcp = sdk.NewServer(&sdk.Implementation{Name: "cauri", Title: "Cauri, mobile-money sandboxes", Version: o.Version}, &sdk.ServerOptions{
		Instructions:      instructions,
		Logger:            slog.Default(),
		Capabilities:      &sdk.ServerCapabilities{}, // no logging, which the protocol has deprecated
		CompletionHandler: s.complete,
	})
	for _, t := range allTools() {
		if o.ReadOnly && !t.reads {
			continue
		}
		s.tools = append(s.tools, t)
		s.mcp.AddTool(t.described(), func(ctx context.Context, request *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return resultOf(t.run(ctx, s.callOf(ctx, request), request.Params.Arguments)), nil
		})
	}
	s.addResources()
	s.addPrompts()
	s.mcp.AddReceivingMiddleware(s.guard)
	return s
}

// Run serves one client until its input ends or ctx does.
func (s *Server) Run(ctx context.Context, in io.ReadCloser, out io.WriteCloser) error {
	defer s.sandbox.close()
	err := s.mcp.Run(ctx, &sdk.IOTransport{Reader: in, Writer: &filter{secrets: s.secrets, out: out}})
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// guard answers what the library would answer with an error of the protocol, which agents do not see: a panic of a tool,
// and a tool that does not exist.
func (s *Server) guard(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, request sdk.Request) (result sdk.Result, err error) {
		params, isCall := request.GetParams().(*sdk.CallToolParamsRaw)
		defer func() {
			if reason := recover(); reason != nil {
				slog.ErrorContext(ctx, "a call has panicked", "method", method, "reason", s.secrets.hidden(fmt.Sprint(reason)), "stack", string(debug.Stack()))
				result, err = nil, fmt.Errorf("%s failed by a fault of this server", method)
				if isCall {
					result, err = resultOf(nil, &failure{Code: codeInternal, Message: "The tool " + cut(params.Name, 64) + " failed by a fault of this server. " +
						"Its standard error has the details. Other tools go on working."}), nil
				}
			}
		}()
		if isCall {
			if problem := s.unknown(params.Name); problem != "" {
				return resultOf(nil, &failure{Code: "unknown_tool", Message: problem}), nil
			}
		}
		return next(ctx, method, request)
	}
}

// unknown says that there is no tool of this name; "" if there is.
func (s *Server) unknown(name string) string {
	var names []string
	for i := range s.tools {
		if s.tools[i].name == name {
			return ""
		}
		names = append(names, s.tools[i].name)
	}
	text := fmt.Sprintf("There is no tool %q", cut(name, 64))
	if s.options.ReadOnly {
		text += ", or it changes something and this server runs with --read-only"
	}
	if near := nearest(name, names); near != "" {
		return text + ": did you mean " + near + "?"
	}
	return text + ": the tools are " + strings.Join(names, ", ") + "."
}

// callOf returns a call, whose progress is told to the client if the client asked for that.
func (s *Server) callOf(ctx context.Context, request *sdk.CallToolRequest) *call {
	c := &call{server: s, tell: func(string) {}}
	token := request.Params.GetProgressToken()
	if token == nil {
		return c
	}
	told := 0.0
	c.tell = func(message string) {
		told++
		// A client that is gone needs no progress.
		_ = request.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: token, Progress: told, Message: message})
	}
	return c
}

// arguments returns arguments of a step.
func arguments(pairs ...any) map[string]any {
	all := map[string]any{}
	for i := 0; i+1 < len(pairs); i += 2 {
		all[pairs[i].(string)] = pairs[i+1]
	}
	return all
}

// raw returns JSON of a value of a known form.
func raw(value any) json.RawMessage {
	text, err := json.Marshal(value)
	if err != nil {
		return nil
	}
	return text
}

// sentence returns a text with a capital and an end.
func sentence(text string) string {
	if text == "" {
		return ""
	}
	return ended(strings.ToUpper(text[:1]) + text[1:])
}

// ended returns a text with a full stop, if it has no other end.
func ended(text string) string {
	if strings.HasSuffix(text, ".") || strings.HasSuffix(text, "?") {
		return text
	}
	return text + "."
}
