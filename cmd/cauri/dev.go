package main

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/cauri-dev/cauri/cmd/cauri/cli"
	"github.com/cauri-dev/cauri/controllers"
)

// devOptions are the settings of `cauri dev`.
type devOptions struct {
	files         []string
	watch         bool
	port          int
	listen        string
	baseURL       string
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
}

// devName is the name of the command.
const devName = "dev"

func newDevCommand() *cobra.Command {
	var o devOptions
	cmd := &cobra.Command{
		Use:   devName,
		Short: "Run everything in one process on this machine, without Kubernetes",
		Long: `Run everything in one process on this machine, without Kubernetes.

The command reads the same YAML as kubectl apply, starts a Postgres if none is given,
and prints the address and the key of each sandbox. Then it prints a line for each
transaction, event and attempt to deliver an event, like cauri tail. Without --file
there is a sample sandbox. Press s to see the state of the sandboxes, and Ctrl-C to
stop.

The database is --database-url (CAURI_DATABASE_URL, never DATABASE_URL), else a
Postgres that the command starts and removes again; --data keeps its data.`,
		Example: `  cauri dev
  cauri dev -f sandbox.yaml --watch --webhook-url=http://localhost:3000/webhooks --env-file=.env.cauri`,
		Args: cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := quietLog(cmd); err != nil {
				return err
			}
			return runDev(cmd.Context(), o, newDevConsole(cmd.OutOrStdout(), cmd.InOrStdin()))
		},
	}
	o.flags(cmd)
	return cmd
}

func (o *devOptions) flags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringSliceVarP(&o.files, "file", "f", nil, "file or folder with the resources, as for kubectl apply; can be repeated; empty: a sample")
	flags.BoolVar(&o.watch, "watch", false, "apply the files again when they change")
	flags.IntVar(&o.port, "port", 8080, "port of the API; 0 chooses a free one")
	flags.StringVar(&o.listen, "listen", "127.0.0.1", "address that the API listens on; 0.0.0.0 in a container")
	flags.StringVar(&o.baseURL, "base-url", "", "URL of the API as clients see it; empty: http:// with the address and the port")
	flags.StringVar(&o.data, "data", "", "folder that keeps the data of the Postgres that is started; empty: they end with the command")
	flags.StringVar(&o.databaseURL, "database-url", "", "URL of a Postgres database that is empty, or that cauri dev has used before "+
		"(CAURI_DATABASE_URL)")
	flags.DurationVar(&o.wait, "wait", 30*time.Second, "how long to wait for a database that does not answer yet")
	flags.StringVar(&o.postgresURL, "postgres-url", "", "where the programs of Postgres are downloaded from if this machine has none: "+
		"a package registry of npm's form, or a mirror of it; empty: the registry that npm is set up with")
	flags.StringVar(&o.key, "key", "", "API key of the only sandbox (CAURI_API_KEY); empty: one is made")
	flags.StringVar(&o.webhookSecret, "webhook-secret", "", "signing secret of webhooks (CAURI_WEBHOOK_SECRET); empty: one is made for each sandbox")
	flags.StringVar(&o.webhookURL, "webhook-url", "", "URL that gets the events of sandboxes without spec.webhook")
	flags.StringVar(&o.envFile, "env-file", "", "file that gets CAURI_URI, CAURI_API_KEY and CAURI_WEBHOOK_SECRET of the only sandbox")
	flags.StringVar(&o.readyFile, "ready-file", "", "file that is made when the sandboxes are ready, with the URL of the API")
	flags.BoolVar(&o.quiet, "quiet", false, "print no line for each transaction, event and attempt")
}

// quietLog shows warnings only, unless the user asks for more.
func quietLog(cmd *cobra.Command) error {
	format, level := cmd.Flag("log-format").Value.String(), cmd.Flag("log-level")
	if format == "auto" {
		format = "text"
	}
	if level.Changed {
		return setUpLogging(format, level.Value.String())
	}
	return setUpLogging(format, "warn")
}

// check returns all errors of the flags.
func (o devOptions) check() error {
	var problems []error
	if o.key != "" {
		if err := controllers.CheckAPIKey(o.key); err != nil {
			problems = append(problems, fmt.Errorf("--key (CAURI_API_KEY): %w", err))
		}
	}
	if o.webhookSecret != "" {
		if err := controllers.CheckSigningSecret(o.webhookSecret); err != nil {
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
	if o.watch && len(o.files) == 0 {
		problems = append(problems, errors.New("--watch needs --file: there is nothing that could change"))
	}
	if o.baseURL != "" {
		if _, err := parseBaseURL(o.baseURL); err != nil {
			problems = append(problems, err)
		}
	}
	return errors.Join(problems...)
}

// publicURL is the URL of the API as clients on this machine see it.
func (o devOptions) publicURL(listener net.Listener) *url.URL {
	if o.baseURL != "" {
		if u, err := parseBaseURL(o.baseURL); err == nil { // as check has seen
			return u
		}
	}
	return localURL(listener)
}

// localURL is the URL of the API on this machine.
func localURL(listener net.Listener) *url.URL {
	at := listener.Addr().(*net.TCPAddr)
	host := at.IP.String()
	if at.IP.IsUnspecified() {
		host = "localhost"
	}
	return &url.URL{Scheme: "http", Host: net.JoinHostPort(host, strconv.Itoa(at.Port))}
}
