package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"syscall"
	"time"
)

// writeConfigurations writes what the node's parts read at their start.
func (n *node) writeConfigurations() error {
	for _, who := range []string{"scheduler", "kubelet", "proxy"} {
		content, err := n.plane.pki.kubeconfigFor(who, n.plane.server())
		if err != nil {
			return err
		}
		if err := writeFile(n.kubeconfigOf(who), content); err != nil {
			return err
		}
	}
	for _, folder := range []string{n.state.file("pod-logs"), n.state.file("kubelet"), n.state.file("volume-plugins")} {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return fmt.Errorf("making a folder of the kubelet: %w", err)
		}
	}
	return errors.Join(
		n.writeRuntimeConfiguration(),
		writeFile(n.state.file("pods-resolv.conf"), nil),
		writeJSON(n.state.file("kubelet.json"), n.kubeletConfiguration()),
		writeJSON(n.state.file("proxy.json"), n.proxyConfiguration()),
	)
}

func writeJSON(path string, content any) error {
	text, err := json.MarshalIndent(content, "", "  ")
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return writeFile(path, append(text, '\n'))
}

func (n *node) kubeconfigOf(who string) string { return n.state.file("pki", who+".kubeconfig") }

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
			"x509":      map[string]any{"clientCAFile": n.plane.pki.certificate(clusterAuthority)},
		},
		"authorization":     map[string]any{"mode": "Webhook"},
		"tlsCertFile":       n.plane.pki.certificate("kubelet"),
		"tlsPrivateKeyFile": n.plane.pki.key("kubelet"),

		"cgroupDriver": "cgroupfs", // systemd's would ask a systemd for every pod
		"cgroupRoot":   "/" + n.run.Cgroup,
		"failCgroupV1": false,
		"failSwapOn":   false,

		"clusterDNS":      []string{dnsServiceIP},
		"clusterDomain":   clusterDomain,
		"resolvConf":      n.state.file("pods-resolv.conf"), // empty: there is nobody to ask outside of the cluster
		"podLogsDir":      n.state.file("pod-logs"),
		"volumePluginDir": n.state.file("volume-plugins"),

		// The machine has other things to do and its disk may be rather full. Nothing could replace an image that was removed.
		"evictionHard":                map[string]string{"memory.available": "100Mi", "nodefs.available": "1%", "imagefs.available": "1%"},
		"imageGCHighThresholdPercent": 100,
		// Images that were imported belong to nobody who could be asked.
		"imagePullCredentialsVerificationPolicy": "NeverVerify",
		"nodeStatusUpdateFrequency":              "4s",
	}
}

func (n *node) kubelet() component {
	return component{
		name: kubeletName, program: n.program(kubeletName), dir: n.state.path,
		args: []string{
			"--config=" + n.state.file("kubelet.json"),
			"--kubeconfig=" + n.kubeconfigOf("kubelet"),
			"--hostname-override=" + nodeName,
			"--node-ip=" + nodeAddress,
			"--root-dir=" + n.state.file("kubelet"),
		},
		stopSignal: syscall.SIGTERM, stopWithin: 5 * time.Second, readyWithin: time.Minute,
		ready: answersOK(http.DefaultClient, "http://"+loopback(kubeletHealthPort)+"/healthz"),
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
		"healthzBindAddress": loopback(proxyHealthPort),
		"metricsBindAddress": loopback(proxyMetricsPort),
		"nodePortAddresses":  []string{nodeAddress + "/32"},
		// The table of connections is the kernel's, and its size the machine's business: 0 leaves it alone.
		"conntrack": map[string]any{"maxPerCore": 0, "min": 0, "tcpEstablishedTimeout": "0s", "tcpCloseWaitTimeout": "0s"},
		// Rules follow a change of endpoints at once; the default gathers changes for a second.
		"iptables": map[string]any{"minSyncPeriod": "100ms"},
	}
}

func (n *node) proxy() component {
	return component{
		name: proxyName, program: n.program(proxyName), args: []string{"--config=" + n.state.file("proxy.json")}, dir: n.state.path,
		stopSignal: syscall.SIGTERM, stopWithin: 5 * time.Second, readyWithin: time.Minute,
		ready: answersOK(http.DefaultClient, "http://"+loopback(proxyHealthPort)+"/livez"),
	}
}

func (n *node) scheduler() (component, error) {
	client, err := n.plane.httpClient(clusterAuthority, "admin")
	if err != nil {
		return component{}, err
	}
	kubeconfig := n.kubeconfigOf("scheduler")
	address := "https://" + loopback(schedulerPort)
	return n.plane.component(schedulerName, address, address+"/healthz", client, "scheduler", clusterAuthority, []string{
		"--kubeconfig=" + kubeconfig,
		"--bind-address=127.0.0.1",
		"--secure-port=" + strconv.Itoa(schedulerPort),
		"--tls-cert-file=" + n.plane.pki.certificate("scheduler"),
		"--tls-private-key-file=" + n.plane.pki.key("scheduler"),
		"--leader-elect=false", // there is only one
	}), nil
}

func (n *node) program(name string) string { return n.run.Programs + "/" + name }
