package cli

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"net/url"
	"os"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cauri-dev/cauri/cmd/cauri/sandboxapi"
	"github.com/cauri-dev/cauri/server/egress"
	"github.com/cauri-dev/cauri/server/textfile"
)

// likelyName matches names of sandboxes, and names with some mistakes. It does not match ids, which have an underscore,
// or phone numbers, which have a plus sign.
var likelyName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9.-]*(/[A-Za-z0-9][A-Za-z0-9.-]*)?$`)

// split separates the sandbox's name from the arguments of the plugin. The first argument is the name, unless it can be
// the command's own first argument.
func (t *target) split(args []string) (name string, rest []string) {
	if !t.plugin || len(args) == 0 || !likelyName.MatchString(args[0]) {
		return "", args
	}
	if len(args) <= len(t.arguments) && t.arguments[0].form != nil && t.arguments[0].form.MatchString(args[0]) {
		return "", args
	}
	return args[0], args[1:]
}

// find returns the sandbox of the command, and the arguments after its name. It sends a request to the cluster only if
// no sandbox is named.
func (t *target) find(ctx context.Context, args []string) (*sandbox, []string, error) {
	s := &sandbox{target: t}
	name, rest := t.split(args)
	if name == "" && t.plugin {
		t.sandbox = os.Getenv(variableSandbox)
	}
	name = cmp.Or(name, t.sandbox)
	if name == "" && t.addressed() {
		s.uri, s.apiKey = t.uri, t.apiKey
		return s, rest, usage(t.fromEnvironment(s))
	}
	var err error
	if s.cluster, err = t.kube.Open(); err != nil {
		if name == "" && !t.plugin {
			err = errNoSandbox
		}
		return nil, nil, usage(err)
	}
	if name == "" {
		s.key, err = t.unnamed(ctx, s.cluster)
	} else {
		s.key, err = t.key(s.cluster, name)
	}
	return s, rest, err
}

// addressed reports whether flags, variables or a file nearby have the URL of a sandbox.
func (t *target) addressed() bool {
	t.nearby()
	return !t.plugin && (t.envFile != "" || t.uri != "" || t.apiKey != "")
}

// selected reports whether a flag, a variable, a file or `cauri use` selects a sandbox.
func (t *target) selected() bool {
	t.nearby()
	if t.plugin || t.sandbox != "" || t.envFile != "" || t.uri != "" || t.kube.Given() {
		return true
	}
	cluster, err := t.kube.Open()
	return err == nil && t.choices.of(cluster) != ""
}

// fromEnvironment sets the URL, the API key and the signing secret of a sandbox from the variables or the file.
func (t *target) fromEnvironment(s *sandbox) error {
	s.secret = os.Getenv(variableSecret)
	if t.uri == "" && t.envFile != "" {
		values, err := ReadEnvFile(t.envFile)
		if err != nil {
			return err
		}
		s.uri, s.apiKey, s.secret = values[variableURI], values[variableAPIKey], cmp.Or(values[variableSecret], s.secret)
	}
	if at, err := url.Parse(s.uri); err != nil || egress.HostOf(at) == "" || at.Scheme != "http" && at.Scheme != "https" {
		return errNoSandbox
	}
	if s.apiKey == "" {
		return fmt.Errorf("no API key: set %s to the api-key of the sandbox's Secret", variableAPIKey)
	}
	return nil
}

// ReadEnvFile returns the values in the file of --env-file, which has lines NAME=value.
func ReadEnvFile(path string) (map[string]string, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("--env-file: %w", err)
	}
	defer func() { _ = file.Close() }()
	values := map[string]string{}
	for lines := bufio.NewScanner(textfile.Reader(file)); lines.Scan(); {
		line := strings.TrimPrefix(strings.TrimSpace(lines.Text()), "export ")
		if name, value, found := strings.Cut(line, "="); found && !strings.HasPrefix(line, "#") {
			values[name] = unquoted(value)
		}
	}
	return values, nil
}

// withAPI calls the function do with a client of the command's sandbox, and the arguments after the sandbox's name.
func (t *target) withAPI(
	cmd *cobra.Command, args []string, do func(ctx context.Context, api *sandboxapi.Client, s *sandbox, rest []string) error,
) error {
	s, rest, err := t.find(cmd.Context(), args)
	if err != nil {
		return err
	}
	defer s.close()
	api, err := s.connect(cmd.Context())
	if err != nil {
		return err
	}
	return do(cmd.Context(), api, s, rest)
}
