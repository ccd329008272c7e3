package scripts

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/test/runner"
)

const (
	apiKey = "cauri_sk_test_0123456789012345678901234567"
	secret = "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz"
)

// devProgram does to its files what `cauri dev` does, prints its key as that does, and goes on until it is told to stop.
const devProgram = `#!/bin/bash
echo "$*" >%[1]q/calls
while [ $# -gt 0 ]; do
  case $1 in --env-file) env=$2 ;; --ready-file) ready=$2 ;; esac
  shift
done
[ ! -e %[1]q/broken ] || { echo 'sandbox.yaml is wrong'; exit 1; }
printf 'CAURI_URI=%%s\nCAURI_API_KEY=%[2]s\nCAURI_WEBHOOK_SECRET=%[3]s\n' "$FAKE_URI" | tee "$env"
touch "$ready"
trap 'echo stopped >>%[1]q/calls; exit 0' TERM
while :; do sleep 0.02; done
`

// events answers as GET /v1/events does.
func events(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/api/v1/events" || r.Header.Get("Authorization") != "Bearer "+apiKey {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		event := `{"id":"evt_1","event":"payment.completed","txId":"TX_1","status":%q,"state":"delivered","lastError":null}`
		fmt.Fprintf(w, `{"data":[`+event+`,`+event+`,`+event+`],"nextCursor":null,"hasMore":false}`, "SUCCESS", "LOW_BALANCE", "SUCCESS")
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// action is a job, and the folder of an action.
func newJob(t *testing.T, env ...string) (job *runner.Job, folder string) {
	t.Helper()
	folder = t.TempDir()
	write(t, folder+"/cauri", fmt.Sprintf(devProgram, folder, apiKey, secret))
	job, err := runner.New(folder, append(env, "PATH="+folder+"/path:"+os.Getenv("PATH"), "HOME="+folder)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // as the runner does with processes that are left
		if state, err := os.ReadFile(job.Temp("cauri/state")); err == nil {
			for line := range strings.Lines(string(state)) {
				if pid, found := strings.CutPrefix(line, "pid="); found {
					_ = exec.Command("kill", strings.TrimSpace(pid)).Run()
				}
			}
		}
	})
	return job, folder
}

