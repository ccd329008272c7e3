package cli

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/cauri-dev/cauri/server/localpostgres"
)

// envFileName is the name of the environment file that is used if no flag and no variable names a sandbox.
const envFileName = ".env.cauri"

// nearby sets t.envFile to the file .env.cauri in the working folder or in the nearest folder above it that has one. It
// does nothing if flags or variables name a sandbox. It tells the user which file it found.
func (t *target) nearby() {
	if t.plugin || t.sandbox != "" || t.envFile != "" || t.uri != "" || t.kube.Given() {
		return
	}
	if t.envFile = nearestEnvFile(t.folder); t.envFile == "" {
		return
	}
	t.found = true
	t.announce("that of %s", t.envFile)
}

// announce tells the user which sandbox the command uses, if the user named none. format is the end of the sentence.
func (t *target) announce(format string, args ...any) {
	if !t.completing {
		Fprintf(t.cmd.ErrOrStderr(), "The sandbox is %s.\n", fmt.Sprintf(format, args...))
	}
}

// nearestEnvFile returns the path of the environment file in the folder or in the nearest folder above it; "" for none.
// It skips folders in which another user could have created the file, because such a file could have another URL.
func nearestEnvFile(folder string) string {
	folder, err := filepath.Abs(folder)
	for err == nil {
		path := filepath.Join(folder, envFileName)
		info, notThere := os.Lstat(path)
		if notThere == nil && info.Mode().IsRegular() && localpostgres.CheckFolder(folder, os.Geteuid()) == nil {
			return path
		}
		above := filepath.Dir(folder)
		if above == folder {
			break
		}
		folder = above
	}
	return ""
}
