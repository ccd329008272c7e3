package node

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"syscall"
	"time"

	"github.com/cauri-dev/cauri/hack/localcluster/host"
	"github.com/cauri-dev/cauri/hack/localcluster/kube"
	"github.com/cauri-dev/cauri/hack/localcluster/process"
)

// writeConfigurations writes the configuration files of the node's parts.
func (n *node) writeConfigurations() error {
	for _, who := range []string{"scheduler", "kubelet", "proxy"} {
		content, err := n.plane.Pki.KubeconfigFor(who, n.plane.Server())
		if err != nil {
			return err
		}
		if err := host.WriteFile(n.kubeconfigOf(who), content); err != nil {
			return err
		}
	}
	for _, folder := range []string{n.state.File("pod-logs"), n.state.File("kubelet"), n.state.File("volume-plugins")} {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return fmt.Errorf("creating a folder of the kubelet: %w", err)
		}
	}
	return errors.Join(
		n.writeRuntimeConfiguration(),
		host.WriteFile(n.state.File("pods-resolv.conf"), nil),
		writeJSON(n.state.File("kubelet.json"), n.kubeletConfiguration()),
		writeJSON(n.state.File("proxy.json"), n.proxyConfiguration()),
	)
}

func writeJSON(path string, content any) error {
	text, err := json.MarshalIndent(content, "", "  ")
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return host.WriteFile(path, append(text, '\n'))
}

func (n *node) kubeconfigOf(who string) string { return n.state.File("pki", who+".kubeconfig") }

func (n *node) kubeletConfiguration() map[string]any {
	return map[string]any{
		"apiVersion":               "kubelet.config.k8s.io/v1beta1",
		"kind":                     "KubeletConfiguration",
		"address":                  nodeAddress,
		"healthzBindAddress":       "127.0.0.1",
		"healthzPort":              kubeletHealthPort,
		"containerRuntimeEndpoint": "unix://" + n.containerdSocket(),
		"authentication": map[string]any{
			"anonymous": map[string]any{"enabled": false},
			"webhook":   map[string]any{"enabled": true},
			"x509":      map[string]any{"clientCAFile": n.plane.Pki.Certificate(kube.ClusterAuthority)},
		},
		"authorization":     map[string]any{"mode": "Webhook"},
		"tlsCertFile":       n.plane.Pki.Certificate("kubelet"),
		"tlsPrivateKeyFile": n.plane.Pki.Key("kubelet"),

		"cgroupDriver": "cgroupfs", // the systemd driver would need a running systemd
		"cgroupRoot":   "/" + n.run.Cgroup,
		"failCgroupV1": false,
		"failSwapOn":   false,

		"clusterDNS":      []string{dnsServiceIP},
		"clusterDomain":   clusterDomain,
		"resolvConf":      n.state.File("pods-resolv.conf"), // empty: no DNS server outside the cluster is reachable
		"podLogsDir":      n.state.File("pod-logs"),
		"volumePluginDir": n.state.File("volume-plugins"),

		// Image garbage collection is disabled, because no registry could replace a removed image. Pods are evicted only when the
		// disk is full: a share of a large disk is more than [spaceForNode], and a machine's own files may leave less.
		"evictionHard":                map[string]string{"memory.available": "100Mi", "nodefs.available": "200Mi", "imagefs.available": "200Mi"},
		"imageGCHighThresholdPercent": 100,
		// Imported images belong to no registry, so credentials cannot be verified.
		"imagePullCredentialsVerificationPolicy": "NeverVerify",
		"nodeStatusUpdateFrequency":              "4s",
	}
}

func (n *node) kubelet() process.Component {
	return process.Component{
		Name: process.KubeletName, Program: n.program(process.KubeletName), Dir: n.state.Path,
		Args: []string{
			"--config=" + n.state.File("kubelet.json"),
			"--kubeconfig=" + n.kubeconfigOf("kubelet"),
			"--hostname-override=" + nodeName,
			"--node-ip=" + nodeAddress,
			"--root-dir=" + n.state.File("kubelet"),
		},
		StopSignal: syscall.SIGTERM, StopWithin: 5 * time.Second, ReadyWithin: time.Minute,
		Ready: host.AnswersOK(http.DefaultClient, "http://"+host.Loopback(kubeletHealthPort)+"/healthz"),
	}
}

func (n *node) proxyConfiguration() map[string]any {
	return map[string]any{
		"apiVersion":         "kubeproxy.config.k8s.io/v1alpha1",
		"kind":               "KubeProxyConfiguration",
		"mode":               "iptables",
		"clientConnection":   map[string]any{"kubeconfig": n.kubeconfigOf("proxy")},
		"clusterCIDR":        podRange,
		"hostnameOverride":   nodeName,
		"healthzBindAddress": host.Loopback(proxyHealthPort),
		"metricsBindAddress": host.Loopback(proxyMetricsPort),
		"nodePortAddresses":  []string{nodeAddress + "/32"},
		// 0 leaves the size of the kernel's connection table unchanged.
		"conntrack": map[string]any{"maxPerCore": 0, "min": 0, "tcpEstablishedTimeout": "0s", "tcpCloseWaitTimeout": "0s"},
		// Changes of endpoints are applied at once. By default, the proxy collects them for a second.
		"iptables": map[string]any{"minSyncPeriod": "100ms"},
	}
}

func (n *node) proxy() process.Component {
	return process.Component{
		Name:        process.ProxyName,
		Program:     n.program(process.ProxyName),
		Args:        []string{"--config=" + n.state.File("proxy.json")},
		Dir:         n.state.Path,
		StopSignal:  syscall.SIGTERM,
		StopWithin:  5 * time.Second,
		ReadyWithin: time.Minute,
		Ready:       host.AnswersOK(http.DefaultClient, "http://"+host.Loopback(proxyHealthPort)+"/livez"),
	}
}

func (n *node) scheduler() (process.Component, error) {
	client, err := n.plane.HTTPClient(kube.ClusterAuthority, "admin")
	if err != nil {
		return process.Component{}, err
	}
	kubeconfig := n.kubeconfigOf("scheduler")
	address := "https://" + host.Loopback(schedulerPort)
	return n.plane.Component(process.SchedulerName, address, address+"/healthz", client, "scheduler", kube.ClusterAuthority, []string{
		"--kubeconfig=" + kubeconfig,
		"--bind-address=127.0.0.1",
		"--secure-port=" + strconv.Itoa(schedulerPort),
		"--tls-cert-file=" + n.plane.Pki.Certificate("scheduler"),
		"--tls-private-key-file=" + n.plane.Pki.Key("scheduler"),
		"--leader-elect=false", // there is only one instance
	}), nil
}

func (n *node) program(name string) string { return n.run.Programs + "/" + name }
