package kube

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/hack/localcluster/download"
	"github.com/cauri-dev/cauri/hack/localcluster/source"
	"github.com/cauri-dev/cauri/hack/localcluster/testkit"
)

// Every file has a pinned sum, and every sum is of a file.
func TestPinnedSums(t *testing.T) {
	t.Parallel()
	wanted := 0
	for _, platform := range [][2]string{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}} {
		_, known, err := releasedPrograms(platform[0], platform[1], download.Settings{})
		if err != nil || !known {
			t.Errorf("%v has no download: %v", platform, err)
		}
		wanted += len(releasedFiles(platform[0], platform[1]))
	}
	if sums := strings.Count("\n"+pinnedSums, "\n") - strings.Count("\n"+pinnedSums, "\n#") - 1; sums != wanted {
		t.Errorf("%d sums of %d files", sums, wanted)
	}
	for _, platform := range [][2]string{{"linux", "riscv64"}, {"windows", "amd64"}} {
		if _, known, err := releasedPrograms(platform[0], platform[1], download.Settings{}); known || err != nil {
			t.Errorf("%v has a download: %v", platform, err)
		}
	}
}

// What is downloaded behaves as what is built.
func TestReleasesAreOfTheMinorVersionsOfTheSource(t *testing.T) {
	t.Parallel()
	goMod := filepath.Join("..", "source", "kube", "go.mod")
	for module, released := range map[string][]string{
		"k8s.io/kubernetes": {releasedKubernetes, releasedEnvtest}, "go.etcd.io/etcd/server/v3": {releasedEtcd},
	} {
		built, err := source.RequiredVersion(goMod, module)
		if err != nil {
			t.Fatal(err)
		}
		minor := built[:strings.LastIndex(built, ".")+1]
		for _, version := range released {
			if !strings.HasPrefix(version, minor) {
				t.Errorf("%s: %s is downloaded, %s is built", module, version, built)
			}
		}
	}
}

// mirrorHere is a mirror with small programs, and the sums of what it should serve.
func mirrorHere(t *testing.T, change func(url string, content []byte) []byte) {
	t.Helper()
	contents, sums := map[string][]byte{}, ""
	for _, file := range releasedFiles(runtime.GOOS, runtime.GOARCH) {
		content := []byte("#!/bin/sh\necho " + filepath.Base(file.URL) + "\n")
		if len(file.Programs) > 0 {
			content = archiveOf(t, file.Programs)
		}
		sums += fmt.Sprintf("%x  %s\n", sha256.Sum256(content), file.URL)
		contents["/"+file.URL] = change(file.URL, content)
	}
	list := filepath.Join(t.TempDir(), "sums")
	if err := os.WriteFile(list, []byte(sums), 0o600); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if contents[r.URL.Path] == nil {
			http.NotFound(w, r)
			return
		}
		w.Write(contents[r.URL.Path])
	}))
	t.Cleanup(server.Close)
	t.Setenv(download.MirrorVariable, server.URL)
	t.Setenv(download.SumsVariable, list)
}

