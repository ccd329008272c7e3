package architecture

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/server/operators"
)

// secretVariable is a variable that may hold what the Secret of a sandbox tells.
var secretVariable = regexp.MustCompile(`\b[A-Z][A-Z0-9_]*_(URI|URL|KEY|TOKEN|SECRET)\b|\$(URI|KEY|TOKEN|SECRET)\b`)

// secretVariables are those that documents, samples and pipelines use: three of a sandbox, which the command line reads too, those of
// databases, and an address of the user's own. There are also those of the operators' own APIs.
var secretVariables = []string{
	"CAURI_URI", "CAURI_API_KEY", "CAURI_WEBHOOK_SECRET", "CAURI_WEBHOOK_URL",
	"CAURI_POSTGRES_URL", "DATABASE_URL", "DATABASE_READ_URL", "CAURI_DATABASE_URL", "CAURI_TEST_DATABASE_URL",
	"CAURI_API_DATABASE_URL", "CAURI_WORKER_DATABASE_URL", "CAURI_CONTROLLER_DATABASE_URL",
}

// A reader who has exported what one page says goes on with the next page, and with the command line.
func TestDocumentsNameASandboxsVariablesAlike(t *testing.T) {
	used, known := map[string]bool{}, slices.Clone(secretVariables)
	for _, api := range operators.NativeAPIs() {
		for entry := range api.Derive("").Secret {
			known = append(known, variableOf(entry))
		}
		for entry := range api.AddressEntries("any", "any") {
			known = append(known, variableOf(entry))
		}
		known = append(known, variableOf(api.CallbackKey))
	}
	for _, file := range readByUsers(t) {
		for _, name := range secretVariable.FindAllString(read(t, file), -1) {
			used[name] = true
			if !slices.Contains(known, name) {
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

// variableOf returns the variable of an entry of the credentials Secret.
func variableOf(entry string) string {
	return "CAURI_" + strings.ToUpper(strings.ReplaceAll(entry, "-", "_"))
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
