package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/cauri-dev/cauri/cmd/cauri/cli"
	"github.com/cauri-dev/cauri/controllers/localapi"
	"github.com/cauri-dev/cauri/controllers/sandboxenvironment"
	"github.com/cauri-dev/cauri/server/egress"
	"github.com/cauri-dev/cauri/server/httpfront"
	"github.com/cauri-dev/cauri/server/httpserver"
	"github.com/cauri-dev/cauri/server/payments"
)

// devOptions are the settings of `cauri dev`.
type devOptions struct {
	files         []string
	story         string
	country       string
	printSample   bool
	watch         bool
	port          int
	listen        string
	baseURL       string
	allowedHosts  []string
	operatorPorts string
	data          string
	databaseURL   string
	wait          time.Duration
	postgresURL   string
	key           string
	webhookSecret string
	webhookURL    string
	envFile       string
	readyFile     string
	quiet         bool
	// expectationsFile gets the Expectations with their verdicts.
	expectationsFile string

	orFreePort bool   // a free port is taken if another process has the port
	whenReady  func() // called when the sandboxes are ready; may be nil
}

// check returns all errors in the flags.
func (o devOptions) check() error {
	var problems []error
	if o.key != "" {
		if err := sandboxenvironment.CheckAPIKey(o.key); err != nil {
			problems = append(problems, fmt.Errorf("--key (CAURI_API_KEY): %w", err))
		}
	}
	if o.webhookSecret != "" {
		if err := sandboxenvironment.CheckSigningSecret(o.webhookSecret); err != nil {
			problems = append(problems, fmt.Errorf("--webhook-secret (CAURI_WEBHOOK_SECRET): %w", err))
		}
	}
	if o.port < 0 || o.port > 65535 {
		problems = append(problems, fmt.Errorf("--port=%d: write a number from 1 to 65535, or 0 for a free port", o.port))
	}
	if o.data != "" && o.databaseURL != "" {
		problems = append(problems, errors.New("--data is the folder of a Postgres that is started, and --database-url names one that runs: "+
			"leave one of them out"))
	}
	if o.story != "" && len(o.files) > 0 {
		problems = append(problems, errors.New("--story has the resources of a story, and --file names others: leave one of them out"))
	}
	if o.country != "" && len(o.files) > 0 {
		problems = append(problems, errors.New("--country is that of the sample or of a story, and --file names other resources: leave one of them out"))
	}
	if o.printSample && (o.story != "" || len(o.files) > 0) {
		problems = append(problems, errors.New("--print-sample prints the resources that there are without --file and --story: leave those out"))
	}
	if o.watch && len(o.files) == 0 {
		problems = append(problems, errors.New("--watch needs --file: there is nothing that could change"))
	}
	if o.baseURL != "" {
		if _, err := parseBaseURL("--base-url", o.baseURL); err != nil {
			problems = append(problems, err)
		}
	}
	if _, _, err := o.ports(); err != nil {
		problems = append(problems, err)
	}
	if _, err := o.hosts(nil); err != nil {
		problems = append(problems, err)
	}
	return cli.Usage(errors.Join(problems...))
}

// hosts returns the names under which the API answers: those of --allowed-hosts, and the one of the base URL, which may be nil.
func (o devOptions) hosts(baseURL *url.URL) (*httpserver.Hosts, error) {
	patterns := slices.Clone(o.allowedHosts)
	if baseURL != nil && egress.HostOf(baseURL) != "" && net.ParseIP(baseURL.Hostname()) == nil {
		patterns = append(patterns, egress.HostOf(baseURL))
	}
	hosts, err := httpserver.NewHosts(patterns...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", httpfront.AllowedHostsFlag, err)
	}
	return hosts, nil
}

// listener opens the port of the API.
func (o devOptions) listener() (net.Listener, error) {
	listener, err := net.Listen("tcp", net.JoinHostPort(o.listen, strconv.Itoa(o.port)))
	if err != nil && o.orFreePort {
		listener, err = net.Listen("tcp", net.JoinHostPort(o.listen, "0"))
	}
	if err != nil {
		return nil, fmt.Errorf("%w: choose another port with --port, or a free one with --port=0", err)
	}
	return listener, nil
}

// publicURL returns the URL of the API for clients on this machine.
func (o devOptions) publicURL(listener net.Listener) *url.URL {
	if o.baseURL != "" {
		if u, err := parseBaseURL("--base-url", o.baseURL); err == nil { // check has validated it
			return u
		}
	}
	return localURL(listener)
}

