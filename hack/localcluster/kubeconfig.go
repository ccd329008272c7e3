package main

import (
	"fmt"
	"os"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// kubeconfigFor writes how to reach a server with one of the certificates.
func (p pki) kubeconfigFor(certificate, server string) ([]byte, error) {
	contents := map[string][]byte{}
	for _, path := range []string{p.certificate(clusterAuthority), p.certificate(certificate), p.key(certificate)} {
		content, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("writing a kubeconfig: %w", err)
		}
		contents[path] = content
	}
	const name = "cauri-local"
	config := clientcmdapi.NewConfig()
	config.Clusters[name] = &clientcmdapi.Cluster{Server: server, CertificateAuthorityData: contents[p.certificate(clusterAuthority)]}
	config.AuthInfos[certificate] = &clientcmdapi.AuthInfo{
		ClientCertificateData: contents[p.certificate(certificate)],
		ClientKeyData:         contents[p.key(certificate)],
	}
	config.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: certificate}
	config.CurrentContext = name
	content, err := clientcmd.Write(*config)
	if err != nil {
		return nil, fmt.Errorf("writing a kubeconfig: %w", err)
	}
	return content, nil
}

// outsideKubeconfig returns the current context of somebody else's kubeconfig, and nothing but that, without references to
// other files: it stays good wherever it is copied to.
func outsideKubeconfig(path string) ([]byte, error) {
	config, err := clientcmd.LoadFromFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading %s=%s: %w; give the path of a kubeconfig, or unset it to run a control plane here", kubeconfigVariable, path, err)
	}
	if err := clientcmd.ResolveLocalPaths(config); err != nil {
		return nil, fmt.Errorf("reading %s=%s: %w", kubeconfigVariable, path, err)
	}
	if err := clientcmdapi.MinifyConfig(config); err != nil {
		return nil, fmt.Errorf("reading %s=%s: %w; choose a cluster with `kubectl --kubeconfig=%s config use-context NAME`", kubeconfigVariable, path, err, path)
	}
	if err := clientcmdapi.FlattenConfig(config); err != nil {
		return nil, fmt.Errorf("reading the files that %s=%s names: %w", kubeconfigVariable, path, err)
	}
	content, err := clientcmd.Write(*config)
	if err != nil {
		return nil, fmt.Errorf("copying %s=%s: %w", kubeconfigVariable, path, err)
	}
	return content, nil
}
