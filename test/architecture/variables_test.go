package architecture

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// secretVariable is a variable that may hold what the Secret of a sandbox tells.
var secretVariable = regexp.MustCompile(`\b[A-Z][A-Z0-9_]*_(URI|URL|KEY|TOKEN|SECRET)\b|\$(URI|KEY|TOKEN|SECRET)\b`)

// secretVariables are those that documents, samples and pipelines use: three of a sandbox, which the command line reads too, those of
// its operators' own APIs, those of databases, and an address of the user's own.
var secretVariables = []string{
	"CAURI_URI", "CAURI_API_KEY", "CAURI_WEBHOOK_SECRET",
	"CAURI_MTN_SUBSCRIPTION_KEY", "CAURI_MTN_API_KEY", "CAURI_AIRTEL_CLIENT_SECRET", "CAURI_AIRTEL_CALLBACK_KEY",
	"CAURI_MOOV_TOKEN", "CAURI_MOOV_ENCRYPTION_KEY",
	"CAURI_ORANGE_CLIENT_SECRET", "CAURI_ORANGE_MERCHANT_KEY",
	"CAURI_WEBHOOK_URL", "CAURI_POSTGRES_URL", "DATABASE_URL", "DATABASE_READ_URL", "CAURI_DATABASE_URL", "CAURI_TEST_DATABASE_URL",
	"CAURI_API_DATABASE_URL", "CAURI_WORKER_DATABASE_URL", "CAURI_CONTROLLER_DATABASE_URL",
}

// A reader who has exported what one page says goes on with the next page, and with the command line.
func TestDocumentsNameASandboxsVariablesAlike(t *testing.T) {
	used := map[string]bool{}
	for _, file := range readByUsers(t) {
		for _, name := range secretVariable.FindAllString(read(t, file), -1) {
			used[name] = true
			if !slices.Contains(secretVariables, name) {
				t.Errorf("%s: %s: a sandbox's variables are CAURI_URI, CAURI_API_KEY and CAURI_WEBHOOK_SECRET", file, name)
			}
		}
	}
	for _, name := range secretVariables[:3] {
		if !used[name] {
			t.Errorf("no document uses %s: are they written in another way by now?", name)
		}
	}
}

// readByUsers are the files that a user copies from: documents, what is below config and the charts, and what the programs print.
func readByUsers(t *testing.T) []string {
	t.Helper()
	files := append(documents(t), "hack/localcluster/up/banner.go", "cmd/cauri/cli/listen.go", "cmd/cauri/cli/sandbox.go", "cmd/cauri/cli/target.go", "cmd/cauri/try.go")
	for _, folder := range []string{"docs", "config", "charts", "server/httpapi/apidoc/page", "server/httpapi/apidoc/verify", "hack/apipage", "examples"} {
		err := filepath.WalkDir(root+folder, func(file string, entry os.DirEntry, err error) error {
			if err == nil && !entry.IsDir() && !strings.HasSuffix(file, ".md") {
				files = append(files, strings.TrimPrefix(filepath.ToSlash(file), root))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return files
}
