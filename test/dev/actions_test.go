package dev

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/server/httpapi/apidoc/verify"
	"github.com/cauri-dev/cauri/test/runner"
)

// The repository's own actions make the sandbox of a job and remove it again. Meanwhile a receiver verifies an event as docs/webhooks.md
// says, with the secret that the job has, and refuses another one.
func TestActions(t *testing.T) {
	t.Parallel()
	runner.NeedJQ(t)
	folder := t.TempDir()
	type delivery struct {
		header http.Header
		body   []byte
	}
	accepted := make(chan delivery, 9)
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // a part of it does not verify
		if strings.Contains(string(body), "INSUFFICIENT_FUNDS") {
			http.Error(w, "no such | order", http.StatusNotFound)
			return
		}
		accepted <- delivery{r.Header, body}
	}))
	t.Cleanup(hook.Close)
	job, err := runner.New(folder, "PATH="+os.Getenv("PATH"), "HOME="+folder, "CAURI_DATABASE_URL="+newDatabase(t), "CAURI_WEBHOOK_URL="+hook.URL)
	if err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	use := func(action string, inputs map[string]string) map[string]string {
		outputs, printed, err := job.Use(t.Context(), root+"/.github/actions/"+action, inputs)
		if err != nil || strings.Contains(printed, "::warning") {
			t.Fatalf("%s: %v\n%s", action, err, printed)
		}
		return outputs
	}
	if err := os.CopyFS(folder+"/sandbox", os.DirFS(root+"/config/samples/ci")); err != nil {
		t.Fatal(err)
	}
	const expected = "apiVersion: cauri.dev/v1alpha1\nkind: Expectation\nmetadata: {name: %s}\nspec: {sandboxRef: {name: run}, within: %s, expect: [{%s}]}\n"
	if err := os.WriteFile(folder+"/sandbox/expected.yaml", []byte(
		fmt.Sprintf(expected, "paid-once", "24h", "transactions: {where: {reference: run-1, status: SUCCESS}, count: 1}")+"---\n"+
			fmt.Sprintf(expected, "paid-back", "20s", `transactions: {where: {reference: run-1}, count: ">=0"}}, {refunds: {of: "order | `+"`9` <b>"+`", total: 500}`)+
			"---\n"+fmt.Sprintf(expected, "later", "24h", "events: {where: {reference: tomorrow}, count: 1}")), 0o600); err != nil {
		t.Fatal(err)
	}
	outputs := use("setup-cauri", map[string]string{"program": program, "file": "sandbox"})
	variables := map[string]string{}
	for _, line := range job.Env {
		name, value, _ := strings.Cut(line, "=")
		variables[name] = value
	}
	secret := variables["CAURI_WEBHOOK_SECRET"]
	if !strings.HasSuffix(secret, "=") || outputs["webhook-secret"] != secret {
		t.Errorf("the job has the secret %q, the output is %q", secret, outputs["webhook-secret"])
	}
	credentials := []string{"CAURI_API_KEY", "CAURI_WEBHOOK_SECRET", "CAURI_MTN_API_KEY", "CAURI_MTN_API_USER", "CAURI_MTN_SUBSCRIPTION_KEY"}
	for _, name := range credentials {
		if variables[name] == "" || !slices.Contains(job.Masked, variables[name]) {
			t.Errorf("%s is %q, masked are %q", name, variables[name], job.Masked)
		}
	}
	for _, name := range []string{"CAURI_URI", "CAURI_MTN_URI", "CAURI_MTN_ROOT_URI"} {
		if variables[name] == "" || slices.Contains(job.Masked, variables[name]) {
			t.Errorf("%s is %q, masked are %q", name, variables[name], job.Masked)
		}
	}

	p := &process{t: t, base: strings.TrimSuffix(outputs["uri"], "/sandboxes/default/run"), key: outputs["api-key"]}
	pay := func(reference, scenario, amount string, want int) {
		payment := `{"amount":` + amount + `,"currency":"RWF","msisdn":"+250788000001","reference":"` + reference + `","application":"shop","scenario":"` +
			scenario + `"}`
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.base+"/v1/payments", strings.NewReader(payment))
		if err != nil {
			t.Fatal(err)
		}
		request.Header = http.Header{"Authorization": {"Bearer " + p.key}, "Content-Type": {"application/json"}}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		if err := response.Body.Close(); err != nil || response.StatusCode != want {
			t.Fatalf("the payment: %s, %v", response.Status, err)
		}
	}
	pay("run-1", "success", "1500", http.StatusCreated)
	pay("run-2", "low_balance", "1500", http.StatusCreated)
	pay("run-3", "success", `"1500"`, http.StatusBadRequest)
	if event := <-accepted; !verify.Verified(event.header, event.body, secret, time.Now()) {
		t.Error("the event's signature does not fit the secret that the job has")
	}
	p.eventually("both events were tried", func() bool {
		for _, event := range p.get("/v1/events")["data"].([]any) {
			if event.(map[string]any)["attemptCount"] == float64(0) {
				return false
			}
		}
		return true
	})

	if out, err := exec.CommandContext(t.Context(), job.Temp("cauri/bin/cauri"), "version").CombinedOutput(); err != nil ||
		!strings.HasPrefix(variables["PATH"], job.Temp("cauri/bin:")) {
		t.Errorf("the steps that follow have the PATH %s: %v\n%s", variables["PATH"], err, out)
	}
	decided := func() bool {
		text, _ := os.ReadFile(job.Temp("cauri/expectations.json"))
		return strings.Count(string(text), `"decidedAt"`) == 2
	}
	p.eventually("two expectations are decided", decided)

	begun := time.Now()
	use("finish-cauri", nil)
	for _, want := range []string{
		"| met | `paid-once` | `transactions where reference=run-1 status=SUCCESS: 1` | `1 transaction` |\n",
		"| met | `paid-back` | `transactions where reference=run-1: >=0` | `1 transaction` |\n",
		"| failed | `paid-back` | `refunds of order \\| '9' <b>: 500` | `0` |\n",
		"| open | `later` | `events where reference=tomorrow: 1` | `0 events` |\n",
		"| `payment.completed` | SUCCESS | delivered | 1 |\n",
		"| `payment.completed` | `the receiver answered 404` | `no such \\| order` | ",
		"| `POST /v1/payments` | 400 | `invalid_body` | `amount: expected integer",
	} {
		if !strings.Contains(job.Summary(), want) {
			t.Errorf("the summary has no %s\n%s", want, job.Summary())
		}
	}
	log, err := os.ReadFile(job.Temp("cauri-report/cauri.log"))
	if err != nil || !strings.Contains(string(log), "is ready at") {
		t.Errorf("the log that is kept: %v\n%s", err, log)
	}
	uploaded := job.Summary()
	files, err := filepath.Glob(job.Temp("cauri-report/*"))
	if err != nil || len(files) < 4 {
		t.Errorf("kept are %q, %v", files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		uploaded += string(text)
	}
	for _, name := range credentials {
		if strings.Contains(uploaded, variables[name]) {
			t.Errorf("what is uploaded has %s", name)
		}
	}
	if _, err := http.Get(outputs["uri"] + "/v1/health"); err == nil {
		t.Errorf("the process still answers after %s", time.Since(begun))
	}
}
