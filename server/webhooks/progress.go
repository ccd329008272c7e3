package webhooks

import (
	"net/http/httptrace"
	"sync/atomic"
)

// stage says how far an attempt is.
type stage int

const (
	connecting   stage = iota
	lookingUp          // the host's addresses are not known yet
	shakingHands       // connected, and TLS is not ready
	asking             // a program may have the request
)

// progress observes an attempt. Package http may look names up and connect in goroutines that outlive the attempt.
type progress struct {
	lookingUp, connected, asking atomic.Bool
}

func (p *progress) trace() *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		DNSStart: func(httptrace.DNSStartInfo) { p.lookingUp.Store(true) },
		DNSDone:  func(httptrace.DNSDoneInfo) { p.lookingUp.Store(false) },
		ConnectDone: func(_, _ string, err error) {
			if err == nil {
				p.connected.Store(true)
			}
		},
		GotConn: func(httptrace.GotConnInfo) { p.asking.Store(true) },
	}
}

func (p *progress) stage() stage {
	switch {
	case p.asking.Load():
		return asking
	case p.connected.Load():
		return shakingHands
	case p.lookingUp.Load():
		return lookingUp
	}
	return connecting
}
