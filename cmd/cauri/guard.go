package main

import (
	"fmt"

	"github.com/spf13/pflag"

	"github.com/cauri-dev/cauri/cmd/cauri/cli"
	"github.com/cauri-dev/cauri/server/egress"
)

// guardFlags are the flags of the guard of the addresses of webhooks and operators' APIs. The workers refuse addresses by it,
// and the controller says of a spec what they will refuse.
type guardFlags struct {
	allowLoopback bool
	deny          []string
}

func (f *guardFlags) add(flags *pflag.FlagSet) {
	flags.BoolVar(&f.allowLoopback, "allow-loopback-webhooks", false,
		"allow webhooks and requests to operators' APIs to loopback addresses of this machine; for development only")
	flags.StringSliceVar(&f.deny, "webhook-deny", nil,
		"networks (10.0.0.0/8) and addresses with or without a port (10.0.0.1:5432) that webhooks and requests "+
			"to operators' APIs must not go to")
}

// guard returns the guard.
func (f guardFlags) guard() (egress.Guard, error) {
	deny, err := egress.ParseDenyRules(f.deny)
	if err != nil {
		return egress.Guard{}, cli.Usage(fmt.Errorf("--webhook-deny: %w", err))
	}
	return egress.Guard{AllowLoopback: f.allowLoopback, Deny: deny}, nil
}