func archiveOf(t *testing.T, programs []string) []byte {
	t.Helper()
	var packed bytes.Buffer
	zipped := gzip.NewWriter(&packed)
	entries := tar.NewWriter(zipped)
	for _, name := range programs {
		content := "#!/bin/sh\necho " + name + "\n"
		err := entries.WriteHeader(&tar.Header{Name: "release/" + name, Typeflag: tar.TypeReg, Size: int64(len(content))})
		if err == nil {
			_, err = io.WriteString(entries, content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(entries.Close(), zipped.Close()); err != nil {
		t.Fatal(err)
	}
	return packed.Bytes()
}

// elsewhere makes a build from source fail: there is no checkout.
func elsewhere(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv(AssetsVariable, "")
	t.Setenv(download.SwitchVariable, "")
}

const noSource = "run this inside a checkout"

func unchanged(_ string, content []byte) []byte { return content }

func TestProgramsOfAMirror(t *testing.T) {
	elsewhere(t)
	mirrorHere(t, unchanged)
	var said bytes.Buffer
	folder, err := FindPrograms(t.Context(), &said)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(said.String(), "WARNING: the sums of "+download.SumsVariable) {
		t.Errorf("sums that are not pinned are used in silence: %q", &said)
	}
	plane := ControlPlane{Assets: folder}
	if runtime.GOOS == "linux" && !plane.HasControllerManager() {
		t.Error("there is no controller manager")
	}
	if err := checkAssets(folder); err != nil {
		t.Error(err)
	}
	t.Setenv(download.MirrorVariable, "http://127.0.0.1:1") // nothing answers there
	if again, err := FindPrograms(t.Context(), io.Discard); again != folder || err != nil {
		t.Errorf("what is kept is not used: %q, %v", again, err)
	}
	t.Setenv(download.SwitchVariable, "off")
	_, err = FindPrograms(t.Context(), io.Discard)
	testkit.WantAdvice(t, err, noSource)
}

func TestAWrongSumIsNoReasonToBuild(t *testing.T) {
	elsewhere(t)
	mirrorHere(t, func(url string, content []byte) []byte {
		if strings.HasSuffix(url, "kubectl") || runtime.GOOS != "linux" {
			return append(content, '#')
		}
		return content
	})
	_, err := FindPrograms(t.Context(), io.Discard)
	testkit.WantAdvice(t, err, "is not the published file", "pinned sum", download.SwitchVariable+"=off")
}

func TestAMachineWithoutNetworkBuilds(t *testing.T) {
	for name, prepare := range map[string]func(){
		"refused": func() { t.Setenv(download.MirrorVariable, "http://127.0.0.1:1") },
		"404": func() {
			mirrorHere(t, func(string, []byte) []byte { return nil })
		},
	} {
		elsewhere(t)
		mirrorHere(t, unchanged)
		prepare()
		var said bytes.Buffer
		_, err := FindPrograms(t.Context(), &said)
		testkit.WantAdvice(t, err, noSource)
		if lines := strings.Count(said.String(), ": building from source instead\n"); lines != 1 {
			t.Errorf("%s: said %q", name, &said)
		}
	}
}

func TestProgramsOfTheUser(t *testing.T) {
	elsewhere(t)
	folder := t.TempDir()
	t.Setenv(AssetsVariable, folder)
	_, err := FindPrograms(t.Context(), io.Discard)
	testkit.WantAdvice(t, err, AssetsVariable, folder, "etcd", "unset it")
	for _, name := range []string{"etcd", "kube-apiserver", "kubectl"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := FindPrograms(t.Context(), io.Discard); got != folder || err != nil {
		t.Errorf("FindPrograms = %q, %v", got, err)
	}
	if (ControlPlane{Assets: folder}).HasControllerManager() {
		t.Error("a controller manager that is not there")
	}

	bin := t.TempDir()
	for range 2 {
		link, err := LinkKubectl(folder, bin)
		if target, readErr := os.Readlink(link); err != nil || readErr != nil || target != filepath.Join(folder, "kubectl") {
			t.Errorf("%q links to %q: %v, %v", link, target, err, readErr)
		}
		if err := os.Rename(folder, folder+"2"); err != nil { // another version
			t.Fatal(err)
		}
		folder += "2"
	}
	if entries, err := os.ReadDir(bin); err != nil || len(entries) != 1 {
		t.Errorf("%v, %v", entries, err)
	}
	own := filepath.Join(t.TempDir(), "kubectl")
	if err := os.WriteFile(own, []byte("the user's"), 0o755); err != nil {
		t.Fatal(err)
	}
	if link, err := LinkKubectl(folder, filepath.Dir(own)); link != own || err != nil {
		t.Errorf("%q, %v", link, err)
	}
	if content, err := os.ReadFile(own); err != nil || string(content) != "the user's" {
		t.Errorf("a file of the user is replaced: %q, %v", content, err)
	}
	if link, err := LinkKubectl(t.TempDir(), bin); link != "" || err != nil {
		t.Errorf("a link to nothing: %q, %v", link, err)
	}
}
