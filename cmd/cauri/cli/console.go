package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"slices"

	"github.com/spf13/cobra"

	"github.com/cauri-dev/cauri/cmd/cauri/sandboxapi"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
)

// consoleRoles are the values of --role.
var consoleRoles = []string{"full", "viewer"}

func (p *program) consoleCommand() *cobra.Command {
	var o output
	var role, msisdn string
	var onlyPrint bool
	cmd := &cobra.Command{
		Use: "console", Short: "Open the console of a sandbox in a browser",
		Long: `Open the console of a sandbox in a browser.

The command makes a link that opens the console once, within five minutes, and opens it
if this machine has a browser. Treat the link like a password until it was used. If the
API is reached by a port-forward, the console is on a port of this machine, until
Ctrl-C.`,
		Example: "  " + p.called("console", "") + "\n  " + p.called("console", "--print --role=viewer") + "\n  " +
			p.called("console", "--print --msisdn=+2250700000001"),
	}
	t := p.target(cmd)
	flags := cmd.Flags()
	flags.BoolVar(&onlyPrint, "print", false, "print the link, and open no browser")
	flags.StringVar(&role, "role", "full", "full, or viewer: looks at everything and changes nothing")
	completeFlag(cmd, "role", consoleRoles...)
	flags.StringVar(&msisdn, "msisdn", "", "number of a test client: the link opens its phone and nothing else")
	o.add(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := o.check(); err != nil {
			return err
		}
		if !slices.Contains(consoleRoles, role) {
			return usage(fmt.Errorf("--role=%s: write full or viewer", role))
		}
		if msisdn == "" && flags.Changed("msisdn") {
			return usage(errors.New("--msisdn is empty: write the number of a test client, or leave it out for a link to the whole sandbox"))
		}
		if msisdn != "" && flags.Changed("role") {
			return usage(errors.New("--msisdn opens one phone, whose role is handset: leave out --role"))
		}
		return t.withAPI(cmd, args, func(ctx context.Context, api *sandboxapi.Client, s *sandbox, _ []string) error {
			asked := wire.ConsoleLinkRequest{Role: role}
			if msisdn != "" {
				asked = wire.ConsoleLinkRequest{MSISDN: msisdn}
			}
			link, err := api.ConsoleLink(ctx, asked)
			if err != nil {
				return err
			}
			var local net.Listener
			if s.forward != nil {
				if local, link.URL, err = listenFor(link.URL); err != nil {
					return err
				}
				defer func() { _ = local.Close() }()
			}
			say := printerTo(cmd.ErrOrStderr())
			err = o.print(cmd.OutOrStdout(), link, []string{link.URL}, func(out io.Writer) { Fprintf(out, "%s\n", link.URL) })
			if err != nil {
				return err
			}
			say("The link opens the console of %s once, within five minutes, with the role %s.", s, link.Role)
			if !onlyPrint && o.people() && p.Browse(ctx, link.URL) {
				say("It is open in your browser.")
			}
			if local == nil {
				return nil
			}
			say("The console goes through a port-forward, until Ctrl-C.")
			return s.relay(ctx, local)
		})
	}
	return cmd
}

// listenFor listens on a free port of this machine, and returns a link with this port as its address.
func listenFor(link string) (net.Listener, string, error) {
	at, err := url.Parse(link)
	if err != nil {
		return nil, "", fmt.Errorf("the API made a link that cannot be read: %w", err)
	}
	local, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		return nil, "", err
	}
	_, port, err := net.SplitHostPort(local.Addr().String())
	at.Scheme, at.Host = "http", "localhost:"+port // browsers send Secure cookies to localhost without TLS
	return local, at.String(), err
}

// relay passes the connections of a listener on through the port-forward, until ctx ends.
func (s *sandbox) relay(ctx context.Context, local net.Listener) error {
	defer context.AfterFunc(ctx, func() { _ = local.Close() })()
	for {
		near, err := local.Accept()
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		go s.pass(ctx, near)
	}
}

// pass copies a connection to the port-forward and back, until one side ends or ctx does.
func (s *sandbox) pass(ctx context.Context, near net.Conn) {
	defer func() { _ = near.Close() }()
	far, err := s.forward.DialContext(ctx, "", "")
	if err != nil {
		return // the browser says that the page cannot be reached, and the next connection opens the port-forward again
	}
	closeBoth := func() { _, _ = near.Close(), far.Close() }
	defer context.AfterFunc(ctx, closeBoth)()
	go func() {
		_, _ = io.Copy(far, near)
		closeBoth()
	}()
	_, _ = io.Copy(near, far)
	closeBoth()
}
