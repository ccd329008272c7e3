package kube

import (
	"fmt"

	"github.com/spf13/cobra"
)

func NewAssetsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "assets",
		Short: "Print the folder with etcd, kube-apiserver and kubectl, and download or build them if necessary",
		Long: `assets prints the folder of the control plane's programs, for envtest's KUBEBUILDER_ASSETS. It downloads them first if
necessary, or builds them from source where that fails, and reports the progress on standard error. If KUBEBUILDER_ASSETS is
already set, it prints that value.`,
		Example: `  KUBEBUILDER_ASSETS=$(bin/localcluster assets) go test ./controllers/...`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			folder, err := FindPrograms(cmd.Context(), cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			fmt.Fprintln(cmd.OutOrStdout(), folder)
			return nil
		},
	}
}
