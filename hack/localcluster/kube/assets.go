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
		Short: "Print the folder with etcd, kube-apiserver and kubectl, and build them if necessary",
		Long: `assets prints the folder of the control plane's programs, for envtest's KUBEBUILDER_ASSETS. It builds them first if
necessary and reports the progress on standard error. If KUBEBUILDER_ASSETS is already set, it prints that value.`,
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
