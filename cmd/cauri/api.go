package main

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"github.com/cauri-dev/cauri/cmd/cauri/cli"
	"github.com/cauri-dev/cauri/controllers/localapi"
	"github.com/cauri-dev/cauri/server/fronts"
	"github.com/cauri-dev/cauri/server/httpfront"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/proof"
	"github.com/cauri-dev/cauri/server/requests"
	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/server/secrets"
	"github.com/cauri-dev/cauri/server/telemetry"
)

// configPoll is the polling interval of the api for a new configuration. A revoked key stops working within this time.
const configPoll = 500 * time.Millisecond

// maxQueueWait bounds the wait of a sandbox's requests for the database. Beyond it, further requests are refused, so
// that the queue stays short.
const maxQueueWait = time.Second

type apiOptions struct {
	processOptions
	listen         string
	baseURL        string
	console        bool
	consoleURL     string
	operatorDomain string
	shutdownDelay  time.Duration
	held           httpfront.HeldBounds
	pinKeyFile     string
	pinKey         func() *rsa.PrivateKey // nil for none
	credentialFile string
	credentialKey  func() *secrets.CredentialKey // nil for none
	refusedHost    func(*http.Request) string    // passed to [fronts.Options]
	roots          httpfront.Roots               // passed to [fronts.Options]; nil: those below operatorDomain
}

func newAPICommand() *cobra.Command {
	var o apiOptions
	cmd := &cobra.Command{
		Use:   "api",
		Short: "Serve the /v1 API to merchants, and the consoles of sandboxes to people",
		Args:  cli.NoArguments,
		RunE:  func(cmd *cobra.Command, _ []string) error { return runAPI(cmd.Context(), o) },
	}
	o.flags(cmd)
	cmd.Flags().StringVar(&o.listen, "listen-address", ":8080", "address that serves the API")
	cmd.Flags().StringVar(&o.baseURL, "base-url", "",
		"public URL of the API; its description names it as the server where it is asked for under this host; empty: the host of the request")
	cmd.Flags().BoolVar(&o.console, "console", true, "serve the console of each sandbox, a page for browsers, at {uri}/console")
	cmd.Flags().StringVar(&o.consoleURL, "console-url", "",
		"public URL of the consoles, if they have a host of their own: only they are served there, and nowhere else; empty: that of the API")
	operatorDomain(cmd, &o.operatorDomain)
	cmd.Flags().StringVar(&o.replicaURL, "database-read-url", "",
		"URL of a streaming replica of the database that lists are read from (DATABASE_READ_URL); empty: they are read from the database")
	cmd.Flags().DurationVar(&o.shutdownDelay, "shutdown-delay", 0,
		"how long the API still accepts requests after /readyz starts to fail, so that load balancers notice; at most 15s")
	cmd.Flags().IntVar(&o.held.Process, "max-held-answers", 3000,
		"maximum number of answers held at one time to simulate operators' latency, about 33 KiB of memory each; "+
			"further answers are sent at once; 0 means no limit")
	cmd.Flags().IntVar(&o.held.Sandbox, "max-held-answers-per-sandbox", 1000,
		"maximum number of held answers of one sandbox; 0 means no limit")
	cmd.Flags().StringVar(&o.pinKeyFile, "pin-key-file", "",
		"file with the RSA key, in PEM, with which clients of operators' own APIs encrypt PINs; empty: calls with a PIN are not available")
	cmd.Flags().StringVar(&o.credentialFile, "credential-key-file", "",
		"file with the RSA key, in PEM, of the certificate with which clients of operators' own APIs encrypt passwords; "+
			"empty: there is no certificate, and no such password is checked")
	return cmd
}

func (o apiOptions) check() error {
	if o.shutdownDelay < 0 || o.shutdownDelay > shutdownDelayLimit {
		return cli.Usage(fmt.Errorf("--shutdown-delay=%s: write a time from 0s to %s", o.shutdownDelay, shutdownDelayLimit))
	}
	if o.held.Process < 0 || o.held.Sandbox < 0 {
		return cli.Usage(errors.New("--max-held-answers and --max-held-answers-per-sandbox must not be negative; 0 means no limit"))
	}
	if _, err := o.publicURL(); err != nil {
		return err
	}
	if _, err := o.publicConsoleURL(); err != nil {
		return err
	}
	if _, err := o.operatorsBelow(); err != nil {
		return err
	}
	return requireDatabaseURL(o.databaseURL)
}

// publicURL returns the URL of --base-url, nil if the flag is empty.
func (o apiOptions) publicURL() (*url.URL, error) { return optionalURL("--base-url", o.baseURL) }

// publicConsoleURL returns the URL of --console-url, nil if the flag is empty.
func (o apiOptions) publicConsoleURL() (*url.URL, error) {
	return optionalURL("--console-url", o.consoleURL)
}

// operatorsBelow returns the domain of --operator-domain, nil if the flag is empty.
func (o apiOptions) operatorsBelow() (*sandboxes.OperatorDomain, error) {
	base, err := o.publicURL()
	if err != nil {
		return nil, err
	}
	return parseOperatorDomain(o.operatorDomain, base)
}

func optionalURL(flag, text string) (*url.URL, error) {
	if text == "" {
		return nil, nil
	}
	return parseBaseURL(flag, text)
}

