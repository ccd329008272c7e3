package main

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/cauri-dev/cauri/server/store"
)

// flagsFromEnvironment gives every flag that the command line leaves alone the value of its environment variable, if there is
// one.
func flagsFromEnvironment(cmd *cobra.Command) error {
	var problems []error
	cmd.Flags().VisitAll(func(flag *pflag.Flag) {
		variable := variableOf(flag.Name)
		value, set := os.LookupEnv(variable)
		if flag.Changed || !set || value == "" {
			return
		}
		if err := cmd.Flags().Set(flag.Name, value); err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", variable, err))
		}
	})
	return errors.Join(problems...)
}

// variableOf names the environment variable of a flag.
func variableOf(flag string) string {
	name := strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
	if name == "DATABASE_URL" || name == "DATABASE_READ_URL" { // the names that everybody gives them
		return name
	}
	return "CAURI_" + name
}

// databaseURL declares the flag that every part needs.
func databaseURL(cmd *cobra.Command, url *string) {
	cmd.Flags().StringVar(url, "database-url", "", "URL of the Postgres database, postgres://user:password@host:5432/name (DATABASE_URL)")
}

func requireDatabaseURL(url string) error {
	if url == "" {
		return errors.New("no database was given: pass --database-url=postgres://user:password@host:5432/name or set DATABASE_URL")
	}
	return nil
}

// parseBaseURL reads the flag --base-url.
func parseBaseURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("--base-url must be an absolute http or https URL, not %q", text)
	}
	return u, nil
}

// keyPoll is how often the file with the encryption keys is read again.
const keyPoll = 5 * time.Second

func loadKeyRing(path string) (*store.KeyRing, error) {
	if path == "" {
		return nil, errors.New("no encryption key was given: pass --encryption-key-file, a file with one key a line; make a key with: head -c 32 /dev/urandom | base64")
	}
	return store.LoadKeyRing(path)
}
