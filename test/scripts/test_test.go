package scripts

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Each package is tested once, with the race detector or without it, and one that fails makes the whole run fail.
func TestNothingIsTestedTwice(t *testing.T) {
	t.Parallel()
	const program = `#!/bin/sh
case $1 in
list)
  shift
  [ "$*" = ./... ] && set -- ./test/e2e ./test/faults ./controllers ./test/chaos ./cmd/cauri ./test/chart ./api ./server
  printf '%s\n' "$@"
  ;;
env) echo sh ;; # there is a C compiler
test)
  echo "$@" >>"$CALLS"
  case $* in *" $FAILS"*) echo "FAIL $FAILS 0.1s"; exit 1 ;; esac
  ;;
esac
`
	for fails, want := range map[string]bool{"./server": false, "./api": false, "./test/e2e": false, "nothing": true} {
		t.Run(fails, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			write(t, folder+"/go", program)
			calls := folder + "/calls"
			command := exec.Command("../../hack/test.sh", "./server")
			command.Env = []string{"PATH=" + folder + ":/usr/bin:/bin", "CALLS=" + calls, "FAILS=" + fails}
			if output, err := command.CombinedOutput(); (err == nil) != want {
				t.Errorf("it ended with %v:\n%s", err, output)
			}
			text, err := os.ReadFile(calls)
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"./test/e2e", "./test/faults", "./controllers", "./api", "./server"} {
				if n := strings.Count(" "+strings.ReplaceAll(string(text), "\n", " ")+" ", " "+name+" "); n != 1 {
					t.Errorf("%s is tested %d times:\n%s", name, n, text)
				}
			}
		})
	}
}