func runAPI(ctx context.Context, o apiOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	if o.pinKeyFile != "" {
		key, err := loadKey("PINs", o.pinKeyFile, secrets.ParseRSAKey)
		if err != nil {
			return err
		}
		o.pinKey = func() *rsa.PrivateKey { return key }
	}
	if o.credentialFile != "" {
		key, err := loadKey("credentials", o.credentialFile, secrets.ParseCredentialKey)
		if err != nil {
			return err
		}
		o.credentialKey = func() *secrets.CredentialKey { return key }
	}
	o.queueWait = maxQueueWait
	p, err := newAPI(ctx, o)
	if err != nil {
		return err
	}
	listener, err := bind("API", o.listen)
	if err != nil {
		return err
	}
	p.serve(ctx, listener)
	return p.serveProbes(ctx)
}

// apiProcess is the process of the api.
type apiProcess struct {
	*process
	options    apiOptions
	publicURL  *url.URL // nil for none
	consoleURL *url.URL // nil for none
	directory  *sandboxes.Directory
	handler    http.Handler // of all requests; nil before serve
	ledger     *ledger.Ledger
	requests   *requests.Log
	metrics    *telemetry.API
}

// newAPI returns the process of the api. It opens no connection.
func newAPI(ctx context.Context, o apiOptions) (*apiProcess, error) {
	publicURL, err := o.publicURL()
	if err != nil {
		return nil, err
	}
	consoleURL, err := o.publicConsoleURL()
	if err != nil {
		return nil, err
	}
	operatorDomain, err := o.operatorsBelow()
	if err != nil {
		return nil, err
	}
	p, err := newProcess(ctx, "api", o.processOptions, nil)
	if err != nil {
		return nil, err
	}
	directory := sandboxes.NewDirectory(p.db)
	if operatorDomain != nil {
		o.roots = fronts.RootsBelow(operatorDomain, directory)
	}
	p.ends += o.shutdownDelay
	// The api stays ready while the database is unavailable, so that clients get a 503 with Retry-After, not an error
	// of the load balancer.
	p.ready = append(p.ready, configurationRead(directory))
	telemetry.RegisterConfig(p.registry, configState(directory, p.now))
	telemetry.RegisterSharedCommits(p.registry, func() telemetry.SharedCommits {
		counts := p.db.SharedCommits()
		return telemetry.SharedCommits{Sizes: counts.Sizes[:], Failed: counts.Failed, Alone: counts.Alone}
	})
	metrics := telemetry.NewAPI(p.registry)
	log := requests.New(p.db, requests.Options{Dropped: metrics.NotLogged})
	p.background = append(p.background, func(ctx context.Context) { directory.Run(ctx, configPoll) }, log.Run)
	if o.replicaURL != "" {
		telemetry.RegisterReplica(p.registry, replicaState(p.db))
		p.background = append(p.background, p.db.RunReplica)
	}
	return &apiProcess{
		process: p, options: o, publicURL: publicURL, consoleURL: consoleURL, directory: directory,
		ledger: ledger.New(p.db, p.sandboxes), requests: log, metrics: metrics,
	}, nil
}

// serve sets the work of the process: it serves the API until ctx ends.
func (p *apiProcess) serve(ctx context.Context, listener net.Listener) {
	p.handler = fronts.New(fronts.Options{
		Ledger: p.ledger, Books: proof.NewBooks(p.db), Sandboxes: p.sandboxes, Directory: p.directory, Requests: p.requests,
		Version: programVersion(), BaseURL: p.publicURL, RefusedHost: p.options.refusedHost, Roots: p.options.roots,
		Console: p.options.console, ConsoleURL: p.consoleURL,
		Now: p.now, Draw: mathrand.Int64N, Random: rand.Reader, Held: p.options.held, PINKey: p.options.pinKey,
		CredentialKey: p.options.credentialKey,
		Draining:      ctx.Done(), Metrics: p.metrics, Tracing: p.tracing, FaultRules: localapi.FaultProblems,
	})
	p.work = func(ctx context.Context) error {
		return serve(delayed(ctx, p.options.shutdownDelay), "API", listener, p.handler)
	}
}

// delayed returns a context that is canceled after ctx ends and a further delay passes.
func delayed(ctx context.Context, delay time.Duration) context.Context {
	if delay == 0 {
		return ctx
	}
	later, cancel := context.WithCancel(context.WithoutCancel(ctx))
	context.AfterFunc(ctx, func() { time.AfterFunc(delay, cancel) })
	return later
}

// configurationRead returns a check that fails until the configuration was read, because before that every key is
// unknown.
func configurationRead(directory *sandboxes.Directory) telemetry.Check {
	return func(context.Context) error {
		if directory.State().ReadAt.IsZero() {
			return errors.New("the configuration has not been read yet")
		}
		return nil
	}
}

func replicaState(db *postgres.DB) func() telemetry.ReplicaState {
	return func() telemetry.ReplicaState {
		stat := db.ReplicaStat()
		return telemetry.ReplicaState{Usable: stat.Usable, Answered: stat.Answered, Declined: stat.Declined}
	}
}

func configState(directory *sandboxes.Directory, now func() time.Time) func() telemetry.ConfigState {
	return func() telemetry.ConfigState {
		state := directory.State()
		return telemetry.ConfigState{
			Version: state.Version, Sandboxes: state.Sandboxes, Age: now().Sub(state.ReadAt), Read: !state.ReadAt.IsZero(),
		}
	}
}
