package main

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// portsInMemory are [keptPorts] without a database.
type portsInMemory map[devRoot]int

func (p portsInMemory) port(root devRoot) int           { return p[root] }
func (p portsInMemory) keepPort(root devRoot, port int) { p[root] = port }

// newRoots are the roots of an api that listens on any port.
func newRoots(t *testing.T, kept portsInMemory, ports string) *devRoots {
	t.Helper()
	api, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	roots, err := newDevRoots(devOptions{operatorPorts: ports}, api)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { roots.close(); _ = api.Close() })
	roots.state = kept
	return roots
}

func TestNoRootIfPortsAreOff(t *testing.T) {
	t.Parallel()
	roots := newRoots(t, portsInMemory{}, portsOff)
	if at := roots.URL(&sandboxes.Sandbox{Namespace: "team", Name: "one"}, payments.MTN); at != "" {
		t.Errorf("there is the root %s", at)
	}
}

// Each operator of each sandbox has a port, which leads to its own path and to no other one, and which is the same at the next start.
func TestEachRootHasAPort(t *testing.T) {
	t.Parallel()
	kept := portsInMemory{}
	roots, paths := newRoots(t, kept, portsAuto), map[string]string{}
	for _, name := range []string{"one", "two", "three"} {
		for _, operator := range payments.Operators {
			of := &sandboxes.Sandbox{Namespace: "team", Name: name}
			at := roots.URL(of, operator)
			if at == "" || paths[at] != "" || roots.URL(of, operator) != at {
				t.Errorf("%s of %s is at %q, as %s is", operator, name, at, paths[at])
			}
			paths[at] = "/sandboxes/team/" + name + "/operators/" + string(operator)
		}
	}
	for at, path := range paths {
		u, err := url.Parse(at)
		if err != nil {
			t.Fatal(err)
		}
		address, err := net.ResolveTCPAddr("tcp", u.Host)
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Host = "localhost:1"
		r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, address))
		if root := roots.Find(r); root == nil || root.Path != path || root.URL != "http://localhost:1" {
			t.Errorf("%s leads to %+v, want %s", at, root, path)
		}
		r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, roots.api))
		if root := roots.Find(r); root != nil {
			t.Errorf("the port of the api is the root %+v", root)
		}
	}
	roots.close()
	again := newRoots(t, kept, portsAuto) // on another port
	for _, name := range []string{"three", "one"} {
		if at := again.URL(&sandboxes.Sandbox{Namespace: "team", Name: name}, payments.MTN); paths[at] != "/sandboxes/team/"+name+"/operators/mtn" {
			t.Errorf("after the next start, %s leads to %q", at, paths[at])
		}
	}
}