func actionFolder(t *testing.T, name string) string {
	t.Helper()
	folder, err := filepath.Abs("../../.github/actions/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return folder
}

func write(t *testing.T, path, text string) {
	t.Helper()
	(&checkout{t: t, folder: filepath.Dir(path)}).write(filepath.Base(path), text)
}

func text(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func TestActionsWithCauriDev(t *testing.T) {
	t.Parallel()
	job, folder := newJob(t, "FAKE_URI="+events(t))
	outputs, printed, err := job.Use(t.Context(), actionFolder(t, "setup-cauri"), map[string]string{"program": folder + "/cauri", "file": "sandbox.yaml"})
	if err != nil {
		t.Fatalf("%v\n%s", err, printed)
	}
	if outputs["api-key"] != apiKey || outputs["webhook-secret"] != secret || !strings.HasPrefix(outputs["uri"], "http://127.0.0.1:") {
		t.Errorf("the outputs are %v", outputs)
	}
	for name, value := range map[string]string{"CAURI_URI": outputs["uri"], "CAURI_API_KEY": apiKey, "CAURI_WEBHOOK_SECRET": secret} {
		if !slices.Contains(job.Env, name+"="+value) {
			t.Errorf("the job has no variable %s=%s", name, value)
		}
	}
	if !slices.Equal(job.Masked, []string{apiKey, secret}) {
		t.Errorf("masked are %q", job.Masked)
	}
	if call := text(t, folder+"/calls"); !strings.HasPrefix(call, "dev --port 0 --env-file ") || !strings.HasSuffix(call, " --file sandbox.yaml\n") {
		t.Errorf("called with %s", call)
	}
	if _, printed, err := job.Use(t.Context(), actionFolder(t, "setup-cauri"), nil); err == nil || !strings.Contains(printed, "call finish-cauri") {
		t.Errorf("a second sandbox in the same job: %v, %s", err, printed)
	}

	if _, printed, err := job.Use(t.Context(), actionFolder(t, "finish-cauri"), nil); err != nil || strings.Contains(printed, "::warning") {
		t.Fatalf("%v\n%s", err, printed)
	}
	if summary := job.Summary(); !strings.Contains(summary, "| `payment.completed` | SUCCESS | delivered | 2 |\n") ||
		!strings.Contains(summary, "| `payment.completed` | LOW_BALANCE | delivered | 1 |\n") {
		t.Errorf("the summary is\n%s", summary)
	}
	if !strings.Contains(text(t, job.Temp("cauri-report/events.json")), `"id":"evt_1"`) {
		t.Error("the events are not kept")
	}
	if log := text(t, job.Temp("cauri-report/cauri.log")); strings.Contains(log, apiKey) || strings.Contains(log, secret) || !strings.Contains(log, "CAURI_API_KEY=***") {
		t.Errorf("the log that is kept is\n%s", log)
	}
	if !strings.HasSuffix(text(t, folder+"/calls"), "\nstopped\n") {
		t.Error("cauri dev was not told to stop")
	}
	if _, err := os.Stat(job.Temp("cauri")); !os.IsNotExist(err) {
		t.Errorf("the files of the sandbox are still there: %v", err)
	}
	if _, printed, err := job.Use(t.Context(), actionFolder(t, "finish-cauri"), nil); err != nil || !strings.Contains(printed, "no sandbox to finish") {
		t.Errorf("finishing without a sandbox: %v, %s", err, printed)
	}
}

// A release's program is used only if it has the checksum that the release names.
func TestSetupDownloads(t *testing.T) {
	t.Parallel()
	for title, damage := range map[string]string{"as released": "", "with another checksum": "0"} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			job, folder := newJob(t, "FAKE_URI=http://127.0.0.1:1")
			job.Env = append(job.Env, "CAURI_RELEASES=file://"+folder+"/releases")
			const name = "cauri-v1.2.3-linux-amd64"
			write(t, folder+"/releases/"+name+"/cauri", text(t, folder+"/cauri"))
			if err := os.MkdirAll(folder+"/releases/v1.2.3", 0o755); err != nil {
				t.Fatal(err)
			}
			archive := folder + "/releases/v1.2.3/" + name + ".tar.gz"
			if out, err := exec.CommandContext(t.Context(), "tar", "-czf", archive, "-C", folder+"/releases", name).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			sum := fmt.Sprintf("%x", sha256.Sum256([]byte(text(t, archive)+damage)))
			write(t, folder+"/releases/v1.2.3/SHA256SUMS", sum+"  "+name+".tar.gz\n"+sum+"  other.tar.gz\n")

			outputs, printed, err := job.Use(t.Context(), actionFolder(t, "setup-cauri"), map[string]string{"version": "1.2.3"})
			if damage != "" {
				if err == nil || !strings.Contains(printed, name+".tar.gz is not what SHA256SUMS says") {
					t.Errorf("%v\n%s", err, printed)
				}
				return
			}
			if err != nil || outputs["api-key"] != apiKey {
				t.Fatalf("%v, %v\n%s", outputs, err, printed)
			}
			// finish-cauri goes on without a sandbox that answers.
			if _, printed, err := job.Use(t.Context(), actionFolder(t, "finish-cauri"), nil); err != nil || !strings.Contains(printed, "::warning") {
				t.Errorf("%v\n%s", err, printed)
			}
		})
	}
}

func TestSetupSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	for title, c := range map[string]struct {
		inputs map[string]string
		broken bool
		says   string
	}{
		"an unknown mode":         {map[string]string{"mode": "docker"}, false, "write dev, kind or cluster"},
		"no release":              {nil, false, `Name a release in the input version, such as v0.1.0 (this is "main").`},
		"a release that is away":  {map[string]string{"version": "v9.9.9"}, false, "cannot be downloaded"},
		"a sandbox that is wrong": {map[string]string{"program": "./cauri"}, true, "sandbox.yaml is wrong"},
		"no file for a cluster":   {map[string]string{"mode": "cluster"}, false, "in the input file"},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			job, folder := newJob(t, "CAURI_RELEASES=file:///nowhere")
			write(t, folder+"/path/kubectl", "#!/bin/bash\nexit 1\n")
			if c.broken {
				write(t, folder+"/broken", "")
			}
			_, printed, err := job.Use(t.Context(), actionFolder(t, "setup-cauri"), c.inputs)
			if err == nil || !strings.Contains(printed, c.says) || !strings.Contains(printed, "::error title=setup-cauri::") {
				t.Errorf("%v, and not %q:\n%s", err, c.says, printed)
			}
			if _, printed, err := job.Use(t.Context(), actionFolder(t, "finish-cauri"), nil); err != nil {
				t.Errorf("finish-cauri after a failure: %v\n%s", err, printed)
			}
		})
	}
}

