// Package network stands in for testcontainers-go's.
package network

import (
	"context"

	"github.com/testcontainers/testcontainers-go"
)

func New(context.Context) (*testcontainers.DockerNetwork, error) { return nil, nil }

func WithNetwork([]string, *testcontainers.DockerNetwork) testcontainers.CustomizeRequestOption {
	return func(*testcontainers.Request) error { return nil }
}
