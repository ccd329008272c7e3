//go:build !linux

package node

import (
	"errors"
	"syscall"

	"github.com/cauri-dev/cauri/hack/localcluster/process"
)

// errNoNode is the error of the node functions that need Linux. The command checks the system before it calls them.
var errNoNode = errors.New("a node needs Linux: " + withoutNode)

var fixedFolders []string

func ownNamespaces() *syscall.SysProcAttr  { return &syscall.SysProcAttr{} }
func checkNamespaces() error               { return errNoNode }
func nodeInit(string) error                { return errNoNode }
func isolateMounts(process.StateDir) error { return errNoNode }
func snapshotterFor(string) string         { return "" }
