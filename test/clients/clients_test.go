package clients

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/test/system"
)

// documents are the names of the API's descriptions under /v1, and of the files in the folder generated.
var documents = []string{"openapi.json", "openapi-3.0.json"}

// served are the paths of all descriptions by their files: those of single operations and of the operators' own APIs too.
func served() map[string]string {
	paths := map[string]string{}
	for _, name := range documents {
		paths[name] = "/v1/" + name
	}
	for _, operation := range []string{"createPayment", "listEvents"} {
		paths[operation+".json"] = "/v1/openapi.json?operation=" + operation
	}
	for _, api := range operators.NativeAPIs() {
		paths[string(api.Operator)+".json"] = "/operators/" + string(api.Operator) + "/openapi.json"
	}
	return paths
}

// fixture is an api with sandboxes.
type fixture struct {
	*system.System
	api *system.API
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	if os.Getenv("CAURI_CLIENTS") == "" {
		t.Skip("`make clients` runs these tests: they need Node.js, npm packages and minutes")
	}
	ctx := context.Background() // the system is closed after the context of the test has ended
	postgres, err := system.StartPostgres(ctx)
	must(t, err)
	t.Cleanup(func() { must(t, postgres.Close()) })
	program, err := system.Build(ctx, t.TempDir())
	must(t, err)
	s, err := system.Open(ctx, postgres, program)
	must(t, err)
	t.Cleanup(func() { must(t, s.Close()) })
	api, err := s.StartAPI(ctx, "api")
	must(t, err)
	_, err = s.StartWorker(ctx, "worker") // which advances a clock
	must(t, err)
	return &fixture{s, api}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// sandbox is the one that the examples of the description suppose. No receiver takes its events.
func (f *fixture) sandbox(t *testing.T, name string) (uri, key string) {
	t.Helper()
	const number, balance = 8_123_456, 50_000 // +250788123456
	sandbox, err := f.AddSandbox(t.Context(), name, "http://127.0.0.1:9/hooks", func(c *sandboxes.Config) {
		c.API = sandboxes.APIAccess{TestClients: true, Reset: true, Faults: true}
		c.OpeningFloat = map[payments.Currency]int64{payments.RWF: 1_000_000}
	})
	must(t, err)
	_, err = sandbox.AddPayer(t.Context(), number, payments.Manual, balance)
	must(t, err)
	return f.api.URL + "/sandboxes/" + system.Namespace + "/" + name, sandbox.Key
}

// fetch writes the descriptions to the folder generated, as a sandbox serves them.
func fetch(t *testing.T, uri string) {
	t.Helper()
	must(t, os.MkdirAll("generated", 0o755))
	for name, path := range served() {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, uri+path, nil)
		must(t, err)
		response, err := http.DefaultClient.Do(request)
		must(t, err)
		text, err := io.ReadAll(response.Body)
		must(t, err)
		must(t, response.Body.Close())
		must(t, os.WriteFile(filepath.Join("generated", name), text, 0o644))
	}
}

// run runs a program, which has to end with 0, and returns what it printed.
func run(t *testing.T, folder, program string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Dir = folder
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		t.Errorf("%s %s: %v\n%s", program, strings.Join(args, " "), err, out.String())
	}
	return out.String()
}

// tool is a program of an npm package.
func tool(name string) string { return filepath.Join("node_modules", ".bin", name) }

func TestClients(t *testing.T) {
	f := newFixture(t)
	uri, key := f.sandbox(t, "checkout")
	fetch(t, uri)
	for name := range served() {
		file := filepath.Join("generated", name)
		t.Run("redocly/"+name, func(t *testing.T) {
			out := run(t, ".", tool("redocly"), "lint", "--format=stylish", file)
			for line := range strings.Lines(out) {
				if strings.Contains(line, " warning ") || strings.Contains(line, " error ") {
					t.Error(line)
				}
			}
		})
		t.Run("spectral/"+name, func(t *testing.T) { run(t, ".", tool("spectral"), "lint", "--fail-severity=hint", file) })
	}
	for _, name := range documents {
		file := filepath.Join("generated", name)
		t.Run("typescript/"+name, func(t *testing.T) {
			run(t, ".", tool("openapi-typescript"), file, "-o", "generated/api.d.ts")
			run(t, ".", tool("tsc"))
			paid(t, run(t, ".", "node", "generated/pay.js", uri, key, "typescript-"+name))
		})
		t.Run("go/"+name, func(t *testing.T) {
			const folder = "goclient"
			run(t, folder, "go", "mod", "download") // which would speak in the output of the client
			run(t, folder, "go", "tool", "oapi-codegen", "-generate=types,client", "-package=main", "-o=client.gen.go", "../"+file)
			paid(t, run(t, folder, "go", "run", ".", uri, key, "go-"+name))
		})
	}
}

func paid(t *testing.T, out string) {
	t.Helper()
	if strings.TrimSpace(out) != "paid" {
		t.Errorf("the client says %q", out)
	}
}

func TestPostmanCollectionRuns(t *testing.T) {
	f := newFixture(t)
	uri, key := f.sandbox(t, "postman")
	signedIn, err := http.PostForm(uri+"/console/sign-in", url.Values{"key": {key}})
	must(t, err)
	must(t, signedIn.Body.Close())
	const folder = "../../docs/postman/cauri.postman_"
	out := run(t, ".", tool("newman"), "run", folder+"collection.json", "--environment="+folder+"environment.json",
		"--env-var=CAURI_URI="+uri, "--env-var=CAURI_API_KEY="+key, "--color=off")
	t.Log(out)
}
