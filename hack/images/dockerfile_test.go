package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The Dockerfile and ko make the same image. This test compares their common settings without a build. `make
// image-check` builds both.

func readText(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// instructions are the instructions of the last and the previous stage of the Dockerfile, with joined lines.
func instructions(t *testing.T) (build, final []string) {
	t.Helper()
	text := strings.ReplaceAll(readText(t, "../../Dockerfile"), "\\\n", " ")
	var stages [][]string
	for line := range strings.Lines(text) {
		line = strings.Join(strings.Fields(line), " ")
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "FROM "):
			stages = append(stages, []string{line})
		case len(stages) > 0:
			stages[len(stages)-1] = append(stages[len(stages)-1], line)
		}
	}
	if len(stages) != 2 {
		t.Fatalf("%d stages in the Dockerfile", len(stages))
	}
	return stages[0], stages[1]
}

// listOf is a list of the only build in .ko.yaml.
func listOf(t *testing.T, key string) []string {
	t.Helper()
	found := regexp.MustCompile(`(?m)^  ` + key + `:\n((?:  - .*\n)+)`).FindStringSubmatch(readText(t, "../../.ko.yaml"))
	if found == nil {
		t.Fatalf(".ko.yaml has no list %s", key)
	}
	return strings.Split(strings.TrimPrefix(strings.TrimSuffix(found[1], "\n"), "  - "), "\n  - ")
}

func TestDockerfileBuildsAsKoDoes(t *testing.T) {
	t.Parallel()
	build, _ := instructions(t)
	i := slices.IndexFunc(build, func(line string) bool { return strings.Contains(line, "go build") })
	if i < 0 {
		t.Fatal("the Dockerfile builds nothing")
	}
	command := build[i]
	for _, want := range append(listOf(t, "flags"), listOf(t, "env")...) {
		if !strings.Contains(command, " "+want+" ") {
			t.Errorf("the Dockerfile builds without %s: %s", want, command)
		}
	}
	linker := strings.Join(listOf(t, "ldflags"), " ")
	linker = strings.NewReplacer(`{{index .Env "VERSION"}}`, "$VERSION", `{{index .Env "REVISION"}}`, "$REVISION").Replace(linker)
	if !strings.Contains(command, `-ldflags="`+linker+`"`) {
		t.Errorf("the linker's flags are %q in .ko.yaml, the Dockerfile has: %s", linker, command)
	}
	if !strings.HasSuffix(command, "-o /image/ko-app/cauri ./cmd/cauri") ||
		!strings.Contains(readText(t, "../../.ko.yaml"), "\n  main: ./cmd/cauri\n") {
		t.Errorf("another program, or another place: %s", command)
	}
}

func TestDockerfileRunsAsKosImageDoes(t *testing.T) {
	t.Parallel()
	_, final := instructions(t)
	var marks []string
	for name, value := range labels(source{}) {
		switch name {
		case "org.opencontainers.image.version", "org.opencontainers.image.revision", "org.opencontainers.image.created":
			value = "$" + strings.ToUpper(name[strings.LastIndex(name, ".")+1:])
		}
		marks = append(marks, name+`="`+value+`"`)
	}
	label := final[len(final)-1]
	got := regexp.MustCompile(`\S+?="[^"]*"`).FindAllString(label, -1)
	slices.Sort(got)
	slices.Sort(marks)
	if diff := cmp.Diff(marks, got); diff != "" {
		t.Errorf("labels: %s", diff)
	}
	want := []string{"FROM scratch", "COPY --from=build /image/ /", "ENV PATH=/ko-app KO_DATA_PATH=/var/run/ko", "USER " + imageUser,
		`ENTRYPOINT ["/ko-app/cauri"]`, "ARG VERSION=dev", "ARG REVISION=", "ARG CREATED=1970-01-01T00:00:00Z"}
	if diff := cmp.Diff(want, final[:len(final)-1]); diff != "" {
		t.Error(diff)
	}
}

func TestDockerfileTakesTheGoOfTheModule(t *testing.T) {
	t.Parallel()
	command := exec.CommandContext(t.Context(), "go", "list", "-m", "-json")
	command.Dir = "../.."
	out, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	var module struct{ GoVersion string }
	if err := json.Unmarshal(out, &module); err != nil {
		t.Fatal(err)
	}
	if want := "\nARG GO_IMAGE=golang:" + module.GoVersion + "\n"; !strings.Contains(readText(t, "../../Dockerfile"), want) {
		t.Errorf("the Dockerfile has no line %q: go.mod wants Go %s", strings.TrimSpace(want), module.GoVersion)
	}
}
