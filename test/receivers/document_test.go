package receivers

import (
	"cmp"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/cauri-dev/cauri/server/grade"
	"github.com/cauri-dev/cauri/test/npm"
	"github.com/cauri-dev/cauri/test/snippets"
	"github.com/cauri-dev/cauri/test/system"
)

// framework is one for which docs/grade.md shows a receiver.
type framework struct {
	language string
	verify   string // file of server/httpapi/apidoc/verify, which docs/webhooks.md shows
	// command writes the receiver into a folder and returns how to run it. It skips the test if the machine has no such framework.
	command func(t *testing.T, folder string, code []string) *exec.Cmd
}

var frameworks = map[string]framework{
	"Express": {"js", "verify.mjs", express},
	"Laravel": {"php", "verify.php", laravel},
	"Django":  {"python", "verify.py", django},
	"Spring":  {"java", "Verify.java", spring},
	"Go":      {"go", "verify.go", golang},
}

// code returns the code of docs/grade.md in a language.
func code(t *testing.T, language string) (blocks []string) {
	t.Helper()
	for _, s := range snippets.Of(t, root, "docs/grade.md") {
		if s.Language == language && s.RunBy() != "" {
			blocks = append(blocks, s.Body)
		}
	}
	if blocks == nil {
		t.Fatalf("docs/grade.md has no receiver in %s", language)
	}
	return blocks
}

func (f framework) verifier(t *testing.T) string {
	t.Helper()
	return read(t, filepath.Join("server", "httpapi", "apidoc", "verify", f.verify))
}

// Each receiver of docs/grade.md is an A, and looks at webhook-signature too.
func TestReceiversOfTheDocument(t *testing.T) {
	postgres, err := system.StartPostgres(context.Background(), "fsync=off")
	must(t, err)
	t.Cleanup(func() { must(t, postgres.Close()) })
	for name, f := range frameworks {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			write(t, filepath.Join(folder, f.verify), f.verifier(t))
			receiver := f.command(t, folder, code(t, f.language))
			database, err := postgres.NewDatabase(t.Context())
			must(t, err)
			db, err := pgx.Connect(t.Context(), postgres.URL(database))
			must(t, err)
			defer func() { _ = db.Close(context.Background()) }()
			_, err = db.Exec(t.Context(), schema(t))
			must(t, err)
			card := check(t, receiver, "DATABASE_URL="+postgres.URL(database))
			if card.Letter != grade.A || card.Count(grade.Passed) != len(grade.Lines()) {
				t.Errorf("it is %s, with %d of %d lines: %s", card.Letter, card.Count(grade.Passed), len(grade.Lines()), card.Sentence())
			}
		})
	}
}

// A fix that begins with code has it from the receivers, which are run.
func TestFixesAreOfTheReceivers(t *testing.T) {
	have := map[string]string{}
	for name, f := range frameworks {
		have[name] = squeezed(strings.Join(code(t, f.language), "\n") + f.verifier(t))
	}
	for _, line := range grade.Lines() {
		_, after, _ := strings.Cut(page(t), "\n### "+line.Anchor+"\n")
		section, _, _ := strings.Cut(after, "\n#")
		for name := range frameworks {
			_, row, found := strings.Cut(section, "\n| "+name+" | ")
			if !found {
				t.Errorf("docs/grade.md has no fix of %s for %s", line.Anchor, name)
			}
			if fix, is := strings.CutPrefix(row, "`"); is {
				fix, _, _ = strings.Cut(fix, "`")
				if !strings.Contains(have[name], squeezed(fix)) {
					t.Errorf("%s: the receiver for %s has no %s", line.Anchor, name, fix)
				}
			}
		}
	}
}

// squeezed makes one blank of several.
func squeezed(text string) string { return strings.Join(strings.Fields(text), " ") }

