package scripts

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
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
	secret = `"100%25" of 'it'\MDEyMzQ1Njc4OTAxMjM0NTY3ODk=` // all that a command of the runner, JSON and a shell change
)

// credentials are the variables of a sandbox that nobody may read in a log.
var credentials = map[string]string{
	"CAURI_API_KEY": apiKey, "CAURI_WEBHOOK_SECRET": secret, "CAURI_MTN_API_KEY": "0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a",
	"CAURI_MTN_API_USER": "6f0e4e44-1fd1-4dd0-9c0a-9b5a3f4b1c11", "CAURI_MTN_SUBSCRIPTION_KEY": "1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b",
}

// pin is a credential that is part of many numbers, and worth nothing.
const pin = "1234"

// lines are NAME=value of the credentials, sorted.
func lines() (all string) {
	for _, name := range slices.Sorted(maps.Keys(credentials)) {
		all += name + "=" + credentials[name] + "\n"
	}
	return all
}

// devProgram does to its files what `cauri dev` does, prints its key as that does, and goes on until it is told to stop.
const devProgram = `#!/bin/bash
echo "$*" >%[1]q/calls
while [ $# -gt 0 ]; do
  case $1 in --env-file) env=$2 ;; --ready-file) ready=$2 ;; esac
  shift
done
[ ! -e %[1]q/broken ] || { printf 'sandbox.yaml is wrong\n::error::evil\n'; exit 1; }
{ echo "CAURI_URI=$FAKE_URI"; cat %[1]q/credentials; } | tee "$env"
[ ! -e %[1]q/late ] || { echo 'the disk is full'; exit 1; }
touch "$ready"
trap 'echo stopped >>%[1]q/calls; exit 0' TERM
while :; do sleep 0.02; done
`

// quoted is a value as `cauri dev` writes it for shells.
func quoted(value string) string { return "'" + strings.ReplaceAll(value, "'", `'\''`) + "'" }

// api answers as the API does: two payments were delivered, one is not, and requests were refused. Whoever receives and sends says the
// credentials.
func api(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+apiKey {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		event := func(status, state string, attempts int) map[string]any {
			return map[string]any{"id": "evt_" + status, "event": "payment.completed", "status": status, "state": state, "attemptCount": attempts}
		}
		failed := event("LOW_BALANCE", "queued", 3)
		var answer any
		switch r.URL.Path {
		case "/api/v1/events":
			answer = map[string]any{"data": []any{event("SUCCESS", "delivered", 1), failed, event("SUCCESS", "delivered", 1)}}
		case "/api/v1/events/evt_LOW_BALANCE":
			failed["attempts"] = []any{
				map[string]any{"error": "the receiver answered 401", "responseBody": "bad | `signature`\n"},
				map[string]any{"error": "the receiver answered 401", "responseBody": "bad | `signature`\n"},
				map[string]any{"error": "no connection", "responseBody": "", "faults": []string{"twice"}, "effects": []string{"twice: sent 2 times"}},
				map[string]any{"error": "leak", "responseBody": lines()},
			}
			answer = failed
		case "/api/v1/requests":
			request := func(status any, code, message, fault any, body any) map[string]any {
				return map[string]any{"method": "POST", "path": "/v1/payments", "status": status, "error": code, "fault": fault,
					"requestBody": map[string]any{"description": lines(), "amount": pin + "50"}, "responseBody": map[string]any{"message": message, "detail": body}}
			}
			answer = map[string]any{"data": []any{
				request(400, "invalid_body", "wrong", nil, map[string]any{"fieldErrors": map[string]any{"amount": []string{"expected integer"}}}),
				request(409, "duplicate_reference", "use a new one", nil, nil), request(409, "duplicate_reference", "use a new one", nil, nil),
				request(nil, nil, nil, "silence", nil), request(422, "leak", lines(), nil, nil),
			}}
		default:
			w.WriteHeader(http.StatusNotFound)
			return
		}
		_ = json.NewEncoder(w).Encode(answer)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// hidden fails if the runner does not mask a credential, or if what is uploaded has one: the report and the summary.
func hidden(t *testing.T, job *runner.Job) {
	t.Helper()
	uploaded := map[string]string{"summary": job.Summary()}
	err := filepath.WalkDir(job.Temp("cauri-report"), func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			uploaded[entry.Name()] = text(t, path)
		}
		return err
	})
	if err != nil || len(uploaded) < 4 {
		t.Fatalf("uploaded are %q, %v", slices.Collect(maps.Keys(uploaded)), err)
	}
	if slices.Contains(job.Masked, pin) {
		t.Errorf("all numbers with the digits of a PIN are masked: %q", job.Masked)
	}
	if requests := uploaded["requests.json"]; requests != "" && !strings.Contains(requests, pin+"50") {
		t.Errorf("an amount with the digits of a PIN is replaced:\n%s", requests)
	}
	for name, value := range credentials {
		if !slices.Contains(job.Masked, value) {
			t.Errorf("%s is not masked: %q", name, job.Masked)
		}
		encoded, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		for file, content := range uploaded {
			for _, form := range []string{value, string(encoded[1 : len(encoded)-1]), strings.Trim(quoted(value), "'")} {
				if strings.Contains(content, form) {
					t.Errorf("%s has %s:\n%s", file, name, content)
				}
			}
		}
	}
}

