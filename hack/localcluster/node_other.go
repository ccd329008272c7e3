//go:build !linux

package main

import (
	"errors"
	"syscall"
)

// errNoNode is what the parts of a node say that only Linux has. The command has refused the system before.
var errNoNode = errors.New("a node needs Linux: " + withoutNode)

var fixedFolders []string

func ownNamespaces() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }
func checkNamespaces() error              { return errNoNode }
func nodeInit(string) error               { return errNoNode }
func isolateMounts(stateDir) error        { return errNoNode }
func snapshotterFor(string) string        { return "" }
