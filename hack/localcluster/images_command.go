package main

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"
)

func newImagesCommand() *cobra.Command {
	var folder string
	cmd := &cobra.Command{
		Use:   "images",
		Short: "Make the images that a node needs beside Cauri's: pause, coredns, postgres",
		Long: `images makes ` + pauseImage + ` and ` + corednsImage + ` from source and ` + postgresImage + ` from the packages of
Debian, without a container runtime and without a registry. What was made once is kept in the user's cache.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkSystem("run `make kind`, which needs Docker"); err != nil {
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
	cmd.Flags().StringVar(&folder, "folder", defaultImages, "the folder that the archives go to")
	return cmd
}
