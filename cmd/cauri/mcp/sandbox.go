package mcp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/cauri-dev/cauri/cmd/cauri/cli"
	"github.com/cauri-dev/cauri/cmd/cauri/sandboxapi"
)

const (
	// probeTimeout bounds the question whether a sandbox answers.
	probeTimeout = 5 * time.Second
	// startTimeout bounds the wait of a call for a sandbox that is being started.
	startTimeout = time.Minute
	// progressInterval is the pause between two messages about a wait.
	progressInterval = 2 * time.Second
)

// holder holds the sandbox of the server. It looks for it again before each call, so that a sandbox may be started after
// the server, and started again with another key.
type holder struct {
	find    func(ctx context.Context) (*cli.Found, error)
	start   func(ctx context.Context) error // starts a sandbox and waits until find finds it; nil: the server starts none
	secrets *secrets

	slot chan struct{} // held by the call that looks
	now  *cli.Found
}

func newHolder(o *Options, s *secrets) *holder {
	return &holder{find: o.Find, start: o.Start, secrets: s, slot: make(chan struct{}, 1)}
}

// open returns the sandbox, if it answers. It starts one if the server may.
func (h *holder) open(ctx context.Context, tell func(string)) (*cli.Found, error) {
	select {
	case h.slot <- struct{}{}:
		defer func() { <-h.slot }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	found, err := h.look(ctx)
	if err == nil || h.start == nil || ctx.Err() != nil {
		return found, err
	}
	if err := h.begin(ctx, tell); err != nil {
		return nil, err
	}
	return h.look(ctx)
}

// look returns the sandbox, if it answers. Without a cluster, the file or the variables are read again each time.
func (h *holder) look(ctx context.Context) (*cli.Found, error) {
	if h.now != nil && h.now.Cluster && h.probe(ctx, h.now) == nil {
		return h.now, nil
	}
	found, err := h.find(ctx)
	if err != nil {
		return nil, &failure{Code: codeNoSandbox, Message: sentence(cli.Message(err)), Next: []step{startStep}}
	}
	h.secrets.learn(found.Secrets())
	if err := h.probe(ctx, found); err != nil {
		found.Close()
		return nil, err
	}
	if now := h.now; now != nil {
		if !found.Cluster && now.URI == found.URI && now.APIKey == found.APIKey && now.CredentialsIn == found.CredentialsIn {
			return now, nil
		}
		now.Close()
	}
	h.now = found
	return found, nil
}

var startStep = step{
	Command: "cauri dev --env-file=.env.cauri", Because: "starts a sandbox on this machine; keep it running, then call again",
}

// probe asks the sandbox for something that no fault acts on. It returns an error if it is not this sandbox that answers.
func (h *holder) probe(ctx context.Context, found *cli.Found) error {
	soon, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	_, err := found.API.Faults(soon)
	var refused *sandboxapi.RefusedError
	var unreachable *sandboxapi.UnreachableError
	switch {
	case err == nil || ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &refused) && refused.Code != "" && refused.Status != http.StatusUnauthorized && refused.Status != http.StatusNotFound:
		return nil // it is suspended or busy, which the tools tell
	case errors.As(err, &refused):
		return &failure{Code: codeNoSandbox, Next: []step{startStep}, Message: fmt.Sprintf(
			"What answers at %s is not this sandbox, or the key in %s is not its key (%d). Start the sandbox again, or choose another one.",
			found.URI, found.CredentialsIn, refused.Status)}
	case errors.As(err, &unreachable), errors.Is(err, context.DeadlineExceeded):
		return &failure{Code: codeNoSandbox, Next: []step{startStep}, Message: fmt.Sprintf(
			"The sandbox at %s, which %s names, does not answer: %s.", found.URI, found.CredentialsIn, cli.Message(err))}
	}
	return err
}

// begin starts a sandbox, and tells of the wait.
func (h *holder) begin(ctx context.Context, tell func(string)) error {
	soon, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- h.start(soon) }()
	ticker := time.NewTicker(progressInterval)
	defer ticker.Stop()
	for tell("Starting a sandbox"); ; {
		select {
		case err := <-done:
			if err != nil && ctx.Err() == nil {
				return &failure{Code: codeNoSandbox, Message: "No sandbox could be started: " + sentence(cli.Message(err)), Next: []step{startStep}}
			}
			return err
		case <-ticker.C:
			tell("The sandbox starts")
		}
	}
}

// close forgets the sandbox.
func (h *holder) close() {
	h.slot <- struct{}{}
	if h.now != nil {
		h.now.Close()
	}
}
