package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/cmd/cauri/kube"
	"github.com/cauri-dev/cauri/cmd/cauri/sandboxapi"
	"github.com/cauri-dev/cauri/server/egress"
)

// target has the flags that select the sandbox of a command.
type target struct {
	plugin  bool
	kube    kube.Flags
	forward bool

	sandbox, envFile, uri, apiKey string

	cmd        *cobra.Command
	arguments  []argument // arguments after the sandbox's name
	folder     string     // first folder of the search for .env.cauri; empty: the working folder
	choices    choices
	standard   types.NamespacedName // the sandbox if the user names none; zero: not determined yet
	chosen     bool                 // whether `cauri use` has chosen standard
	found      bool                 // whether nearby found envFile
	completing bool                 // whether this is a shell completion, which prints no messages
}

// sandbox is the sandbox of a command.
type sandbox struct {
	target  *target
	cluster *kube.Cluster // nil: the sandbox is given by URL and key
	key     types.NamespacedName

	resource            *v1alpha1.SandboxEnvironment // nil: not read, or without a cluster
	uri, apiKey, secret string
	entries             map[string]string // of its Secret in the cluster
	forward             *kube.Forward
}

// String returns the sandbox's name in messages.
func (s *sandbox) String() string {
	if s.cluster == nil {
		return s.uri
	}
	return s.key.String()
}

// read returns the sandbox's resource.
func (s *sandbox) read(ctx context.Context) (*v1alpha1.SandboxEnvironment, error) {
	if s.cluster == nil {
		return nil, usage(errors.New("this needs the sandbox's resource: name it with --sandbox=namespace/name"))
	}
	var err error
	s.resource, err = s.cluster.Sandbox(ctx, s.key)
	if apierrors.IsNotFound(err) && s.target.chosen {
		err = kube.Because(err, "%s. `%s` has chosen it: choose another one, or none with --none", Message(err), s.target.program("use"))
	}
	return s.resource, err
}

// credentials reads the URL and the API key from the Secret, if they were not given.
func (s *sandbox) credentials(ctx context.Context) error {
	if s.cluster == nil {
		return nil
	}
	if s.resource == nil {
		if _, err := s.read(ctx); err != nil {
			return err
		}
	}
	name := types.NamespacedName{Namespace: s.key.Namespace, Name: s.resource.CredentialsSecretName()}
	content, err := s.cluster.Secret(ctx, name)
	if err != nil {
		return fmt.Errorf("the credentials of the sandbox %s: %w", s.key, err)
	}
	s.uri, s.apiKey, s.secret = string(content[keyURI]), string(content[keyAPIKey]), string(content[keySecret])
	s.entries = map[string]string{}
	for name, value := range content {
		s.entries[name] = string(value)
	}
	if s.uri == "" || s.apiKey == "" {
		return refusedError{fmt.Errorf("the Secret %s has no %s or no %s: is the sandbox ready? `kubectl describe sbx -n %s %s` says why not", name,
			keyURI, keyAPIKey, s.key.Namespace, s.key.Name)}
	}
	return nil
}

// connect returns a client of the sandbox's API. If the URL of the sandbox cannot be reached, the client uses a
// port-forward.
func (s *sandbox) connect(ctx context.Context) (*sandboxapi.Client, error) {
	if err := s.credentials(ctx); err != nil {
		return nil, err
	}
	direct := sandboxapi.New(s.uri, s.apiKey, nil)
	if s.cluster == nil {
		return direct, nil
	}
	var unreachable error
	if !s.target.forward {
		soon, cancel := context.WithTimeout(ctx, reachTimeout)
		defer cancel()
		var refused *sandboxapi.RefusedError
		if _, unreachable = direct.Health(soon); unreachable == nil || errors.As(unreachable, &refused) && refused.Code != "" {
			return direct, nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	at, err := url.Parse(s.uri)
	if err != nil {
		return nil, refusedError{kube.Because(err, "the Secret of %s has the URL %s, which is none", s.key, egress.Shown(s.uri))}
	}
	if s.forward, err = s.cluster.Forward(ctx, s.uri); err != nil {
		if unreachable != nil {
			err = fmt.Errorf("this machine does not reach %s, and there is no port-forward: %w", at.Host, err)
		}
		return nil, &sandboxapi.UnreachableError{Err: err}
	}
	return sandboxapi.New("http://pod"+at.Path, s.apiKey, &http.Transport{DialContext: s.forward.DialContext}), nil
}

// close closes the port-forward.
func (s *sandbox) close() {
	if s.forward != nil {
		_ = s.forward.Close()
	}
}

// reachTimeout bounds the try to reach the sandbox's URL before the port-forward.
const reachTimeout = 3 * time.Second

// argument is a positional argument of a command.
type argument struct {
	name     string
	required bool
	complete func(ctx context.Context, s *sandbox, typed string) []string
	// form matches values that could also be the name of a sandbox. If form is nil, no value could.
	form *regexp.Regexp
}

// The keys of a credentials Secret, and the variables with the same values.
const (
	keyURI    = "uri"
	keyAPIKey = "api-key"
	keySecret = "webhook-signing-secret"

	variableURI    = "CAURI_URI"
	variableAPIKey = "CAURI_API_KEY"
	variableSecret = "CAURI_WEBHOOK_SECRET"

	variableSandbox, variableEnvFile = "CAURI_SANDBOX", "CAURI_ENV_FILE"
)

// program returns the command line of another command, for messages.
func (t *target) program(command string) string {
	if t.plugin {
		return "kubectl cauri " + command
	}
	return "cauri " + command
}

// errNoSandbox is returned if no sandbox is named. Its text explains how to name one.
var errNoSandbox error = codedError{fmt.Errorf("no sandbox: pass --sandbox=namespace/name for one in a cluster, or choose it by `cauri use`, "+
	"or set %s and %s to uri and api-key of its Secret, or start `cauri dev --env-file=.env.cauri`: commands find that file in their "+
	"working folder and above it", variableURI, variableAPIKey), "no_sandbox"}
