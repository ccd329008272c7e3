// Package examples runs what the documents show: each command, resource and program in them, and the shops of the folder examples with
// their own tests, in the ways that docs/ci.md shows. In place of a container there is a process, with a Postgres of its own.
package examples

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/cauri-dev/cauri/test/ports"
	"github.com/cauri-dev/cauri/test/system"
)

// root is the folder of the work tree.
const root = "../.."

var goTests, nodeTests = []string{"go", "test", "-count=1", "./..."}, []string{"node", "--test"}

// TestShopWithAFile is what examples/README.md shows.
func TestShopWithAFile(t *testing.T) {
	t.Parallel()
	begun, port := time.Now(), ports.ForTest(t)
	environment := filepath.Join(t.TempDir(), "env")
	startDev(t, nil, "--file="+filepath.Join(root, "examples", "sandbox.yaml"), "--port=0", "--env-file="+environment,
		"--webhook-url=http://127.0.0.1:"+port+"/webhooks")
	variables, err := os.ReadFile(environment)
	if err != nil {
		t.Fatal(err)
	}
	run(t, folderOf("go-shop"), append(strings.Fields(string(variables)), "PORT="+port), goTests...)
	t.Logf("%.1f s from nothing", time.Since(begun).Seconds())
}

// TestMonthEnd is what docs/clock.md shows.
func TestMonthEnd(t *testing.T) {
	t.Parallel()
	port := ports.ForTest(t)
	environment := filepath.Join(t.TempDir(), "env")
	startDev(t, nil, "--file="+filepath.Join(root, "examples", "month-end.yaml"), "--port=0", "--env-file="+environment,
		"--webhook-url=http://127.0.0.1:"+port+"/webhooks")
	variables, err := os.ReadFile(environment)
	if err != nil {
		t.Fatal(err)
	}
	run(t, folderOf("go-shop"), append(strings.Fields(string(variables)), "PORT="+port, "SHOP_CLOCK=manual"),
		"go", "test", "-count=1", "-run=MonthEnd", ".")
}

