package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/cauri-dev/cauri/test/cluster/merchantapi"
)

// binding is what a workload knows of a sandbox.
type binding struct {
	name   string
	uri    string
	key    string
	secret string // that webhooks are signed with
}

// readBindings reads the Service Bindings of a workload: below root a folder for each, with a file for each key of its Secret
// (Service Binding Specification for Kubernetes 1.1, "Workload Projection").
func readBindings(root string) (map[string]binding, error) {
	if root == "" {
		return nil, errors.New("SERVICE_BINDING_ROOT is not set: mount the sandboxes' Secrets below a folder and name it")
	}
	folders, err := filepath.Glob(filepath.Join(root, "*", "type"))
	if err != nil {
		return nil, err
	}
	bindings := map[string]binding{}
	for _, typeFile := range folders {
		folder := filepath.Dir(typeFile)
		var problems []error
		entry := func(name string) string {
			text, err := os.ReadFile(filepath.Join(folder, name))
			problems = append(problems, err)
			return strings.TrimSpace(string(text))
		}
		if entry("type") != "cauri" {
			continue
		}
		b := binding{name: filepath.Base(folder), uri: entry("uri"), key: entry("api-key"), secret: entry("webhook-signing-secret")}
		if err := errors.Join(problems...); err != nil {
			return nil, fmt.Errorf("reading the binding %s: %w", b.name, err)
		}
		bindings[b.name] = b
	}
	if len(bindings) == 0 {
		return nil, fmt.Errorf("there is no binding of type cauri below %s", root)
	}
	return bindings, nil
}

// do sends a request to a path of the sandbox's API.
func (b binding) do(ctx context.Context, client *http.Client, method, path string, body []byte) (merchantapi.Answer, error) {
	request, err := http.NewRequestWithContext(ctx, method, b.uri+"/api/v1"+path, bytes.NewReader(body))
	if err != nil {
		return merchantapi.Answer{}, err
	}
	request.Header.Set("Authorization", "Bearer "+b.key)
	request.Header.Set("Content-Type", "application/json")
	response, err := client.Do(request)
	if err != nil {
		return merchantapi.Answer{}, err
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return merchantapi.Answer{}, err
	}
	if !json.Valid(text) {
		return merchantapi.Answer{}, fmt.Errorf("%s %s was answered %d %q, which is no JSON", method, path, response.StatusCode, text)
	}
	return merchantapi.Answer{Status: response.StatusCode, Header: response.Header, Body: text, Closing: response.Close}, nil
}
