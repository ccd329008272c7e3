package main

import (
	"fmt"
	"net/http"

	"github.com/prometheus/client_golang/prometheus/promhttp"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/cauri-dev/cauri/server/httpserver"
)

// addServers adds servers of probes and metrics to the manager. They replace the manager's own servers, which have no
// deadline for the body of a request.
func (f controllerFlags) addServers(mgr ctrl.Manager, ready healthz.Checker) error {
	for _, s := range []struct {
		name, address string
		handler       http.Handler
	}{
		{"controller's probes", f.healthAddress, controllerProbes(ready)},
		{"controller's metrics", f.metricsAddress, controllerMetrics()},
	} {
		if s.address == "" || s.address == "0" {
			continue
		}
		listener, err := bind(s.name, s.address)
		if err != nil {
			return err
		}
		// The manager starts servers of this type first, without a leader election, and stops them last.
		err = mgr.Add(&manager.Server{
			Name: s.name, Listener: listener, Server: httpserver.HTTP(s.handler, httpserver.Default), ShutdownTimeout: new(httpserver.Default.Drain),
		})
		if err != nil {
			return fmt.Errorf("adding the server of the %s: %w", s.name, err)
		}
	}
	return nil
}

// controllerProbes returns a handler of /healthz and /readyz. Each check also has its own path below them.
func controllerProbes(ready healthz.Checker) http.Handler {
	mux := http.NewServeMux()
	for path, checks := range map[string]map[string]healthz.Checker{
		"/healthz": {"ping": healthz.Ping},
		"/readyz":  {"caches": ready},
	} {
		handler := http.StripPrefix(path, &healthz.Handler{Checks: checks})
		mux.Handle(path, handler)
		mux.Handle(path+"/", handler)
	}
	return mux
}

func controllerMetrics() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/metrics", promhttp.HandlerFor(ctrlmetrics.Registry, promhttp.HandlerOpts{}))
	return mux
}