// kubectl answers as a cluster does in which the resources are ready at once.
const kubectl = `#!/bin/bash
echo "kubectl $*" >>%[1]q/calls
case $* in
  *port-forward*) exec sleep 60 ;;
  *"get sandboxenvironments --output name") echo sandboxenvironment/run ;;
  *binding.name*) echo -n "$BOUND" ;;
  *.data.uri*) echo -n "$FAKE_URI" | base64 ;;
  *.data.api-key*) echo -n %[2]q | base64 ;;
  *.data.webhook*) echo -n %[3]q | base64 ;;
esac
`

// Where the cluster is the runner's own, Cauri is installed in it, and it goes with all that is in it.
func TestActionsWithKind(t *testing.T) {
	t.Parallel()
	job, folder := newJob(t, "FAKE_URI="+events(t), "BOUND=run-credentials")
	for name, script := range map[string]string{
		"docker": "", "kind": fmt.Sprintf(program, folder), "helm": fmt.Sprintf(program, folder), "curl": fmt.Sprintf(program, folder),
		"kubectl": fmt.Sprintf(kubectl, folder, apiKey, secret),
	} {
		write(t, folder+"/path/"+name, script)
	}
	write(t, folder+"/sandbox/a.yaml", "kind: SandboxEnvironment\n")
	outputs, printed, err := job.Use(t.Context(), actionFolder(t, "setup-cauri"), map[string]string{"mode": "kind", "version": "v1.2.3", "file": "sandbox"})
	if err != nil || outputs["api-key"] != apiKey {
		t.Fatalf("%v, %v\n%s", outputs, err, printed)
	}
	if applied := text(t, job.Temp("cauri/apply/resources.yaml")); applied != "---\nkind: SandboxEnvironment\n" {
		t.Errorf("applied are %q", applied)
	}
	if _, printed, err := job.Use(t.Context(), actionFolder(t, "finish-cauri"), nil); err != nil {
		t.Fatalf("%v\n%s", err, printed)
	}
	calls := text(t, folder+"/calls")
	at := 0
	for _, call := range []string{
		"kind create cluster --name cauri-", "helm install cauri oci://ghcr.io/cauri-dev/charts/cauri --version 1.2.3 ",
		"kubectl --namespace cauri-system port-forward ", "kubectl create namespace cauri-42-1-", "kubectl apply -k ", "--all sandboxenvironments\n",
		"kind delete cluster --name cauri-",
	} {
		next := strings.Index(calls[at:], call)
		if next < 0 {
			t.Fatalf("%q is not called, or not in its turn:\n%s", call, calls)
		}
		at += next
	}
	if strings.Contains(calls, "delete namespace") {
		t.Errorf("the namespace is deleted before its cluster:\n%s", calls)
	}
}

// The outputs are of one sandbox. What was made before the refusal is removed.
func TestSetupRefusesTwoSandboxes(t *testing.T) {
	t.Parallel()
	job, folder := newJob(t, "BOUND=one two")
	write(t, folder+"/path/kubectl", fmt.Sprintf(kubectl, folder, apiKey, secret))
	write(t, folder+"/sandboxes.yaml", "kind: SandboxEnvironment\n")
	_, printed, err := job.Use(t.Context(), actionFolder(t, "setup-cauri"), map[string]string{"mode": "cluster", "file": "sandboxes.yaml"})
	if err == nil || !strings.Contains(printed, "more than one SandboxEnvironment") {
		t.Errorf("%v\n%s", err, printed)
	}
	if _, printed, err := job.Use(t.Context(), actionFolder(t, "finish-cauri"), nil); err != nil {
		t.Errorf("%v\n%s", err, printed)
	}
	if calls := text(t, folder+"/calls"); !strings.Contains(calls, "kubectl delete namespace cauri-42-1-") {
		t.Errorf("the namespace is left:\n%s", calls)
	}
}
