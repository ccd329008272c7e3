package kube

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/cauri-dev/cauri/hack/localcluster/host"
)

func NewAssetsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "assets",
		Short: "Print the folder with etcd, kube-apiserver and kubectl, building them if need be",
		Long: `assets prints the folder of the control plane's programs, for envtest's KUBEBUILDER_ASSETS, and builds them first where
that was not done yet (what it says of it goes to standard error). Where KUBEBUILDER_ASSETS is set already, that is printed.`,
		Example: `  KUBEBUILDER_ASSETS=$(bin/localcluster assets) go test ./controllers/...`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if folder := os.Getenv("KUBEBUILDER_ASSETS"); folder != "" {
				fmt.Fprintln(cmd.OutOrStdout(), folder)
				return nil
			}
			if err := host.CheckSystem("set KUBEBUILDER_ASSETS to a folder with etcd and kube-apiserver"); err != nil {
				return err
			}
			build, err := FindBuild()
			if err != nil {
				return err
			}
			if err := build.Ensure(cmd.Context(), cmd.ErrOrStderr()); err != nil {
				return err
			}
			fmt.Fprintln(cmd.OutOrStdout(), build.Folder)
			return nil
		},
	}
}
