package host

import (
	"bytes"
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/hack/localcluster/testkit"
)

func TestInstallationIsAnnouncedAndCanBeRefused(t *testing.T) {
	commands := [][]string{{"apt-get", "update"}, {"apt-get", "install", "thing"}}
	for value, refuses := range map[string]bool{"": false, "1": false, "0": true} {
		t.Setenv(InstallVariable, value)
		var said bytes.Buffer
		err := AnnounceInstall(&said, "Thing", "a test needs it", commands)
		text := said.String()
		if refuses && err != nil {
			text += err.Error()
		}
		if (err != nil) != refuses || refuses && said.Len() > 0 {
			t.Errorf("%q: %v, said %q", value, err, &said)
		}
		for _, part := range []string{"Thing", "a test needs it", InstallVariable + "=0", "  apt-get update\n  apt-get install thing"} {
			if !strings.Contains(text, part) {
				t.Errorf("%q: %q does not say %q", value, text, part)
			}
		}
	}
	t.Setenv(InstallVariable, "no")
	testkit.WantAdvice(t, AnnounceInstall(&bytes.Buffer{}, "Thing", "", nil), InstallVariable+"=no", "write 0")
}
