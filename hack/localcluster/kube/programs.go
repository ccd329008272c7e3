package kube

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"github.com/cauri-dev/cauri/hack/localcluster/download"
	"github.com/cauri-dev/cauri/hack/localcluster/host"
	"github.com/cauri-dev/cauri/hack/localcluster/process"
)

// AssetsVariable is the environment variable with the folder of a control plane's programs. envtest uses the same name.
const AssetsVariable = "KUBEBUILDER_ASSETS"

const kubectlName = "kubectl"

// FindPrograms returns the folder of a control plane's programs: that of the user, else a download, else a build from
// source. It prefers a build in the cache to a new download, so that a machine without network does not try the
// download every time.
func FindPrograms(ctx context.Context, out io.Writer) (folder string, err error) {
	if given := os.Getenv(AssetsVariable); given != "" {
		if folder, err = filepath.Abs(given); err != nil {
			return "", fmt.Errorf("finding %s: %w", AssetsVariable, err)
		}
		return folder, checkAssets(folder)
	}
	settings, err := download.SettingsOf(os.Getenv)
	if err != nil {
		return "", err
	}
	released, known, err := releasedPrograms(runtime.GOOS, runtime.GOARCH, settings)
	if err != nil {
		return "", err
	}
	if known && !settings.Off && released.Kept(out) {
		return released.Folder, nil
	}
	if !known || settings.Off {
		return buildPrograms(ctx, out)
	}
	if build, err := FindBuild(); err == nil && build.Built() {
		return build.Folder, build.Ensure(ctx, out)
	}
	err = released.Ensure(ctx, out)
	var wrong download.WrongSum
	if err == nil || errors.As(err, &wrong) || ctx.Err() != nil {
		return released.Folder, err
	}
	fmt.Fprintf(out, "%v: building from source instead\n", err)
	return buildPrograms(ctx, out)
}

func buildPrograms(ctx context.Context, out io.Writer) (folder string, err error) {
	if err := host.CheckSystem("a control plane that is built from source", "set "+AssetsVariable+" to a folder with etcd and kube-apiserver"); err != nil {
		return "", err
	}
	build, err := FindBuild()
	if err != nil {
		return "", err
	}
	return build.Folder, build.Ensure(ctx, out)
}

// checkAssets checks the folder that the user names.
func checkAssets(folder string) error {
	for _, name := range []string{process.EtcdName, process.APIServerName} {
		if !hasProgram(folder, name) {
			return fmt.Errorf("%s=%s has no program %s: correct it, or unset it to download or build the programs", AssetsVariable, folder, name)
		}
	}
	return nil
}

func hasProgram(folder, name string) bool {
	_, err := exec.LookPath(filepath.Join(folder, name))
	return err == nil
}

// LinkKubectl links kubectl of a control plane into a folder and returns the link; "" if there is no kubectl. It does
// not replace a file of the user.
func LinkKubectl(programs, folder string) (link string, err error) {
	if !hasProgram(programs, kubectlName) {
		return "", nil
	}
	target, link := filepath.Join(programs, kubectlName), filepath.Join(folder, kubectlName)
	if present, err := os.Lstat(link); err == nil && present.Mode().Type() != os.ModeSymlink {
		return link, nil // the user's own kubectl
	}
	if present, err := os.Readlink(link); err == nil && present == target {
		return link, nil
	}
	temporary := fmt.Sprintf("%s.%d", link, os.Getpid())
	if err := os.Symlink(target, temporary); err != nil {
		return "", fmt.Errorf("linking kubectl: %w", err)
	}
	if err := os.Rename(temporary, link); err != nil {
		return "", fmt.Errorf("linking kubectl: %w", errors.Join(err, os.Remove(temporary)))
	}
	return link, nil
}
