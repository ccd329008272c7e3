package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/cauri-dev/cauri/cmd/cauri/kube"
	"github.com/cauri-dev/cauri/server/localpostgres"
)

// choices are the choices of `cauri use`, stored in a file of the user.
type choices struct {
	folder string // empty: the folder cauri in the user's configuration folder
}

// choice is the sandbox of one context of a kubeconfig. The server is part of the choice, because another kubeconfig
// may have a context of the same name.
type choice struct {
	Context string `json:"context"`
	Server  string `json:"server"`
	Sandbox string `json:"sandbox"` // namespace/name
}

func (c *choice) isOf(cluster *kube.Cluster) bool {
	return c.Context == cluster.Context && c.Server == cluster.Host()
}

func (p *program) choices() choices { return choices{p.Config} }

const choicesFile = "use.json"

func (c choices) path() (string, error) {
	if c.folder != "" {
		return filepath.Join(c.folder, choicesFile), nil
	}
	folder, err := os.UserConfigDir()
	return filepath.Join(folder, "cauri", choicesFile), err
}

// of returns the sandbox that was chosen for a cluster; "" for none. It also returns "" if the file cannot be read;
// `cauri use` reports that error.
func (c choices) of(cluster *kube.Cluster) string {
	all, _ := c.read()
	for i := range all {
		if all[i].isOf(cluster) {
			return all[i].Sandbox
		}
	}
	return ""
}

// read returns the choices in the file. It returns an error if another user could have written the file, because that
// user could redirect payments to another sandbox.
func (c choices) read() (all []choice, err error) {
	path, err := c.path()
	if err != nil {
		return nil, err
	}
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, usage(fmt.Errorf("%s is not a regular file: remove it", path))
	}
	if err := localpostgres.CheckFolder(filepath.Dir(path), os.Geteuid()); err != nil {
		return nil, usage(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, usage(kube.Because(err, "%s cannot be read: remove it, and choose again", path))
	}
	return all, nil
}

// set stores the choice of a sandbox for a cluster. An empty sandbox removes the choice.
func (c choices) set(cluster *kube.Cluster, sandbox string) error {
	all, err := c.read()
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(one choice) bool { return one.isOf(cluster) })
	if sandbox != "" {
		all = append(all, choice{cluster.Context, cluster.Host(), sandbox})
	}
	text, err := encoded(all, "  ")
	if err != nil {
		return err
	}
	path, err := c.path()
	if err != nil {
		return err
	}
	folder := filepath.Dir(path)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	if err := localpostgres.CheckFolder(folder, os.Geteuid()); err != nil {
		return usage(err)
	}
	return replace(path, text)
}

// replace writes a file atomically. Only the user can read it.
func replace(path, text string) error {
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+"-*") // CreateTemp sets the mode 0600
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		_ = os.Remove(file.Name())
	}
	return err
}
