package cluster

import (
	"context"
	"fmt"
	"os"
	"strings"
	"text/tabwriter"
	"time"
)

// figure is something that was measured.
type figure struct{ name, value string }

// measured notes a figure for the table at the end.
func (c *cluster) measured(name, format string, args ...any) {
	c.figures = append(c.figures, figure{name, fmt.Sprintf(format, args...)})
}

// print writes all figures.
func (c *cluster) print() {
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "\nMeasured in the cluster")
	for _, f := range c.figures {
		fmt.Fprintf(table, "  %s\t%s\n", f.name, f.value)
	}
	_ = table.Flush()
}

// diagnosis is what is printed of the cluster when a test has failed.
var diagnosis = [][]string{
	{"get", "nodes,pods,services,jobs,persistentvolumeclaims", "--all-namespaces", "-o", "wide"},
	{"get", "sandboxenvironments,testclients", "--all-namespaces", "-o", "wide"},
	{"get", "events", "--all-namespaces", "--sort-by=.metadata.creationTimestamp"},
	{"describe", "nodes"},
	{"describe", "pods", "--namespace", system},
}

// diagnose prints what tells why a test failed: resources, events, and the last lines of all containers' logs, also of those
// that a container has had before.
func (c *cluster) diagnose() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	show := func(args ...string) {
		out, err := c.try(ctx, "", "kubectl", args...)
		fmt.Printf("\n$ kubectl %s\n%s\n", strings.Join(args, " "), last(out, 12000))
		if err != nil {
			fmt.Println(err)
		}
	}
	for _, args := range diagnosis {
		show(args...)
	}
	pods, err := c.try(ctx, "", "kubectl", "get", "pods", "--all-namespaces", "--no-headers",
		"-o", "custom-columns=N:.metadata.namespace,P:.metadata.name,R:.status.containerStatuses[*].restartCount")
	if err != nil {
		fmt.Println(err)
	}
	for line := range strings.Lines(pods) {
		pod := strings.Fields(line)
		if len(pod) < 3 || pod[0] == "kube-system" {
			continue
		}
		logs := []string{"logs", "--namespace", pod[0], pod[1], "--all-containers", "--tail=40"}
		show(logs...)
		if pod[2] != "0" {
			show(append(logs, "--previous")...)
		}
	}
}

// last is the end of a text.
func last(text string, length int) string {
	if len(text) > length {
		return "..." + text[len(text)-length:]
	}
	return text
}