// action is a job, and the folder of an action.
func newJob(t *testing.T, env ...string) (job *runner.Job, folder string) {
	t.Helper()
	folder = t.TempDir()
	write(t, folder+"/cauri", fmt.Sprintf(devProgram, folder))
	write(t, folder+"/credentials", strings.Replace(lines(), secret, quoted(secret), 1)+"CAURI_AIRTEL_PIN="+pin+"\n")
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
	runner.NeedJQ(t)
	job, folder := newJob(t, "FAKE_URI="+api(t))
	outputs, printed, err := job.Use(t.Context(), actionFolder(t, "setup-cauri"), map[string]string{"program": folder + "/cauri", "file": "sandbox.yaml"})
	if err != nil {
		t.Fatalf("%v\n%s", err, printed)
	}
	if outputs["api-key"] != apiKey || outputs["webhook-secret"] != secret || !strings.HasPrefix(outputs["uri"], "http://127.0.0.1:") {
		t.Errorf("the outputs are %v", outputs)
	}
	for line := range strings.Lines("CAURI_URI=" + outputs["uri"] + "\n" + lines()) {
		if !slices.Contains(job.Env, strings.TrimSuffix(line, "\n")) {
			t.Errorf("the job has no variable %s", line)
		}
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
	for _, want := range []string{
		"| event | transaction | delivery | events |\n",
		"| `payment.completed` | SUCCESS | delivered | 2 |\n",
		"| `payment.completed` | LOW_BALANCE | queued | 1 |\n",
		"| event | reason | the receiver's answer | attempts |\n",
		"| `payment.completed` | `the receiver answered 401` | `bad \\| 'signature'` | 2 |\n",
		"| `payment.completed` | `fault twice: sent 2 times. no connection` |  | 1 |\n",
		"| request | HTTP | error | reason | requests |\n",
		"| `POST /v1/payments` | 400 | `invalid_body` | `amount: expected integer` | 1 |\n",
		"| `POST /v1/payments` | 409 | `duplicate_reference` | `use a new one` | 2 |\n",
		"| `POST /v1/payments` | no answer |  | `fault silence.` | 1 |\n",
	} {
		if !strings.Contains(job.Summary(), want) {
			t.Errorf("the summary has no line %s\n%s", want, job.Summary())
		}
	}
	hidden(t, job)
	if events := text(t, job.Temp("cauri-report/events.json")); !strings.Contains(events, `"id": "evt_SUCCESS"`) {
		t.Errorf("the events that are kept are\n%s", events)
	}
	if log := text(t, job.Temp("cauri-report/cauri.log")); !strings.Contains(log, "CAURI_API_KEY=***") {
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

// ghProgram verifies as `gh attestation verify` does: it knows the attestations of the files whose checksums are in the file attested.
const ghProgram = `#!/bin/bash
echo "$*" >%[1]q/gh-calls
grep -q "$(sha256sum "$3" | cut -d' ' -f1)" %[1]q/attested && [ "$GH_TOKEN" = the-token ] && [ "$GH_HOST" = github.com ]
`

// A release's program is used only if it has the checksum that the release names, and if the release workflow attested it: who can exchange
// the program can exchange the checksum.
func TestSetupDownloads(t *testing.T) {
	t.Parallel()
	for title, c := range map[string]struct {
		damage, attested string
		gh               bool
		says             string
		fails            bool
	}{
		"as released":                         {attested: "itself", gh: true},
		"with another checksum":               {damage: "0", attested: "itself", gh: true, says: ".tar.gz is not what SHA256SUMS says", fails: true},
		"exchanged with its checksum":         {attested: "another", gh: true, says: ".tar.gz has no attestation of the release v1.2.3", fails: true},
		"on a runner that can verify nothing": {attested: "itself", says: "::warning title=setup-cauri::There is no gh"},
	} {
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
			sum := fmt.Sprintf("%x", sha256.Sum256([]byte(text(t, archive)+c.damage)))
			write(t, folder+"/releases/v1.2.3/SHA256SUMS", sum+"  "+name+".tar.gz\n"+sum+"  other.tar.gz\n")
			write(t, folder+"/attested", map[string]string{"itself": fmt.Sprintf("%x", sha256.Sum256([]byte(text(t, archive)))), "another": "0"}[c.attested])
			if c.gh {
				write(t, folder+"/path/gh", fmt.Sprintf(ghProgram, folder))
			} else { // whatever this machine has
				for _, tool := range []string{"bash", "curl", "tar", "gzip", "grep", "sha256sum", "nohup", "sleep", "cat", "mkdir", "rm", "ln", "touch", "tee", "sed", "cp"} {
					if err := errors.Join(os.MkdirAll(folder+"/path", 0o755), os.Symlink(found(t, tool), folder+"/path/"+tool)); err != nil {
						t.Fatal(err)
					}
				}
				job.Env = append(job.Env, "PATH="+folder+"/path")
			}

			outputs, printed, err := job.Use(t.Context(), actionFolder(t, "setup-cauri"), map[string]string{"version": "1.2.3", "token": "the-token"})
			if !strings.Contains(printed, c.says) || c.says == "" && strings.Contains(printed, "::warning") {
				t.Errorf("want %q:\n%s", c.says, printed)
			}
			if c.fails {
				if err == nil {
					t.Errorf("the program was run:\n%s", printed)
				}
				return
			}
			if err != nil || outputs["api-key"] != apiKey {
				t.Fatalf("%v, %v\n%s", outputs, err, printed)
			}
			const identity = "https://github.com/cauri-dev/cauri/.github/workflows/release.yaml@refs/tags/v1.2.3"
			if want := " --repo cauri-dev/cauri --cert-identity " + identity + "\n"; c.gh && !strings.HasSuffix(text(t, folder+"/gh-calls"), want) {
				t.Errorf("gh is asked %s, want %s", text(t, folder+"/gh-calls"), want)
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
		"no release for a cluster": {map[string]string{"mode": "cluster", "file": "sandbox.yaml"}, false, `Name a release in the input version, such as v0.1.0 (this is "main").`},
		"an unknown mode":          {map[string]string{"mode": "docker"}, false, "write dev, kind or cluster"},
		"no release":               {nil, false, `Name a release in the input version, such as v0.1.0 (this is "main").`},
		"a release by its path":    {map[string]string{"version": "v1.2.3/../../x"}, false, "Name a release in the input version"},
		"a release that is away":   {map[string]string{"version": "v9.9.9"}, false, "cannot be downloaded"},
		"a sandbox that is wrong":  {map[string]string{"program": "./cauri"}, true, "sandbox.yaml is wrong"},
		"no file for a cluster":    {map[string]string{"mode": "cluster"}, false, "in the input file"},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			job, folder := newJob(t, "CAURI_RELEASES=file:///nowhere")
			write(t, folder+"/path/kubectl", "#!/bin/bash\nexit 1\n")
			if c.broken {
				write(t, folder+"/broken", "")
			}
			_, printed, err := job.Use(t.Context(), actionFolder(t, "setup-cauri"), c.inputs)
			if strings.Contains(printed, "/download/::error") || strings.Count(printed, "::error title=setup-cauri") != 1 {
				t.Errorf("it goes on after the error:\n%s", printed)
			}
			if err == nil || !strings.Contains(printed, c.says) || !strings.Contains(printed, "::error title=setup-cauri::") {
				t.Errorf("%v, and not %q:\n%s", err, c.says, printed)
			}
			if _, printed, err := job.Use(t.Context(), actionFolder(t, "finish-cauri"), nil); err != nil {
				t.Errorf("finish-cauri after a failure: %v\n%s", err, printed)
			}
		})
	}
}

// The runner takes nothing that a program or an input has said for a command.
func TestSetupQuotesWhatOthersSay(t *testing.T) {
	t.Parallel()
	commands := func(printed string) (taken []string) { // as the runner takes them
		end := ""
		for line := range strings.Lines(printed) {
			switch line = strings.TrimSpace(line); {
			case end != "" && line == "::"+end+"::":
				end = ""
			case end == "" && strings.HasPrefix(line, "::stop-commands::"):
				end = strings.TrimPrefix(line, "::stop-commands::")
			case end == "" && strings.HasPrefix(line, "::"):
				taken = append(taken, line)
			}
		}
		return taken
	}
	for title, c := range map[string]struct {
		inputs map[string]string
		want   string
	}{
		"a program": {map[string]string{"program": "./cauri"}, "::error title=setup-cauri::cauri dev is not ready; its output is above."},
		"an input": {map[string]string{"mode": "x%0A\n::error::evil"},
			`::error title=setup-cauri::The input mode is "x%250A%0A::error::evil": write dev, kind or cluster.`},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			job, folder := newJob(t)
			write(t, folder+"/broken", "")
			_, printed, err := job.Use(t.Context(), actionFolder(t, "setup-cauri"), c.inputs)
			if got := commands(printed); err == nil || len(got) != 1 || got[0] != c.want {
				t.Errorf("%v, the commands are %q in\n%s", err, got, printed)
			}
		})
	}
}

