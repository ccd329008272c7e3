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

// networkCommands give the node its address and a way to the addresses of Services, which nobody has: the proxy replaces them,
// but only in packets that are on their way somewhere. Both are on the loopback interface, which every system has; the address
// is none of 127.0.0.0/8, so that it may stand among the endpoints of a Service.
var networkCommands = [][]string{
	{"ip", "link", "set", "lo", "up"},
	{"ip", "address", "add", nodeAddress + "/32", "dev", "lo"},
	{"ip", "route", "add", kube.ServiceRange, "dev", "lo", "src", nodeAddress},
	{"iptables", "-w", "-t", "nat", "-S"}, // only to see whether it works
}

func makeNetwork(ctx context.Context) error {
	for _, command := range networkCommands {
		output, err := exec.CommandContext(ctx, command[0], command[1:]...).CombinedOutput()
		if err != nil {
			return fmt.Errorf("setting up the network of the node: %q: %w: %s; where the kernel does not allow this, %s",
				strings.Join(command, " "), err, strings.TrimSpace(string(output)), withoutNode)
		}
	}
	// Packets go from pod to pod through the node.
	if err := os.WriteFile("/proc/sys/net/ipv4/ip_forward", []byte("1\n"), 0o644); err != nil {
		return fmt.Errorf("setting up the network of the node: %w", err)
	}
	return nil
}

// podNetwork is the configuration of the CNI plugins. Every pod has a cable of its own to the node, which routes between
// them: with a bridge, answers from pod to pod would bypass the rules of the proxy on some kernels.
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
