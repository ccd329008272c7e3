package download

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/hack/localcluster/testkit"
)

func TestSettings(t *testing.T) {
	t.Parallel()
	settings := func(mirror, sums string) (Settings, error) {
		return SettingsOf(func(name string) string {
			return map[string]string{MirrorVariable: mirror, SumsVariable: sums}[name]
		})
	}
	file := File{URL: "dl.k8s.io/x"}
	official, err := settings("", "")
	if err != nil || official.address(file) != "https://dl.k8s.io/x" || official.Off {
		t.Errorf("%+v, %v", official, err)
	}
	mirrored, err := settings("http://mirror.example.com/files/", "")
	if err != nil || mirrored.address(file) != "http://mirror.example.com/files/dl.k8s.io/x" || mirrored.warning() != "" {
		t.Errorf("%+v, %v", mirrored, err)
	}
	test, err := settings("http://127.0.0.1:9000", "/tmp/sums")
	if err != nil || !strings.Contains(test.warning(), "/tmp/sums") {
		t.Errorf("%+v, %v", test, err)
	}
	for _, given := range [][2]string{{"mirror.example.com", ""}, {"ftp://mirror.example.com", ""}, {"http://", ""}, {"%", ""}} {
		_, err := settings(given[0], given[1])
		testkit.WantAdvice(t, err, MirrorVariable, "https://mirror.example.com")
	}
	for _, mirror := range []string{"", "https://mirror.example.com", "http://10.0.0.1"} {
		_, err := settings(mirror, "/tmp/sums")
		testkit.WantAdvice(t, err, SumsVariable, "127.0.0.1")
	}
	for value, off := range map[string]bool{"": false, "on": false, "off": true} {
		got, err := SettingsOf(func(name string) string { return map[string]string{SwitchVariable: value}[name] })
		if err != nil || got.Off != off {
			t.Errorf("%q: %+v, %v", value, got, err)
		}
	}
	_, err = SettingsOf(func(name string) string { return map[string]string{SwitchVariable: "no"}[name] })
	testkit.WantAdvice(t, err, SwitchVariable+"=no", "on or off")
}

func TestSums(t *testing.T) {
	t.Parallel()
	long, short := strings.Repeat("ab", 64), strings.Repeat("cd", 32)
	sums, err := parseSums("# a comment\n\n" + short + "  x/one\n" + long + "  x/two\n")
	if err != nil || len(sums) != 2 || sums["x/one"] != short || sums["x/two"] != long {
		t.Errorf("%v, %v", sums, err)
	}
	for _, wrong := range []string{"abcd  x/one", short, short + "00  x/one", "zz" + short[2:] + "  x/one", short + "  x/one\n" + short + "  x/one"} {
		if _, err := parseSums(wrong); err == nil {
			t.Errorf("%q is accepted", wrong)
		}
	}
	file := filepath.Join(t.TempDir(), "sums")
	if err := os.WriteFile(file, []byte(short+"  x/three\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for sums, known := range map[string]bool{"": false, file: true} {
		_, found, err := NewSet("n-v1", "n", []File{{URL: "x/three"}}, long+"  x/two\n", Settings{sums: sums})
		if err != nil || found != known {
			t.Errorf("sums of %q: %t, %v", sums, found, err)
		}
	}
}
