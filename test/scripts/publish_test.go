package scripts

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const (
	imageDigest = "sha256:" + "11111111111111111111111111111111"
	chartDigest = "sha256:" + "22222222222222222222222222222222"
)

// published is a folder that looks to hack/publish.sh like a checkout after `make release`.
func published(t *testing.T) *checkout {
	t.Helper()
	c := &checkout{t: t, folder: t.TempDir()}
	script, err := os.ReadFile("../../hack/publish.sh")
	if err != nil {
		t.Fatal(err)
	}
	c.write("hack/publish.sh", string(script))
	noting := fmt.Sprintf(program, c.folder)
	c.write("path/cosign", noting)
	c.write("bin/image", noting+"\necho images.example/cauri:1.2.3@"+imageDigest+"\n")
	c.write("bin/helm", noting+"\nprintf 'Pushed: images.example/charts/cauri:1.2.3\\nDigest: %s\\n' "+chartDigest+" >&2\n")
	for _, file := range []string{"cauri-1.2.3.tgz", "cauri-v1.2.3-index.spdx.json", "SHA256SUMS"} {
		c.write("dist/"+file, "")
	}
	return c
}

func (c *checkout) publish(env ...string) (status int, out string) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), 5*time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, "bash", "hack/publish.sh")
	command.Dir, command.Env = c.folder, append([]string{"PATH=" + c.folder + "/path:/usr/bin:/bin"}, env...)
	text, err := command.CombinedOutput()
	return c.status(err), string(text)
}

var (
	where  = []string{"IMAGE_REPOSITORY=images.example/cauri", "CHART_REPOSITORY=images.example/charts"}
	pushes = []string{"image publish --image-repository=images.example/cauri", "helm push dist/cauri-1.2.3.tgz oci://images.example/charts"}
	signs  = []string{
		"cosign sign --yes --recursive images.example/cauri:1.2.3@" + imageDigest,
		"cosign sign --yes images.example/charts/cauri@" + chartDigest,
		"cosign attest --yes --type spdxjson --predicate dist/cauri-v1.2.3-index.spdx.json images.example/cauri:1.2.3@" + imageDigest,
		"cosign sign-blob --yes --bundle dist/SHA256SUMS.sigstore.json dist/SHA256SUMS",
	}
)

func TestPublish(t *testing.T) {
	for name, test := range map[string]struct {
		env    []string
		write  map[string]string
		remove string
		status int
		says   string
		want   []string
	}{
		"without signatures": {env: where, says: "images.example/charts/cauri@" + chartDigest, want: pushes},
		"signed":             {env: append(where[:2:2], "SIGN=1"), want: append(pushes[:2:2], signs...)},
		"with flags for helm": {
			env: append(where[:2:2], "HELM_FLAGS=--plain-http --debug"), want: []string{pushes[0], pushes[1] + " --plain-http --debug"},
		},
		"nowhere": {env: where[:1:1], status: 1, says: "Say where to", want: []string{""}},
		"nothing to sign with": {
			env: append(where[:2:2], "SIGN=1"), remove: "path/cosign", status: 1, says: "there is no cosign", want: []string{""},
		},
		"the image is refused":   {env: where, write: map[string]string{"image.publish": "3"}, status: 3, want: pushes[:1]},
		"the chart is refused":   {env: where, write: map[string]string{"helm.push": "3"}, status: 1, want: pushes},
		"a signature is refused": {env: append(where[:2:2], "SIGN=1"), write: map[string]string{"cosign.sign": "4"}, status: 4, want: append(pushes[:2:2], signs[0])},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := published(t)
			for file, text := range test.write {
				c.write(file, text)
			}
			if test.remove != "" {
				c.remove(test.remove)
			}
			status, out := c.publish(append(test.env, "GITHUB_OUTPUT="+c.folder+"/output")...)
			if status != test.status || !strings.Contains(strings.ToLower(out), strings.ToLower(test.says)) {
				t.Errorf("ended with %d, want %d; it says, without %q:\n%s", status, test.status, test.says, out)
			}
			if diff := cmp.Diff(test.want, c.calls()); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
			written, _ := os.ReadFile(c.folder + "/output")
			if want := "image-digest=" + imageDigest + "\nchart-digest=" + chartDigest + "\n"; test.status == 0 && string(written) != want {
				t.Errorf("the outputs of the step are %q", written)
			}
		})
	}
}
