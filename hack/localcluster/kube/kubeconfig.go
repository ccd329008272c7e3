package kube

import (
	"fmt"
	"os"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// KubeconfigVariable names a kubeconfig. If it is set, localcluster uses that cluster and runs no control plane.
const KubeconfigVariable = "CAURI_KUBECONFIG"

// KubeconfigFor writes a kubeconfig for a server and one of the certificates.
func (p PKI) KubeconfigFor(certificate, server string) ([]byte, error) {
	contents := map[string][]byte{}
	for _, path := range []string{p.Certificate(ClusterAuthority), p.Certificate(certificate), p.Key(certificate)} {
		content, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("writing a kubeconfig: %w", err)
		}
		contents[path] = content
	}
	const name = "cauri-local"
	config := clientcmdapi.NewConfig()
	config.Clusters[name] = &clientcmdapi.Cluster{Server: server, CertificateAuthorityData: contents[p.Certificate(ClusterAuthority)]}
	config.AuthInfos[certificate] = &clientcmdapi.AuthInfo{
		ClientCertificateData: contents[p.Certificate(certificate)],
		ClientKeyData:         contents[p.Key(certificate)],
	}
	config.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: certificate}
	config.CurrentContext = name
	content, err := clientcmd.Write(*config)
	if err != nil {
		return nil, fmt.Errorf("writing a kubeconfig: %w", err)
	}
	return content, nil
}

// OutsideKubeconfig returns the current context of the user's kubeconfig. The result has no references to other files,
// so that it works in any place.
func OutsideKubeconfig(path string) ([]byte, error) {
	config, err := clientcmd.LoadFromFile(path)
	if err != nil {
		return nil, fmt.Errorf(
			"reading %s=%s: %w; give the path of a kubeconfig, or unset it to run a control plane here",
			KubeconfigVariable,
			path,
			err,
		)
	}
	if err := clientcmd.ResolveLocalPaths(config); err != nil {
		return nil, fmt.Errorf("reading %s=%s: %w", KubeconfigVariable, path, err)
	}
	if err := clientcmdapi.MinifyConfig(config); err != nil {
		return nil, fmt.Errorf(
			"reading %s=%s: %w; choose a cluster with `kubectl --kubeconfig=%s config use-context NAME`",
			KubeconfigVariable,
			path,
			err,
			path,
		)
	}
	if err := clientcmdapi.FlattenConfig(config); err != nil {
		return nil, fmt.Errorf("reading the files that %s=%s names: %w", KubeconfigVariable, path, err)
	}
	content, err := clientcmd.Write(*config)
	if err != nil {
		return nil, fmt.Errorf("copying %s=%s: %w", KubeconfigVariable, path, err)
	}
	return content, nil
}
