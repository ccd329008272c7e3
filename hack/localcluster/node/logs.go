package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/cauri-dev/cauri/hack/localcluster/host"
)

// longestLog is the maximum size of the kept end of a log, in bytes.
const longestLog = 4 * host.Mebibyte

// keepLogs collects logs and cluster state after a failure, while the cluster still answers.
func (n *node) keepLogs() {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if err := os.MkdirAll(n.run.Logs, 0o755); err != nil {
		fmt.Fprintf(n.stages.out, "saving the logs: %v\n", err)
		return
	}
	err := errors.Join(
		copyLogs(n.state.File("logs"), n.run.Logs),
		copyLogs(n.state.File("pod-logs"), filepath.Join(n.run.Logs, "pods")),
		n.keepAnswers(ctx),
	)
	if err != nil {
		fmt.Fprintf(n.stages.out, "saving the logs: %v\n", err)
	}
	fmt.Fprintf(n.stages.out, "logs of the node and its pods, and events: %s\n", n.run.Logs)
}

// answers are the kubectl queries to the cluster. The key is the name of the file for the answer.
var answers = map[string][]string{
	"pods.txt":     {"get", "pods", "--all-namespaces", "--output=wide"},
	"events.txt":   {"get", "events", "--all-namespaces", "--output=wide", "--sort-by=.metadata.creationTimestamp"},
	"describe.txt": {"describe", "pods,nodes,persistentvolumeclaims", "--all-namespaces"},
	"objects.txt":  {"get", "all,persistentvolumeclaims,persistentvolumes,endpointslices", "--all-namespaces", "--output=wide"},
}

func (n *node) keepAnswers(ctx context.Context) error {
	var failed error
	for name, question := range answers {
		cmd := exec.CommandContext(
			ctx,
			n.program("kubectl"),
			append([]string{"--kubeconfig=" + n.state.Kubeconfig(), "--request-timeout=10s"}, question...)...)
		output, err := cmd.CombinedOutput() // the file also gets the error output
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("reading %s from the cluster: %w", name, err))
		}
		failed = errors.Join(failed, os.WriteFile(filepath.Join(n.run.Logs, name), output, 0o644))
	}
	return failed
}

// copyLogs copies the end of each file below a folder. The kubelet keeps the container logs of each pod in a folder
// that is named after its namespace and name.
func copyLogs(source, destination string) error {
	return filepath.WalkDir(source, func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) { // the node failed before it created the folder, or the pod no longer exists
			return nil
		}
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(source, path)
		if err != nil {
			return err
		}
		if entry.IsDir() {
			return os.MkdirAll(filepath.Join(destination, relative), 0o755)
		}
		if !entry.Type().IsRegular() {
			return nil
		}
		return copyEnd(path, filepath.Join(destination, relative), longestLog)
	})
}

func copyEnd(source, destination string, longest int64) error {
	from, err := os.Open(source)
	if err != nil {
		return err
	}
	defer from.Close()
	info, err := from.Stat()
	if err != nil {
		return err
	}
	if info.Size() > longest {
		if _, err := from.Seek(-longest, io.SeekEnd); err != nil {
			return err
		}
	}
	to, err := os.Create(destination)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	return errors.Join(err, to.Close())
}