// TestServiceOfTheJob runs docs/ci/services.yaml and docs/ci/gitlab-services.yaml.
func TestServiceOfTheJob(t *testing.T) {
	t.Parallel()
	needNode(t)
	var github struct {
		Jobs map[string]struct {
			Env      map[string]string
			Services map[string]struct{ Env map[string]string }
			Steps    []struct{ Run string }
		}
	}
	var gitlab map[string]struct {
		Variables map[string]string
		Services  []struct {
			Alias     string
			Variables map[string]string
		}
		Script []string
	}
	for name, into := range map[string]any{"services": &github, "gitlab-services": &gitlab} {
		if err := yaml.Unmarshal([]byte(read(t, "docs/ci/"+name+".yaml")), into); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("GitHub", func(t *testing.T) {
		job := github.Jobs["payments"]
		var scripts []string
		for _, step := range job.Steps {
			if !strings.Contains(step.Run, "/releases/download/") { // the command is in PATH, as for GitLab
				scripts = append(scripts, step.Run)
			}
		}
		summary := filepath.Join(t.TempDir(), "summary")
		job.Env["GITHUB_STEP_SUMMARY"] = summary
		runBeside(t, job.Services["cauri"].Env, job.Env, scripts)
		if text, err := os.ReadFile(summary); err != nil || !strings.Contains(string(text), "| met | expectations | nothing else |") {
			t.Errorf("the summary of the run has no verdict: %v\n%s", err, text)
		}
	})
	t.Run("GitLab", func(t *testing.T) {
		job := gitlab["payments"]
		service := maps.Clone(job.Variables) // GitLab gives a service the variables of the job too
		maps.Copy(service, job.Services[1].Variables)
		runBeside(t, service, job.Variables, []string{strings.Join(job.Script, "\n")})
	})
}

// runBeside runs the service as a process, then the scripts of the job, then a shop in place of the user's.
func runBeside(t *testing.T, service, job map[string]string, scripts []string) {
	begun, port, apiPort := time.Now(), ports.ForTest(t), ports.ForTest(t)
	service, job = maps.Clone(service), maps.Clone(job)
	for _, name := range []string{"CAURI_COMMAND", "CAURI_DATABASE_URL", "CAURI_WEBHOOK_URL"} {
		if service[name] == "" {
			t.Fatalf("the service has no %s", name)
		}
	}
	delete(service, "CAURI_DATABASE_URL")
	service["CAURI_PORT"], service["CAURI_WEBHOOK_URL"] = apiPort, "http://127.0.0.1:"+port+"/webhooks"
	startDev(t, environ(service))
	_, path, _ := strings.Cut(job["CAURI_URI"], ":8080/")
	job["CAURI_URI"] = "http://127.0.0.1:" + apiPort + "/" + path
	variables := append(environ(job), "PORT="+port, "PATH="+filepath.Dir(program(t))+":"+os.Getenv("PATH"))
	for _, script := range scripts {
		run(t, t.TempDir(), variables, "bash", "-e", "-o", "pipefail", "-c", script)
	}
	run(t, folderOf("node-shop"), variables, nodeTests...)
	t.Logf("%.1f s from nothing", time.Since(begun).Seconds())
}

// TestTestcontainers runs the recipes of docs/ci.md with stand-ins for the libraries, which start a process.
func TestTestcontainers(t *testing.T) {
	t.Parallel()
	page := read(t, "docs/ci.md")
	variables := func(t *testing.T, shop string) []string {
		shop, err := filepath.Abs(folderOf(shop))
		if err != nil {
			t.Fatal(err)
		}
		return []string{"CAURI_TEST_PROGRAM=" + program(t), "CAURI_TEST_PORT=" + ports.ForTest(t), "PORT=" + ports.ForTest(t), "CAURI_TEST_SHOP=" + shop}
	}
	t.Run("go", func(t *testing.T) {
		folder, library := t.TempDir(), t.TempDir()
		const name = "github.com/testcontainers/testcontainers-go"
		copyTo(t, library, "testcontainers-go", "container.go", "network/network.go", "wait/wait.go")
		write(t, library, "go.mod", "module "+name+"\n\ngo 1.24\n")
		copyTo(t, folder, "testcontainers-go", "recipe_test.go")
		write(t, folder, "cauri_test.go", block(t, page, "go", "package shop_test"))
		write(t, folder, "go.mod", fmt.Sprintf("module shop\n\ngo 1.24\n\nrequire %s v0.0.0\n\nreplace %[1]s => %s\n", name, library))
		run(t, folder, variables(t, "go-shop"), goTests...)
	})
	t.Run("node", func(t *testing.T) {
		needNode(t)
		folder := t.TempDir()
		copyTo(t, folder, "testcontainers-node", "recipe.mjs", "testcontainers.mjs")
		recipe := block(t, page, "js", "import { GenericContainer")
		write(t, folder, "cauri.mjs", strings.Replace(recipe, `from "testcontainers"`, `from "./testcontainers.mjs"`, 1))
		run(t, folder, variables(t, "node-shop"), "node", "recipe.mjs")
	})
}

// needNode skips a test on a machine without Node.js. `make test` installs it as root.
func needNode(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("node"); err != nil && os.Geteuid() != 0 {
		t.Skip("node is not installed: run `bin/localcluster nodejs` as root, `apt-get install nodejs`, or add it to PATH")
	}
}

// startDev runs `cauri dev` until the test ends. It returns when the sandbox is ready.
func startDev(t *testing.T, variables []string, args ...string) {
	t.Helper()
	ready := filepath.Join(t.TempDir(), "ready")
	dev := exec.Command(program(t), append([]string{"dev", "--ready-file=" + ready}, args...)...)
	dev.Env = append(dev.Environ(), variables...)
	var output strings.Builder
	dev.Stdout, dev.Stderr = &output, &output
	if err := dev.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- dev.Wait() }()
	t.Cleanup(func() {
		_ = dev.Process.Signal(syscall.SIGTERM)
		if err := <-ended; err != nil {
			t.Errorf("cauri dev: %v\n%s", err, &output)
		}
	})
	for {
		if _, err := os.Stat(ready); err == nil {
			return
		}
		select {
		case err := <-ended:
			ended <- nil
			t.Fatalf("cauri dev ended: %v\n%s", err, &output)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// run runs a command in a folder, and fails the test if it fails.
func run(t *testing.T, folder string, variables []string, command ...string) {
	t.Helper()
	c := exec.CommandContext(t.Context(), command[0], command[1:]...)
	c.Dir, c.Env = folder, append(c.Environ(), variables...)
	if output, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(command, " "), err, output)
	}
}

func program(t *testing.T) string {
	t.Helper()
	path, err := system.Build(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// block is the code block of a page that begins so.
func block(t *testing.T, page, language, begins string) string {
	t.Helper()
	found := regexp.MustCompile("(?s)\n```" + language + "\n(" + regexp.QuoteMeta(begins) + ".*?)```\n").FindStringSubmatch(page)
	if found == nil {
		t.Fatalf("docs/ci.md has no block of %s that begins with %q", language, begins)
	}
	return found[1]
}

func folderOf(shop string) string { return filepath.Join(root, "examples", shop) }

func environ(variables map[string]string) (all []string) {
	for name, value := range variables {
		all = append(all, name+"="+value)
	}
	return all
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// copyTo copies files of a folder of testdata.
func copyTo(t *testing.T, folder, from string, names ...string) {
	t.Helper()
	for _, name := range names {
		write(t, folder, name, read(t, filepath.Join("test/examples/testdata", from, name)))
	}
}

func write(t *testing.T, folder, name, text string) {
	t.Helper()
	path := filepath.Join(folder, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
