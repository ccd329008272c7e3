package architecture

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// retired are words and names that code, comments, documents and messages no longer use, and what they use instead (docs/glossary.md).
// They are compared with identifiers too, word by word: "new surveys" finds newSurveys and new_surveys.
var retired = map[string]string{
	"behaviours":        "behavior",
	"behind wall":       "in the tenant scope",
	"tenant wall":       "tenant scope",
	"enter gated":       "version check",
	"floor creates":     "baseline",
	"floor rate":        "baseline",
	"has turn":          "admission",
	"impatient":         "maxQueueWait",
	"insistence":        "retry",
	"insistent":         "retrying",
	"late answer":       "held answer",
	"live news":         "change queue",
	"live priority":     "change queue",
	"live source":       "change queue",
	"lateness":          "lag",
	"perishable":        "idle-limited transaction",
	"surveyed":          "queue statistics",
	"capacity limiter":  "resource limit",
	"gated":             "version check",
	"wake forgotten":    "requeue stuck",
	"shelve events":     "unqueue events",
	"float key":         "queue key",
	"lane":              "due tenant",
	"lanes":             "due tenants",
	"due lanes":         "due tenants",
	"mended":            "fixed",
	"new outage":        "circuit breaker",
	"new places":        "resource limit",
	"new world":         "fixture",
	"walled":            "scoped",
	"walls":             "tenant scope",
	"new turns":         "admission",
	"new world alone":   "fixture",
	"open floor":        "baseline",
	"open sink":         "receiver",
	"open world":        "fixture",
	"request patience":  "maxQueueWait",
	"server/store":      "server/ledger, server/sandboxes or server/postgres",
	"sink":              "receiver",
	"sluggish":          "slow",
	"standings":         "readiness",
	"start floor":       "baseline",
	"storetest":         "ledgertest",
	"survey":            "queue statistics",
	"surveying":         "queue statistics",
	"surveyor":          "queue statistics",
	"surveys":           "queue statistics",
	"transaction lanes": "listed_transactions",
	"travel together":   "batched reads",
	"placed order":      "checkout",
	"placed orders":     "checkouts",
	"new intent":        "recording",
	"found rows":        "changed rows",
	"ledger place":      "ledger cursor",
	"credentials why":   "credentials reason",
	"tell status":       "status answer",
	"solitude":          "isolation",
}

// openWorldHint is a name of the Model Context Protocol.
const openWorldHint = "OpenWorld" + "Hint"

// splitWord finds the places at which an identifier has a new word.
var splitWord = regexp.MustCompile(`([a-z0-9])([A-Z])`)

func TestRetiredWordsStayRetired(t *testing.T) {
	words := make([]string, 0, len(retired))
	for word := range retired {
		words = append(words, regexp.QuoteMeta(word))
	}
	pattern := regexp.MustCompile(`\b(?:` + strings.Join(words, "|") + `)\b`)
	seen := 0
	for _, file := range sources(t) {
		if strings.HasSuffix(file, "names_test.go") || strings.HasPrefix(file, "hack/prose/") {
			continue
		}
		seen++
		text := splitWord.ReplaceAllString(strings.ReplaceAll(read(t, file), openWorldHint, ""), "$1 $2")
		for i, line := range strings.Split(strings.ToLower(strings.ReplaceAll(text, "_", " ")), "\n") {
			for _, word := range pattern.FindAllString(line, -1) {
				t.Errorf("%s:%d: %q is retired: write %s", file, i+1, word, retired[word])
			}
		}
	}
	if seen < 500 {
		t.Errorf("only %d files were read", seen)
	}
}

// sources are the text files of the repository, without those that are built.
func sources(t *testing.T) (files []string) {
	t.Helper()
	text := regexp.MustCompile(`\.(?:go|md|sql|sh|ya?ml|txt|toml|tpl)$|^Makefile$`)
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := filepath.ToSlash(strings.TrimPrefix(path, filepath.FromSlash(root)))
		built := slices.Contains([]string{"bin", "dist", "tmp"}, name) || entry.Name() == "node_modules"
		if entry.IsDir() && (built || strings.HasPrefix(name, ".") && name != "." && path != root) {
			return filepath.SkipDir
		}
		if !entry.IsDir() && text.MatchString(entry.Name()) {
			files = append(files, name)
		}
		return nil
	})
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return files
}
