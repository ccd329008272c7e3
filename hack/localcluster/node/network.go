package node

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/cauri-dev/cauri/hack/localcluster/kube"
	"github.com/cauri-dev/cauri/hack/localcluster/process"
)

// networkCommands add the node's address and a route to the addresses of Services. No interface has the addresses of
// Services; the proxy replaces them in packets, but a packet needs a route first. Both are on the loopback interface,
// which every system has. The node's address is outside 127.0.0.0/8, because endpoints of a Service must not be
// loopback addresses.
var networkCommands = [][]string{
	{"ip", "link", "set", "lo", "up"},
	{"ip", "address", "add", nodeAddress + "/32", "dev", "lo"},
	{"ip", "route", "add", kube.ServiceRange, "dev", "lo", "src", nodeAddress},
	{"iptables", "-w", "-t", "nat", "-S"}, // only to check that iptables works
}

func makeNetwork(ctx context.Context) error {
	for _, command := range networkCommands {
		output, err := exec.CommandContext(ctx, command[0], command[1:]...).CombinedOutput()
		if err != nil {
			return fmt.Errorf("setting up the network of the node: %q: %w: %s; if the kernel does not allow this, %s",
				strings.Join(command, " "), err, strings.TrimSpace(string(output)), withoutNode)
		}
	}
	// ip_forward lets the kernel forward packets between pods.
	if err := os.WriteFile("/proc/sys/net/ipv4/ip_forward", []byte("1\n"), 0o644); err != nil {
		return fmt.Errorf("setting up the network of the node: %w", err)
	}
	return nil
}

// podNetwork returns the configuration of the CNI plugins. Each pod has its own link to the node, and the node routes
// between pods. With a bridge, answers between pods would bypass the proxy's rules on some kernels.
func podNetwork(state process.StateDir) map[string]any {
	return map[string]any{
		"cniVersion": "0.4.0",
		"name":       "cauri",
		"plugins": []map[string]any{
			{
				"type": "ptp",
				"ipam": map[string]any{
					"type":    "host-local",
					"dataDir": state.File("addresses"),
					"ranges":  [][]map[string]string{{{"subnet": podRange}}},
					"routes":  []map[string]string{{"dst": "0.0.0.0/0"}},
				},
			},
			{"type": "portmap", "capabilities": map[string]bool{"portMappings": true}},
		},
	}
}