// What cauri dev printed is shown if it ends, and its credentials are masked before that.
func TestSetupMasksBeforeItShows(t *testing.T) {
	t.Parallel()
	job, folder := newJob(t, "FAKE_URI=http://127.0.0.1:1")
	write(t, folder+"/late", "")
	_, printed, err := job.Use(t.Context(), actionFolder(t, "setup-cauri"), map[string]string{"program": folder + "/cauri"})
	masks, shown, found := strings.Cut(printed, "CAURI_URI=")
	if err == nil || !found || !strings.Contains(shown, "the disk is full") {
		t.Fatalf("%v\n%s", err, printed)
	}
	if n := strings.Count(masks, "::add-mask::"); n != len(credentials) {
		t.Errorf("%d credentials are masked before they are shown:\n%s", n, printed)
	}
	if _, _, err := job.Use(t.Context(), actionFolder(t, "finish-cauri"), nil); err != nil {
		t.Error(err)
	}
	if log := text(t, job.Temp("cauri-report/cauri.log")); strings.Contains(log, apiKey) {
		t.Errorf("the log that is kept is\n%s", log)
	}
}

// kubectl answers as a cluster does in which the resources are ready at once.
const kubectl = `#!/bin/bash
echo "kubectl $*" >>%[1]q/calls
case $* in
  *port-forward*) exec sleep 60 ;;
  *"get -k "*) echo secret/other; echo sandboxenvironment.cauri.dev/run ;;
  *binding.name*) echo -n "$BOUND" ;;
  *go-template=*) echo "uri=$FAKE_URI"; cat %[1]q/secret ;;
  *"--output wide") cat %[1]q/secret ;;
  *"get expectations --output json") cat %[1]q/expectations ;;
esac
`

