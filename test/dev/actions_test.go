package dev

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/test/runner"
)

// The repository's own actions make the sandbox of a job and remove it again.
func TestActions(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	job, err := runner.New(folder, "PATH="+os.Getenv("PATH"), "HOME="+folder, "CAURI_DATABASE_URL="+newDatabase(t))
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
	outputs := use("setup-cauri", map[string]string{"program": program, "file": "sandbox"})

	payment := `{"amount":1500,"currency":"RWF","msisdn":"+250788000001","reference":"run-1","application":"shop","scenario":"success"}`
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, outputs["uri"]+"/api/v1/payments", strings.NewReader(payment))
	if err != nil {
		t.Fatal(err)
	}
	request.Header = http.Header{"Authorization": {"Bearer " + outputs["api-key"]}, "Content-Type": {"application/json"}}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	if err := response.Body.Close(); err != nil || response.StatusCode != http.StatusCreated {
		t.Fatalf("the payment: %s, %v", response.Status, err)
	}

	begun := time.Now()
	use("finish-cauri", nil)
	if summary := job.Summary(); !strings.Contains(summary, "| `payment.completed` | SUCCESS | recorded | 1 |\n") {
		t.Errorf("the summary is\n%s", summary)
	}
	log, err := os.ReadFile(job.Temp("cauri-report/cauri.log"))
	if err != nil || !strings.Contains(string(log), "is ready at") || strings.Contains(string(log), outputs["api-key"]) {
		t.Errorf("the log that is kept: %v\n%s", err, log)
	}
	if _, err := http.Get(outputs["uri"] + "/v1/health"); err == nil {
		t.Errorf("the process still answers after %s", time.Since(begun))
	}
}
