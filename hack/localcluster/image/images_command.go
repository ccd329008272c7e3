package image

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/cauri-dev/cauri/hack/localcluster/host"
)

func NewImagesCommand() *cobra.Command {
	var folder string
	cmd := &cobra.Command{
		Use:   "images",
		Short: "Build the images that a node needs in addition to Cauri's: pause, coredns, postgres",
		Long: `images builds ` + Pause + ` and ` + CoreDNS + ` from source and ` + postgresImage + ` from the packages of
Debian, without a container runtime and without a registry. It keeps finished images in the user's cache.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := host.CheckSystem("building these images", "run `make kind`, which needs Docker"); err != nil {
				return err
			}
			images, err := nodeImages()
			if err != nil {
				return err
			}
			postgres, err := debianPostgresImage()
			if err != nil {
				return err
			}
			for _, image := range append(images, postgres) {
				archive, err := image.ensure(cmd.Context(), cmd.ErrOrStderr())
				if err != nil {
					return err
				}
				if err := placeImage(archive, folder); err != nil {
					return err
				}
				fmt.Fprintln(cmd.OutOrStdout(), filepath.Join(folder, filepath.Base(archive)))
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&folder, "folder", DefaultFolder, "the folder of the archives")
	return cmd
}

// DefaultFolder is the image folder of a checkout.
var DefaultFolder = filepath.Join("bin", "images")
