package service

import (
	"context"

	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// Permission is an action that a sandbox's key may take only if the sandbox's resource allows it.
type Permission struct {
	Action string
	Field  string // field of the sandbox's resource that gives the permission
	given  func(sandboxes.APIAccess) bool
}

var (
	changeTestClients = Permission{
		"change test clients", "spec.api.testClients", func(a sandboxes.APIAccess) bool { return a.TestClients },
	}
	changeFaults = Permission{"set and remove faults", "spec.api.faults", func(a sandboxes.APIAccess) bool { return a.Faults }}
	resetSandbox = Permission{"reset the sandbox", "spec.api.reset", func(a sandboxes.APIAccess) bool { return a.Reset }}
)

// ErrDenied is returned for an action that the sandbox's resource does not allow its key.
type ErrDenied struct{ Permission Permission }

func (e ErrDenied) Error() string {
	return "the sandbox does not allow its key to " + e.Permission.Action
}

// permitted calls f if the sandbox has the permission; otherwise it returns [ErrDenied]. If the cached configuration
// denies, permitted refreshes it and checks again. It repeats f if the configuration changed. The context of f is not
// canceled when the client disconnects.
func (s *Service) permitted(
	ctx context.Context, who *Caller, p Permission, f func(context.Context, *sandboxes.Sandbox) error,
) error {
	ctx, cancel := untilRecorded(ctx)
	defer cancel()
	denied := false
	return s.Renewing(ctx, who, func(ctx context.Context) error {
		switch given := p.given(who.Sandbox.API); {
		case given:
			return f(ctx, who.Sandbox)
		case denied:
			return ErrDenied{p}
		}
		denied = true
		return postgres.ErrConfigChanged
	})
}
