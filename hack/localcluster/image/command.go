package image

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"
)

func NewCommand() *cobra.Command {
	var made image
	var tarballs []string
	var output string
	cmd := &cobra.Command{
		Use:   "image --name REF --output FILE [flags] [FILE:/PATH...]",
		Short: "Write a container image from files, without a container runtime",
		Long: `image writes a container image as an archive that docker load, ctr images import and kind load image-archive take. Each --tar
is a layer. All files together are one more layer above them. A folder includes everything below it. The archive depends
only on the content of the files: owner, times and permissions (except the right to execute) are always the same.`,
		Example: `  localcluster image --name cauri.local/merchant:e2e --entrypoint /merchant --user 65532:65532 -o bin/images/merchant.tar bin/merchant:/merchant`,
		RunE: func(_ *cobra.Command, args []string) error {
			if err := made.check(); err != nil {
				return err
			}
			if output == "" {
				return errors.New("the output file is missing: set --output")
			}
			return made.build(output, tarballs, args)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&made.name, "name", "", "the image's full name, with a host and a tag: cauri.local/merchant:e2e")
	flags.StringVarP(&output, "output", "o", "", "the archive to write")
	flags.StringArrayVar(&made.entrypoint, "entrypoint", nil, "the program and its first arguments (repeat for each word)")
	flags.StringArrayVar(&made.command, "command", nil, "arguments that a pod may replace (repeat for each word)")
	flags.StringArrayVar(&made.env, "env", nil, "an environment variable: NAME=value (repeatable)")
	flags.StringVar(&made.user, "user", "", "the user it runs as: UID:GID (default: root)")
	flags.StringVar(&made.workdir, "workdir", "/", "the working directory")
	flags.StringVar(&made.stopSignal, "stop-signal", "", "the signal that stops the program (default: SIGTERM)")
	flags.StringVar(&made.architecture, "architecture", runtime.GOARCH, "the architecture of the programs, as a GOARCH value")
	flags.StringArrayVar(&tarballs, "tar", nil, "a tarball that becomes a layer (repeatable)")
	return cmd
}

func (i image) check() error {
	slash, colon := strings.IndexByte(i.name, '/'), strings.LastIndexByte(i.name, ':')
	if slash <= 0 || colon < slash || colon == len(i.name)-1 {
		return fmt.Errorf(
			"--name=%s is not a whole name: add a host and a tag, as in cauri.local/merchant:e2e (a node needs both)",
			i.name,
		)
	}
	for _, variable := range i.env {
		if name, _, ok := strings.Cut(variable, "="); !ok || name == "" {
			return fmt.Errorf("--env=%s is not a variable: write NAME=value", variable)
		}
	}
	return nil
}

// build writes the image from tarballs and pairs of FILE:/PATH.
func (i image) build(output string, tarballs, pairs []string) error {
	files := layer{}
	for _, pair := range pairs {
		source, destination, ok := strings.Cut(pair, ":")
		if !ok || source == "" || !strings.HasPrefix(destination, "/") {
			return fmt.Errorf("%q is not a file and its path in the image: write FILE:/PATH", pair)
		}
		if err := files.add(source, destination); err != nil {
			return fmt.Errorf("adding %s to the image: %w", source, err)
		}
	}
	if len(files) == 0 && len(tarballs) == 0 {
		return errors.New("there is nothing to put into the image: name files as FILE:/PATH, or tarballs with --tar")
	}
	return i.buildFrom(output, tarballs, files)
}

func (i image) buildFrom(output string, tarballs []string, files layer) error {
	if err := os.MkdirAll(filepath.Dir(output), 0o755); err != nil {
		return fmt.Errorf("creating the output folder: %w", err)
	}
	if len(files) == 0 {
		return i.write(output, tarballs)
	}
	scratch, err := os.MkdirTemp("", "cauri-image-")
	if err != nil {
		return fmt.Errorf("creating a temporary folder for the image: %w", err)
	}
	defer os.RemoveAll(scratch)
	top := filepath.Join(scratch, "layer.tar")
	if err := files.writeFile(top); err != nil {
		return err
	}
	return i.write(output, append(tarballs, top))
}
