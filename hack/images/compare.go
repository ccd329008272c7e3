package main

import (
	"archive/tar"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/spf13/cobra"
)

func newCompareCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "compare ARCHIVE OTHER",
		Short: "Compare two docker archives: their files, modes, owners, contents, and how they run",
		Args:  cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			facts := make([]map[string]string, len(args))
			for i, archive := range args {
				image, err := tarball.ImageFromPath(archive, nil)
				if err != nil {
					return fmt.Errorf("reading %s: %w", archive, err)
				}
				if facts[i], err = contentOf(image); err != nil {
					return fmt.Errorf("reading %s: %w", archive, err)
				}
			}
			if found := differences(facts[0], facts[1]); len(found) > 0 {
				return fmt.Errorf("%s and %s differ:\n  %s", args[0], args[1], strings.Join(found, "\n  "))
			}
			for _, fact := range slices.Sorted(maps.Keys(facts[0])) {
				fmt.Fprintf(cmd.OutOrStdout(), "%s: %s\n", fact, facts[0][fact])
			}
			fmt.Fprintf(cmd.OutOrStdout(), "\n%s and %s have the same content.\n", args[0], args[1])
			return nil
		},
	}
}

// contentOf returns the files and settings of an image that a container sees, one line for each. It ignores times,
// history and the order of layers.
func contentOf(image v1.Image) (map[string]string, error) {
	file, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	c := file.Config
	slices.Sort(c.Env)
	facts := map[string]string{
		"platform": file.OS + "/" + file.Architecture, "user": c.User, "entrypoint": fmt.Sprintf("%q", c.Entrypoint),
		"command": fmt.Sprintf("%q", c.Cmd), "environment": fmt.Sprintf("%q", c.Env), "working directory": strings.TrimSuffix(c.WorkingDir, "/"),
		"ports": fmt.Sprint(c.ExposedPorts), "volumes": fmt.Sprint(c.Volumes), "stop signal": c.StopSignal,
	}
	for name, value := range c.Labels {
		facts["label "+name] = value
	}
	content := mutate.Extract(image)
	defer func() { _ = content.Close() }()
	return facts, addFiles(facts, tar.NewReader(content))
}

func addFiles(facts map[string]string, files *tar.Reader) error {
	for {
		h, err := files.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		name := path.Join("/", h.Name)
		if name == "/" {
			continue // only some tools write it
		}
		digest := sha256.New()
		if _, err := io.Copy(digest, files); err != nil {
			return err
		}
		facts["file "+name] = fmt.Sprintf("%s, owner %d:%d, %d bytes, sha256 %x%s",
			h.FileInfo().Mode(), h.Uid, h.Gid, h.Size, digest.Sum(nil), linkOf(h))
	}
}

func linkOf(h *tar.Header) string {
	if h.Linkname == "" {
		return ""
	}
	return ", link to " + h.Linkname
}

// differences returns the differing lines of two images.
func differences(a, b map[string]string) []string {
	var found []string
	all := maps.Clone(a)
	maps.Copy(all, b)
	for _, fact := range slices.Sorted(maps.Keys(all)) {
		in, inA := a[fact]
		other, inB := b[fact]
		switch {
		case !inA:
			found = append(found, fmt.Sprintf("%s: only in the second: %s", fact, other))
		case !inB:
			found = append(found, fmt.Sprintf("%s: only in the first: %s", fact, in))
		case in != other:
			found = append(found, fmt.Sprintf("%s: %s; %s", fact, in, other))
		}
	}
	return found
}
