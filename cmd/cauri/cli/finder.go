package cli

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cauri-dev/cauri/cmd/cauri/sandboxapi"
)

// Finder finds the sandbox of a command that runs for long, as often as it is asked. It prints nothing.
type Finder struct{ target *target }

// NewFinder declares the flags that select the sandbox of a command.
func NewFinder(cmd *cobra.Command, o Options) *Finder {
	p := &program{Options: o}
	f := &Finder{p.target(cmd)}
	f.target.completing = true
	return f
}

// Found is a sandbox with a client of its API.
type Found struct {
	API               *sandboxapi.Client
	URI, Name         string // Name is the URI without a cluster
	APIKey, Secret    string // Secret is empty if it is not known
	CredentialsIn     string // what has the credentials: a file, a Secret, or variables
	Cluster           bool   // whether its credentials come from a cluster
	sandbox           *sandbox
	credentialsOfFile map[string]string
}

// Find finds the sandbox and connects to it. The caller must close it.
func (f *Finder) Find(ctx context.Context, args []string) (*Found, error) {
	t := *f.target // find notes what it found
	s, _, err := t.find(ctx, args)
	if err != nil {
		return nil, err
	}
	api, err := s.connect(ctx)
	if err != nil {
		s.close()
		return nil, err
	}
	found := &Found{
		API: api, URI: s.uri, Name: s.String(), APIKey: s.apiKey, Secret: s.secret, Cluster: s.cluster != nil, sandbox: s,
		CredentialsIn: "the variables " + variableURI + " and " + variableAPIKey, credentialsOfFile: map[string]string{},
	}
	switch {
	case s.cluster != nil:
		found.CredentialsIn = "the Secret " + s.resource.CredentialsSecretName() + " of the namespace " + s.key.Namespace
		found.credentialsOfFile = s.entries
	case t.envFile != "" && t.uri == "":
		found.CredentialsIn = t.envFile
		if found.credentialsOfFile, err = ReadEnvFile(t.envFile); err != nil {
			s.close()
			return nil, usage(err)
		}
	}
	return found, nil
}

// Close closes the port-forward, if there is one.
func (f *Found) Close() { f.sandbox.close() }

// Stores returns the stores to try for a payment that names none, in order.
func (f *Found) Stores() []string { return f.sandbox.stores() }

// Command returns the command line of another command for this sandbox.
func (f *Found) Command(name, rest string) string { return f.sandbox.command(name, rest) }

// Typed returns a command of an advice as the user calls it for this sandbox.
func (f *Found) Typed(command string) string { return f.sandbox.typed(command) }

// Secrets returns the values that only the user may see: all of the file or of the Secret but addresses, by the names
// of their variables.
func (f *Found) Secrets() map[string]string {
	all := map[string]string{variableAPIKey: f.APIKey, variableSecret: f.Secret}
	for _, name := range slices.Sorted(maps.Keys(f.credentialsOfFile)) {
		if upper := strings.ToUpper(name); !strings.HasSuffix(upper, "URI") && !strings.HasSuffix(upper, "URL") {
			all[cmp.Or(variableOfEntry[name], name)] = f.credentialsOfFile[name]
		}
	}
	maps.DeleteFunc(all, func(_, value string) bool { return value == "" })
	return all
}

// variableOfEntry has the variables of entries of a Secret, so that a value has one name.
var variableOfEntry = map[string]string{keyAPIKey: variableAPIKey, keySecret: variableSecret}
