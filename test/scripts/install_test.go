package scripts

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Packages are named before they are installed, and the user can refuse.
func TestPackagesAreNamedBeforeTheyAreInstalled(t *testing.T) {
	const update, install = "apt-get update -q", "apt-get install -q -y --no-install-recommends one two"
	for name, test := range map[string]struct {
		uid, setting, failing string
		fails                 bool
		says                  string
		calls                 []string
	}{
		"root":            {uid: "0", says: "CAURI_INSTALL=0 refuses", calls: []string{update, install}},
		"no root":         {uid: "1000", fails: true, says: "on Debian, as root"},
		"refused":         {uid: "0", setting: "0", fails: true, says: "CAURI_INSTALL=0, so nothing is installed"},
		"wrong setting":   {uid: "0", setting: "no", fails: true, says: "CAURI_INSTALL=no: write 0"},
		"update fails":    {uid: "0", failing: "update", fails: true, says: install, calls: []string{update}},
		"no such package": {uid: "0", failing: "install", fails: true, says: install, calls: []string{update, install}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			write(t, folder+"/id", "#!/bin/sh\necho "+test.uid+"\n")
			write(t, folder+"/apt-get", "#!/bin/sh\necho apt-get \"$@\" >>"+folder+"/calls\n[ $1 != '"+test.failing+"' ]\n")
			cmd := exec.CommandContext(t.Context(), "../../hack/install.sh", "a check needs them", "one", "two")
			cmd.Env = append(os.Environ(), "PATH="+folder+":"+os.Getenv("PATH"), "CAURI_INSTALL="+test.setting)
			output, err := cmd.CombinedOutput()
			if (err != nil) != test.fails || !strings.Contains(string(output), test.says) {
				t.Errorf("ended with %v and said %q", err, output)
			}
			if test.setting != "no" && !strings.Contains(string(output), "one two is not installed, and a check needs them") {
				t.Errorf("what and why are missing: %s", output)
			}
			if test.setting != "no" && !strings.Contains(string(output), "  "+update+"\n  "+install+"\n") {
				t.Errorf("the commands are missing: %s", output)
			}
			calls, _ := os.ReadFile(folder + "/calls") // there is none without a call
			if got := strings.TrimSpace(string(calls)); got != strings.Join(test.calls, "\n") {
				t.Errorf("called %q", got)
			}
		})
	}
}
