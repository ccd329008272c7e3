package httpapi_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/server/httpapi/apidoc"
	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/webhooks"
)

// jars is the folder of Debian's Java libraries.
const jars = "/usr/share/java"

// rewriters are the programs of testdata/rewritten, which parse a body and write it again in each form that is usual in a language.
var rewriters = map[string]struct {
	file  string
	needs []string   // programs, and files of libraries
	run   [][]string // the last command has the bodies as its input
}{
	"JavaScript": {"rewrite.mjs", []string{"node"}, [][]string{{"node", "rewrite.mjs"}}},
	"Python":     {"rewrite.py", []string{"python3"}, [][]string{{"python3", "rewrite.py"}}},
	"PHP":        {"rewrite.php", []string{"php"}, [][]string{{"php", "rewrite.php"}}},
	"Ruby":       {"rewrite.rb", []string{"ruby"}, [][]string{{"ruby", "rewrite.rb"}}},
	"Java": {"Rewrite.java", []string{"javac", jars + "/jackson-databind.jar", jars + "/gson.jar"}, [][]string{
		{"javac", "-cp", jars + "/*", "Rewrite.java"}, {"java", "-cp", ".:" + jars + "/*", "Rewrite"},
	}},
	"C#": {"Rewrite.cs", []string{"mcs", newtonsoft}, [][]string{
		{"mcs", "-r:" + newtonsoft, "Rewrite.cs"}, {"cp", newtonsoft, "."}, {"mono", "Rewrite.exe"},
	}},
}

const newtonsoft = "/usr/lib/cli/Newtonsoft.Json-5.0/Newtonsoft.Json.dll"

// eventBodies are bodies of each kind of event, with the payload of each operator and with none, and with texts that libraries escape.
func eventBodies(t *testing.T) (bodies [][]byte) {
	t.Helper()
	add := func(transaction payments.Transaction, raw json.RawMessage) {
		body, err := webhooks.Body("org_1", &transaction, raw)
		if err != nil {
			t.Fatal(err)
		}
		bodies = append(bodies, body)
	}
	description, page := "Café à Abidjan <&> \"1/2\" \u2028 🎫 + قهوة", "https://shop.example/orders?id=7&lang=fr"
	for _, described := range apidoc.Events {
		plain := *described.Transaction
		all := plain
		all.Description, all.OrderURL = &description, &page
		for _, transaction := range []payments.Transaction{plain, all} {
			add(transaction, nil)
			for _, transaction.Operator = range payments.Operators {
				add(transaction, operators.Raw(&transaction))
			}
		}
	}
	return bodies
}

// No JSON library gives the bytes of an event back, in any of its usual forms: a receiver that verifies what it has parsed and
// written again refuses every event.
func TestNoLibraryWritesAnEventAsItWasSent(t *testing.T) {
	t.Parallel()
	bodies := eventBodies(t)
	var input strings.Builder
	for _, body := range bodies {
		input.WriteString(base64.StdEncoding.EncodeToString(body) + "\n")
	}
	for language, r := range rewriters {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			for _, need := range r.needs {
				if _, err := exec.LookPath(need); err != nil && !isFile(need) {
					t.Skipf("%s is not on this machine", need)
				}
			}
			folder := t.TempDir()
			copyTo(t, folder, filepath.Join("testdata", "rewritten", r.file))
			var out string
			for _, command := range r.run {
				out = runIn(t, folder, input.String(), command...)
			}
			lines := strings.Split(strings.TrimSpace(out), "\n")
			if len(lines) < 8*len(bodies) || len(lines)%len(bodies) != 0 {
				t.Fatalf("%d texts of %d bodies", len(lines), len(bodies))
			}
			forms := len(lines) / len(bodies)
			t.Logf("%d bodies, each in %d forms", len(bodies), forms)
			for i, line := range lines {
				form, text, _ := strings.Cut(line, " ")
				isRewritten(t, bodies[i/forms], decoded(t, form), decoded(t, text))
			}
		})
	}
}

func isFile(path string) bool {
	_, err := os.Stat(path)
	return filepath.IsAbs(path) && err == nil
}

func decoded(t *testing.T, text string) []byte {
	t.Helper()
	decoded, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return decoded
}

// isRewritten tests that a text is the same JSON as a body, but other bytes. What a lossy form writes is other JSON.
func isRewritten(t *testing.T, body, form, text []byte) {
	t.Helper()
	switch difference := webhooks.Differ(body, text); {
	case difference == nil:
		t.Errorf("%s gives the body back: %s", form, body)
	case difference.Cause != webhooks.DifferenceRewritten && !bytes.HasPrefix(form, []byte("lossy ")):
		t.Errorf("%s has the difference %q in %q", form, difference.Cause, difference.Fields)
	}
}

func TestGoWritesNoEventAsItWasSent(t *testing.T) {
	t.Parallel()
	for _, body := range eventBodies(t) {
		var value map[string]any
		if err := json.Unmarshal(body, &value); err != nil {
			t.Fatal(err)
		}
		var compact, indented, plain bytes.Buffer
		encoder := json.NewEncoder(&plain)
		encoder.SetEscapeHTML(false)
		marshaled, err := json.Marshal(value)
		pretty, errPretty := json.MarshalIndent(value, "", "  ")
		for _, err := range []error{
			err, errPretty, json.Compact(&compact, body), json.Indent(&indented, body, "", "\t"), encoder.Encode(value),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
		forms := map[string][]byte{
			"Marshal": marshaled, "MarshalIndent": pretty, "Compact": compact.Bytes(), "Indent": indented.Bytes(),
			"Encoder": bytes.TrimSpace(plain.Bytes()),
		}
		for _, form := range slices.Sorted(maps.Keys(forms)) {
			isRewritten(t, body, []byte(form), forms[form])
		}
	}
}
