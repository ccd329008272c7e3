//go:build !linux

package node

import (
	"errors"
	"syscall"

	"github.com/cauri-dev/cauri/hack/localcluster/process"
)

// errNoNode is what the parts of a node say that only Linux has. The command has refused the system before.
var errNoNode = errors.New("a node needs Linux: " + withoutNode)

var fixedFolders []string

func ownNamespaces() *syscall.SysProcAttr  { return &syscall.SysProcAttr{} }
func checkNamespaces() error               { return errNoNode }
func nodeInit(string) error                { return errNoNode }
func isolateMounts(process.StateDir) error { return errNoNode }
func snapshotterFor(string) string         { return "" }
