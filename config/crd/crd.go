// Package crd holds the CustomResourceDefinitions, for programs that check resources without a Kubernetes API server.
package crd

import "embed"

// Files are the CustomResourceDefinitions, one a file.
//
//go:embed cauri.dev_*.yaml
var Files embed.FS
