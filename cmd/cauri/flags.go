package main

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/cauri-dev/cauri/cmd/cauri/cli"
	"github.com/cauri-dev/cauri/server/egress"
	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/server/secrets"
	"github.com/cauri-dev/cauri/server/textfile"
)

// alternatives has, for each flag, other flags for the same purpose. If one of these is on the command line, the
// variable of the flag is ignored.
var alternatives = map[string][]string{
	"url": {"binding", "sandbox", "env-file", "namespace", "context", "kubeconfig"}, "api-key": {"binding"},
	"env-file": {"url", "sandbox", "namespace", "context", "kubeconfig"}, "sandbox": {"url", "env-file"},
	"secret": {"secret-file"}, "secret-file": {"secret"}, "country": {"file", "msisdn", "name"},
}

// flagsFromEnvironment sets the flags that are not on the command line from their environment variables.
func flagsFromEnvironment(cmd *cobra.Command) error {
	given := map[string]bool{} // flags on the command line
	cmd.Flags().Visit(func(flag *pflag.Flag) { given[flag.Name] = true })
	var problems []error
	cmd.Flags().VisitAll(func(flag *pflag.Flag) {
		if _, none := flag.Annotations[cli.NoVariable]; none {
			return
		}
		if given[flag.Name] || slices.ContainsFunc(alternatives[flag.Name], func(other string) bool { return given[other] }) {
			return
		}
		variable := variableOf(cmd.Name(), flag.Name)
		value := os.Getenv(variable)
		if value == "" {
			return
		}
		if err := cmd.Flags().Set(flag.Name, value); err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", variable, err))
		}
	})
	return errors.Join(problems...)
}

// usualVariables has the flags whose environment variable is not named CAURI_<FLAG>. Their names are common ones, or
// derived from the keys of a sandbox's Secret.
var usualVariables = map[string]string{
	"database-url":      "DATABASE_URL",
	"database-read-url": "DATABASE_READ_URL",
	"url":               "CAURI_URI",
	"secret":            "CAURI_WEBHOOK_SECRET",
	"secret-file":       "CAURI_WEBHOOK_SECRET_FILE",
}

// devVariables has the variables of `cauri dev` whose names are not derived from the flag's name. `cauri dev` ignores
// DATABASE_URL, because on a developer's machine it usually names the database of another program.
var devVariables = map[string]string{"database-url": "CAURI_DATABASE_URL", "key": "CAURI_API_KEY"}

// variableOf returns the name of the environment variable of a flag.
func variableOf(command, flag string) string {
	if variable := devVariables[flag]; command == devName && variable != "" {
		return variable
	}
	return cmp.Or(usualVariables[flag], "CAURI_"+strings.ToUpper(strings.ReplaceAll(flag, "-", "_")))
}

// databaseURL declares the flag --database-url.
func databaseURL(cmd *cobra.Command, url *string) {
	cmd.Flags().StringVar(url, "database-url", "", "URL of the Postgres database, postgres://user:password@host:5432/name, "+
		"or file:PATH with a file that has it and is read again for each connection (DATABASE_URL)")
}

func requireDatabaseURL(url string) error {
	if url == "" {
		return cli.Usage(errors.New("no database: set DATABASE_URL, or pass --database-url=postgres://user:password@host:5432/name"))
	}
	return nil
}

// parseBaseURL parses the flag --base-url or --console-url. It returns the URL of a host, without a slash at its end: the
// links of pages and answers begin with the paths of Cauri.
func parseBaseURL(flag, text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || egress.HostOf(u) == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, cli.Usage(fmt.Errorf("%s must be an absolute http or https URL, not %s", flag, egress.Shown(text)))
	}
	host := url.URL{Scheme: u.Scheme, Host: u.Host}
	if strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return nil, cli.Usage(fmt.Errorf("%s must be the URL of a host, such as %s, and has more than that: Cauri serves no path below a host, "+
			"so give it a host of its own", flag, &host))
	}
	return &host, nil
}

// operatorDomain declares the flag --operator-domain.
func operatorDomain(cmd *cobra.Command, domain *string) {
	cmd.Flags().StringVar(domain, "operator-domain", "", "domain below which each operator's own API of each sandbox has a host, "+
		"{operator}-{code}.{domain}, with the scheme and the port of --base-url; empty: these APIs have only a path")
}

// parseOperatorDomain parses the flag --operator-domain. It returns nil if the flag is empty.
func parseOperatorDomain(domain string, base *url.URL) (*sandboxes.OperatorDomain, error) {
	if domain == "" {
		return nil, nil
	}
	parsed, err := sandboxes.NewOperatorDomain(domain, base)
	if err != nil {
		return nil, cli.Usage(fmt.Errorf("--operator-domain: %w", err))
	}
	return parsed, nil
}

// keyPoll is the interval at which the file with the encryption keys is read.
const keyPoll = 5 * time.Second

func loadKeyRing(path string) (*secrets.KeyRing, error) {
	if path == "" {
		return nil, cli.Usage(errors.New("no encryption key: set --encryption-key-file to a file with one key a line; " +
			"create a key with: head -c 32 /dev/urandom | base64"))
	}
	ring, err := secrets.LoadKeyRing(path)
	if err != nil {
		return nil, cli.Usage(err)
	}
	return ring, nil
}

// loadKey reads the file of an RSA key. The parameter what says in errors what the key is for.
func loadKey[K any](what, path string, parse func(string) (*K, error)) (*K, error) {
	text, err := textfile.Read(path)
	if err != nil {
		return nil, cli.Usage(fmt.Errorf("reading the key for %s: %w", what, err))
	}
	key, err := parse(string(text))
	if err != nil {
		return nil, cli.Usage(fmt.Errorf("reading the key for %s in %s: %w", what, path, err))
	}
	return key, nil
}

// devName is the name of the command.
const devName = "dev"