// forwardedCurl gets an answer only through the port-forward, which starts in the background.
const forwardedCurl = `#!/bin/bash
for _ in {1..600}; do
  grep -q port-forward %[1]q/calls && break
  sleep 0.1
done
echo "curl $*" >>%[1]q/calls
`

// Where the cluster is the runner's own, Cauri is installed in it, and it goes with all that is in it.
func TestActionsWithKind(t *testing.T) {
	t.Parallel()
	runner.NeedJQ(t)
	job, folder := newJob(t, "FAKE_URI="+api(t), "BOUND=run-credentials")
	for name, script := range map[string]string{
		"docker": "", "kind": fmt.Sprintf(program, folder), "helm": fmt.Sprintf(program, folder), "curl": fmt.Sprintf(forwardedCurl, folder),
		"kubectl": fmt.Sprintf(kubectl, folder),
	} {
		write(t, folder+"/path/"+name, script)
	}
	write(t, folder+"/sandbox/a.yaml", "kind: SandboxEnvironment\n")
	write(t, folder+"/expectations", `{"items": [{"metadata": {"name": "paid-once"}, "status": {"results": [{"line": "nothing else", "met": true, "observed": "1"}],
		"conditions": [{"type": "Met", "status": "False", "message": "The sandbox was reset."}, {"type": "Failed", "status": "True"}]}},
		{"metadata": {"name": "later"}, "status": {"results": [{"line": "one more", "met": false, "observed": "0"}, {"line": "none else", "met": true, "observed": "1"}]}}]}`)
	secret := "type=cauri\nprovider=cauri\nhost=127.0.0.1\nport=28080\norganization-id=1\n"
	for name, value := range credentials {
		name = strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(name, "CAURI_"), "_", "-"))
		secret += strings.Replace(name, "webhook-secret", "webhook-signing-secret", 1) + "=" + value + "\n"
	}
	write(t, folder+"/secret", secret)
	outputs, printed, err := job.Use(t.Context(), actionFolder(t, "setup-cauri"), map[string]string{
		"mode": "kind", "version": "v1.2.3", "file": "sandbox", "program": folder + "/cauri",
	})
	if err != nil || outputs["api-key"] != apiKey {
		t.Fatalf("%v, %v\n%s", outputs, err, printed)
	}
	if applied := text(t, job.Temp("cauri/apply/resources.yaml")); applied != "---\nkind: SandboxEnvironment\n" {
		t.Errorf("applied are %q", applied)
	}
	if _, printed, err := job.Use(t.Context(), actionFolder(t, "finish-cauri"), nil); err != nil {
		t.Fatalf("%v\n%s", err, printed)
	}
	if want := "| met | `paid-once` | `nothing else` | `1` |\n| failed | `paid-once` |  | `The sandbox was reset.` |\n" +
		"| open | `later` | `one more` | `0` |\n| open | `later` | `none else` | `1` |\n"; !strings.Contains(job.Summary(), want) {
		t.Errorf("the summary has no %s\n%s", want, job.Summary())
	}
	if !strings.Contains(job.Summary(), "The refused requests of the sandbox could not be read.") {
		t.Errorf("the summary does not say that there was no answer\n%s", job.Summary())
	}
	for line := range strings.Lines(lines()) {
		if !slices.Contains(job.Env, strings.TrimSuffix(line, "\n")) {
			t.Errorf("the job has no variable %s", line)
		}
	}
	if slices.ContainsFunc(job.Env, func(line string) bool { return strings.HasPrefix(line, "CAURI_HOST=") }) {
		t.Errorf("the job has %q", job.Env)
	}
	hidden(t, job)
	calls := text(t, folder+"/calls")
	at := 0
	for _, call := range []string{
		"kind create cluster --name cauri-", "helm install cauri oci://ghcr.io/cauri-dev/charts/cauri --version 1.2.3 ",
		"kubectl --namespace cauri-system port-forward ", "kubectl create namespace cauri-42-1-", "kubectl apply -k ", "--timeout=120s sandboxenvironment.cauri.dev/run\n",
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

// In a namespace that was there before, the resources of the file alone are waited for and removed.
func TestActionsInANamespaceThatIsThere(t *testing.T) {
	t.Parallel()
	job, folder := newJob(t, "BOUND=run-credentials", "FAKE_URI=http://127.0.0.1:1")
	write(t, folder+"/path/kubectl", fmt.Sprintf(kubectl, folder))
	write(t, folder+"/sandbox.yaml", "kind: SandboxEnvironment\n")
	write(t, folder+"/expectations", "")
	write(t, folder+"/secret", "api-key="+apiKey+"\n")
	_, printed, err := job.Use(t.Context(), actionFolder(t, "setup-cauri"), map[string]string{
		"mode": "cluster", "file": "sandbox.yaml", "program": folder + "/cauri", "namespace": "team-payments",
	})
	if err != nil {
		t.Fatalf("%v\n%s", err, printed)
	}
	if command := job.Temp("cauri/bin/cauri"); !slices.ContainsFunc(job.Env, func(line string) bool {
		return strings.HasPrefix(line, "PATH=") && strings.Contains(line, filepath.Dir(command))
	}) {
		t.Errorf("later steps do not have the command cauri: %q", job.Env)
	}
	if _, printed, err := job.Use(t.Context(), actionFolder(t, "finish-cauri"), nil); err != nil {
		t.Errorf("%v\n%s", err, printed)
	}
	calls := text(t, folder+"/calls")
	if strings.Contains(calls, "namespace team-payments delete") || strings.Contains(calls, "delete namespace") || strings.Contains(calls, "create namespace") ||
		strings.Contains(calls, "--all ") || !strings.Contains(calls, "kubectl delete -k ") {
		t.Errorf("what is done to the namespace:\n%s", calls)
	}
}

// The outputs are of one sandbox. What was made before the refusal is removed.
func TestSetupRefusesTwoSandboxes(t *testing.T) {
	t.Parallel()
	job, folder := newJob(t, "BOUND=one two")
	write(t, folder+"/path/kubectl", fmt.Sprintf(kubectl, folder))
	write(t, folder+"/sandboxes.yaml", "kind: SandboxEnvironment\n")
	_, printed, err := job.Use(t.Context(), actionFolder(t, "setup-cauri"), map[string]string{
		"mode": "cluster", "file": "sandboxes.yaml", "program": folder + "/cauri",
	})
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