func express(t *testing.T, folder string, code []string) *exec.Cmd {
	npm.Install(t)
	modules, err := filepath.Abs("node_modules")
	must(t, err)
	must(t, os.Symlink(modules, filepath.Join(folder, "node_modules")))
	return exec.Command("node", write(t, filepath.Join(folder, "receiver.mjs"), code[0]))
}

func golang(t *testing.T, folder string, code []string) *exec.Cmd {
	main, verify := write(t, filepath.Join(folder, "main.go"), code[0]), filepath.Join(folder, "verify.go")
	write(t, verify, strings.Replace(read(t, "server/httpapi/apidoc/verify/verify.go"), "\npackage verify\n", "\npackage main\n", 1))
	program := filepath.Join(folder, "receiver")
	built(t, ".", "go", "build", "-o", program, main, verify)
	return exec.Command(program)
}

// django makes an app "shop" of the document's files. testdata/django.py is its project.
func django(t *testing.T, folder string, code []string) *exec.Cmd {
	python := "python3"
	for _, python = range []string{"python3", "/usr/bin/python3"} {
		if exec.Command(python, "-c", "import django").Run() == nil {
			break
		}
		python = ""
	}
	if python == "" {
		t.Skip("Django is not installed: test/examples only parses its receiver")
	}
	shop := filepath.Join(folder, "shop")
	must(t, os.Mkdir(shop, 0o755))
	must(t, os.Rename(filepath.Join(folder, "verify.py"), filepath.Join(shop, "verify.py")))
	write(t, filepath.Join(shop, "models.py"), code[0])
	write(t, filepath.Join(shop, "views.py"), code[1])
	return exec.Command(python, write(t, filepath.Join(folder, "project.py"), read(t, "test/receivers/testdata/django.py")))
}

// laravel makes the files of an application of the document's. testdata/laravel.php is the rest of it.
func laravel(t *testing.T, folder string, code []string) *exec.Cmd {
	if exec.Command("php", "-r", `exit(stream_resolve_include_path("Illuminate/Foundation/Application.php") ? 0 : 1);`).Run() != nil {
		t.Skip("Laravel is not in PHP's include_path: test/examples only parses its receiver")
	}
	write(t, filepath.Join(folder, "PaymentEvent.php"), code[0])
	write(t, filepath.Join(folder, "web.php"), code[1])
	write(t, filepath.Join(folder, "schema.sql"), schema(t))
	write(t, filepath.Join(folder, "index.php"), read(t, "test/receivers/testdata/laravel.php"))
	return exec.Command("sh", "-c", `exec php -S "127.0.0.1:$PORT" `+filepath.Join(folder, "index.php"))
}

// spring compiles the receiver with the libraries in the folder of Debian's packages, or in another one that CAURI_TEST_JARS names.
func spring(t *testing.T, folder string, code []string) *exec.Cmd {
	jars := cmp.Or(os.Getenv("CAURI_TEST_JARS"), "/usr/share/java")
	found, err := filepath.Glob(filepath.Join(jars, "spring*-web*.jar"))
	must(t, err)
	if _, err := exec.LookPath("javac"); err != nil || len(found) == 0 {
		t.Skipf("javac or Spring is not installed: %s has no spring-web.jar", jars)
	}
	write(t, filepath.Join(folder, "Webhooks.java"), code[0])
	write(t, filepath.Join(folder, "Driver.java"), read(t, "test/receivers/testdata/Driver.java"))
	built(t, folder, "javac", "-nowarn", "-cp", filepath.Join(jars, "*"), "Verify.java", "Webhooks.java", "Driver.java")
	return exec.Command("java", "-cp", folder+":"+filepath.Join(jars, "*"), "Driver")
}

func schema(t *testing.T) string { return code(t, "sql")[0] }

func built(t *testing.T, folder, program string, args ...string) {
	t.Helper()
	build := exec.CommandContext(t.Context(), program, args...)
	build.Dir = folder
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", program, err, out)
	}
}

func write(t *testing.T, file, text string) string {
	t.Helper()
	must(t, os.WriteFile(file, []byte(text), 0o600))
	return file
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