func (o *devOptions) flags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringSliceVarP(&o.files, "file", "f", nil, "file or folder with the resources, as for kubectl apply; can be repeated; empty: a sample")
	flags.StringVar(&o.story, "story", "", "story to play in its own sandbox, in place of files: cauri stories lists them")
	flags.StringVar(&o.country, "country", "", "country of the sample or of the story: "+payments.OneOf(payments.Countries)+
		"; empty: a sample of all countries, or the country of the story's file")
	flags.BoolVar(&o.printSample, "print-sample", false, "print the sample, to edit it and to apply it with --file or kubectl, and end")
	flags.BoolVar(&o.watch, "watch", false, "apply the files again when they change")
	flags.IntVar(&o.port, "port", 8080, "port of the API; 0 chooses a free one")
	flags.StringVar(&o.listen, "listen", "127.0.0.1", "address that the API listens on; 0.0.0.0 in a container")
	flags.StringVar(&o.baseURL, "base-url", "", "URL of the API as clients see it; empty: http:// with the address and the port")
	flags.StringSliceVar(&o.allowedHosts, "allowed-hosts", nil, "further host names under which the API answers, such as shop.test or *.ngrok.app; "+
		"addresses, names without a dot, local names and the one of --base-url always may; *: every name")
	flags.StringVar(&o.operatorPorts, "operator-ports", portsAuto, "ports at whose roots the operators' own APIs are served too: auto, off, or "+
		"OPERATOR=PORT of the first sandbox, separated by commas; auto chooses ports if --listen is an address of this machine only")
	flags.StringVar(&o.data, "data", "", "folder that keeps the data of the Postgres that is started; empty: they end with the command")
	flags.StringVar(&o.databaseURL, "database-url", "", "URL of a Postgres database that is empty, or that cauri dev has used before "+
		"(CAURI_DATABASE_URL)")
	flags.DurationVar(&o.wait, "wait", 30*time.Second, "how long to wait for a database that does not answer yet")
	flags.StringVar(&o.postgresURL, "postgres-url", "", "where the programs of Postgres are downloaded from if this machine has none: "+
		"a package registry of npm's form, or a mirror of it; empty: the registry that npm is set up with")
	flags.StringVar(&o.key, "key", "", "API key of the only sandbox (CAURI_API_KEY); empty: one is made")
	flags.StringVar(&o.webhookSecret, "webhook-secret", "", "signing secret of webhooks (CAURI_WEBHOOK_SECRET); empty: one is made for each sandbox")
	flags.StringVar(&o.webhookURL, "webhook-url", "", "URL that gets the events of sandboxes without spec.webhook")
	flags.StringVar(&o.envFile, "env-file", "", "file that gets CAURI_URI and the credentials of the only sandbox, also those of the operators' own APIs")
	flags.StringVar(&o.readyFile, "ready-file", "", "file that is made when the sandboxes are ready, with the URL of the API")
	flags.StringVar(&o.expectationsFile, "expectations-file", "", "file that gets the Expectations with their verdicts, as kubectl get --output=json "+
		"prints them")
	flags.BoolVar(&o.quiet, "quiet", false, "print no line for each transaction, event and attempt")
}

// manifests reads the files, or the sample. It returns all errors in them.
func (o devOptions) manifests(ctx context.Context) (manifests localapi.Manifests, err error) {
	switch {
	case o.story != "":
		manifests, err = o.storyManifests()
	case len(o.files) == 0:
		var sample []byte
		if sample, err = devSample(o.countryCode()); err == nil {
			manifests, err = localapi.Parse("the sample", sample)
		}
	default:
		manifests, err = localapi.Read(o.files...)
	}
	if err != nil {
		return manifests, cli.Usage(err)
	}
	manifests.SetDefaults(o.defaults())
	api, err := localapi.New(ctx, localapi.Options{APIKey: o.key})
	if err != nil {
		return manifests, err
	}
	return manifests, cli.Usage(api.Check(manifests))
}

// defaults returns those defaults of a sandbox's fields that are not the same as in a cluster. They fit a sandbox of
// one user without kubectl.
func (o devOptions) defaults() map[string]any {
	fields := map[string]any{
		"testNumbers": string(payments.StandardTestNumbers),
		"api":         map[string]any{"testClients": true, "reset": true, "faults": true},
	}
	if o.webhookURL != "" {
		fields["webhook"] = map[string]any{"url": o.webhookURL}
	}
	return fields
}

// localURL returns the URL of the API on this machine.
func localURL(listener net.Listener) *url.URL {
	at := listener.Addr().(*net.TCPAddr)
	host := at.IP.String()
	if at.IP.IsUnspecified() {
		host = "localhost"
	}
	return &url.URL{Scheme: "http", Host: net.JoinHostPort(host, strconv.Itoa(at.Port))}
}
