// Package testcontainers has what the recipe of docs/ci.md uses, with a process in place of the container of Cauri and nothing in
// place of that of Postgres: `cauri dev` starts its own.
package testcontainers

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

const HostInternal = "127.0.0.1"

type Request struct {
	Env  map[string]string
	Cmd  []string
	Path string
}

type ContainerCustomizer interface{ Customize(*Request) error }

type CustomizeRequestOption func(*Request) error

func (o CustomizeRequestOption) Customize(r *Request) error { return o(r) }

type DockerNetwork struct{}

type Strategy interface{ Target() string }

func WithEnv(env map[string]string) CustomizeRequestOption {
	return func(r *Request) error { r.Env = env; return nil }
}

func WithCmd(cmd ...string) CustomizeRequestOption {
	return func(r *Request) error { r.Cmd = cmd; return nil }
}

func WithExposedPorts(...string) CustomizeRequestOption { return func(*Request) error { return nil } }

func WithHostPortAccess(...int) CustomizeRequestOption { return func(*Request) error { return nil } }

func WithWaitStrategy(s ...Strategy) CustomizeRequestOption {
	return func(r *Request) error { r.Path = s[0].Target(); return nil }
}

type DockerContainer struct{ port string }

func (c *DockerContainer) PortEndpoint(_ context.Context, _, proto string) (string, error) {
	return proto + "://127.0.0.1:" + c.port, nil
}

// Run starts the process, if the image is Cauri's. It ends with the test that started it.
func Run(ctx context.Context, image string, options ...ContainerCustomizer) (*DockerContainer, error) {
	r := &Request{}
	for _, o := range options {
		if err := o.Customize(r); err != nil {
			return nil, err
		}
	}
	if !strings.Contains(image, "/cauri:") {
		return nil, nil
	}
	c := &DockerContainer{port: os.Getenv("CAURI_TEST_PORT")}
	process := exec.Command(os.Getenv("CAURI_TEST_PROGRAM"), r.Cmd...)
	process.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	process.Stderr = os.Stderr
	process.Env = os.Environ()
	for name, value := range r.Env {
		if name != "CAURI_DATABASE_URL" {
			process.Env = append(process.Env, name+"="+strings.Replace(value, ":3000", ":"+os.Getenv("PORT"), 1))
		}
	}
	process.Env = append(process.Env, "CAURI_PORT="+c.port)
	if err := process.Start(); err != nil {
		return nil, err
	}
	for range 600 {
		if answer, err := http.Get("http://127.0.0.1:" + c.port + r.Path); err == nil {
			answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return c, nil
			}
		}
		time.Sleep(100 * time.Millisecond)
	}
	return nil, fmt.Errorf("%s is not ready", image)
}
