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
is a layer; all files together are one more above them. A folder is taken with all that is in it. What is written depends
on nothing but the content of the files: owner, times and permissions (but for the right to execute) are always the same.`,
		Example: `  localcluster image --name cauri.local/merchant:e2e --entrypoint /merchant --user 65532:65532 -o bin/images/merchant.tar bin/merchant:/merchant`,
		RunE: func(_ *cobra.Command, args []string) error {
			if err := made.check(); err != nil {
				return err
			}
			if output == "" {
				return errors.New("no file to write the image to: name it by --output")
			}
			return made.build(output, tarballs, args)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&made.name, "name", "", "the image's whole name, with a host and a tag: cauri.local/merchant:e2e")
	flags.StringVarP(&output, "output", "o", "", "the archive to write")
	flags.StringArrayVar(&made.entrypoint, "entrypoint", nil, "the program, and its first arguments (once for each word)")
	flags.StringArrayVar(&made.command, "command", nil, "arguments that a pod may replace (once for each word)")
	flags.StringArrayVar(&made.env, "env", nil, "a variable of the environment: NAME=value (repeatable)")
	flags.StringVar(&made.user, "user", "", "the user it runs as: UID:GID (default: root)")
	flags.StringVar(&made.workdir, "workdir", "/", "the folder it runs in")
	flags.StringVar(&made.stopSignal, "stop-signal", "", "the signal that ends it (default: SIGTERM)")
	flags.StringVar(&made.architecture, "architecture", runtime.GOARCH, "of the programs in it, as Go calls it")
	flags.StringArrayVar(&tarballs, "tar", nil, "a tarball that becomes a layer (repeatable)")
	return cmd
}

func (i image) check() error {
	slash, colon := strings.IndexByte(i.name, '/'), strings.LastIndexByte(i.name, ':')
	if slash <= 0 || colon < slash || colon == len(i.name)-1 {
		return fmt.Errorf(
			"--name=%s is not a whole name: give it a host and a tag, as in cauri.local/merchant:e2e (a node finds no other)",
			i.name,
		)
	}
	for _, variable := range i.env {
		if name, _, ok := strings.Cut(variable, "="); !ok || name == "" {
			return fmt.Errorf("--env=%s is no variable: write NAME=value", variable)
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
			return fmt.Errorf("%q names no file and its place: write FILE:/PATH", pair)
		}
		if err := files.add(source, destination); err != nil {
			return fmt.Errorf("taking %s into the image: %w", source, err)
		}
	}
	if len(files) == 0 && len(tarballs) == 0 {
		return errors.New("an image of nothing: name files as FILE:/PATH, or tarballs by --tar")
	}
	return i.buildFrom(output, tarballs, files)
}

func (i image) buildFrom(output string, tarballs []string, files layer) error {
	if err := os.MkdirAll(filepath.Dir(output), 0o755); err != nil {
		return fmt.Errorf("making the folder of the image: %w", err)
	}
	if len(files) == 0 {
		return i.write(output, tarballs)
	}
	scratch, err := os.MkdirTemp("", "cauri-image-")
	if err != nil {
		return fmt.Errorf("making a folder for the image: %w", err)
	}
	defer os.RemoveAll(scratch)
	top := filepath.Join(scratch, "layer.tar")
	if err := files.writeFile(top); err != nil {
		return err
	}
	return i.write(output, append(tarballs, top))
}
