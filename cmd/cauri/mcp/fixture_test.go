package mcp

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"github.com/cauri-dev/cauri/cmd/cauri/cli"
)

const (
	testKey    = "cauri_sk_test_0123456789abcdefghijklmnopqrstuv"
	testSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
)

// finding returns what finds a sandbox by its URL and key, as the command does.
func finding(t *testing.T, uri, key string) func(context.Context) (*cli.Found, error) {
	t.Helper()
	cmd := &cobra.Command{Use: "mcp"}
	finder := cli.NewFinder(cmd, cli.Options{Folder: t.TempDir(), Config: t.TempDir()})
	if err := cmd.ParseFlags([]string{"--url=" + uri, "--api-key=" + key}); err != nil {
		t.Fatal(err)
	}
	return func(ctx context.Context) (*cli.Found, error) { return finder.Find(ctx, nil) }
}

// fake answers requests by their method and path below /api/v1; all others with 404.
func fake(t *testing.T, answers map[string]string) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, path, _ := strings.Cut(r.URL.Path, "/api/v1")
		answer, known := answers[r.Method+" "+path]
		if !known && path == "/faults" {
			answer, known = `{"data": []}`, true
		}
		if !known {
			w.WriteHeader(http.StatusNotFound)
			answer = `{"error": "not_found", "message": "There is none."}`
		}
		_, _ = w.Write([]byte(answer))
	}))
	t.Cleanup(server.Close)
	return server.URL + "/sandboxes/team/shop"
}

// connect returns a client that is connected to a server in memory.
func connect(t *testing.T, s *Server, o *sdk.ClientSessionOptions) *sdk.ClientSession {
	t.Helper()
	ours, theirs := sdk.NewInMemoryTransports()
	if _, err := s.mcp.Connect(t.Context(), ours, nil); err != nil {
		t.Fatal(err)
	}
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), theirs, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return session
}

// outcome is the output of a call, decoded.
type outcome struct {
	failureOutput
	Cause string `json:"cause"`
	text  string
	isErr bool
}

func use(t *testing.T, session *sdk.ClientSession, name string, arguments any) outcome {
	t.Helper()
	result, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: name, Arguments: arguments})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	o := outcome{text: result.Content[0].(*sdk.TextContent).Text, isErr: result.IsError}
	if err := json.Unmarshal([]byte(o.text), &o); err != nil {
		t.Fatalf("%s: %v: %s", name, err, o.text)
	}
	return o
}
