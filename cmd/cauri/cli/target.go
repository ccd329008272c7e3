package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/cmd/cauri/kube"
	"github.com/cauri-dev/cauri/cmd/cauri/sandboxapi"
	"github.com/cauri-dev/cauri/server/egress"
)

// The keys of a credentials Secret, and the variables of the same values.
const (
	keyURI    = "uri"
	keyAPIKey = "api-key"
	keySecret = "webhook-signing-secret"

	variableURI    = "CAURI_URI"
	variableAPIKey = "CAURI_API_KEY"
	variableSecret = "CAURI_WEBHOOK_SECRET"

	variableSandbox, variableEnvFile = "CAURI_SANDBOX", "CAURI_ENV_FILE"
)

// target is the flags that say which sandbox a command acts on.
type target struct {
	plugin  bool
	kube    kube.Flags
	forward bool

	sandbox, envFile, uri, apiKey string

	cmd        *cobra.Command
	arguments  []argument // behind the sandbox's name
	folder     string     // in which a file is looked for; empty: the working folder
	choices    choices
	standard   types.NamespacedName // the sandbox where nothing names one, once it is known
	chosen     bool                 // by `cauri use`
	found      bool                 // envFile was found nearby, and not named
	completing bool                 // for the shell, and so without a word
}

// target declares the flags of a command for its sandbox. Its arguments come behind the sandbox's name.
func (p *program) target(cmd *cobra.Command, arguments ...argument) *target {
	t := &target{plugin: p.Plugin, cmd: cmd, arguments: arguments, folder: p.Folder, choices: p.choices()}
	flags := cmd.Flags()
	t.kube.Add(flags)
	flags.BoolVar(&t.forward, "port-forward", false, "reach the API by a port-forward, also where its URL may be reachable")
	if !p.Plugin {
		flags.StringVar(&t.sandbox, "sandbox", "", "sandbox in a cluster, namespace/name or name; replaces --url, --api-key and --env-file")
		flags.StringVar(&t.envFile, "env-file", "", "file with CAURI_URI, CAURI_API_KEY and CAURI_WEBHOOK_SECRET, as cauri dev --env-file writes it")
		flags.StringVar(&t.uri, "url", "", "URL of the sandbox (CAURI_URI)")
		flags.StringVar(&t.apiKey, "api-key", "", "API key of the sandbox; prefer CAURI_API_KEY, which ps does not show")
		_ = cmd.RegisterFlagCompletionFunc("sandbox", t.completeSandbox) // the flag is there
	}
	if p.Plugin {
		cmd.Use += " [NAME]"
	}
	cmd.Use += usageOf(arguments)
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		_, rest := t.split(args)
		return checkArguments(arguments)(cmd, rest)
	}
	cmd.ValidArgsFunction = t.complete
	return t
}

// argument is a positional argument of a command.
type argument struct {
	name     string
	required bool
	complete func(ctx context.Context, s *sandbox, typed string) []string
	// form is that of values which could be names of sandboxes too; nil: none could.
	form *regexp.Regexp
}

// likelyName is what can be the name of a sandbox, or one with a mistake. Ids have an underscore, and numbers of phones a plus.
var likelyName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9.-]*(/[A-Za-z0-9][A-Za-z0-9.-]*)?$`)

// split takes the sandbox's name from the arguments of the plugin: the first one, unless it is what comes behind a name.
func (t *target) split(args []string) (name string, rest []string) {
	if !t.plugin || len(args) == 0 || !likelyName.MatchString(args[0]) {
		return "", args
	}
	if len(args) <= len(t.arguments) && t.arguments[0].form != nil && t.arguments[0].form.MatchString(args[0]) {
		return "", args
	}
	return args[0], args[1:]
}

func usageOf(arguments []argument) (text string) {
	for _, a := range arguments {
		if a.required {
			text += " " + a.name
		} else {
			text += " [" + a.name + "]"
		}
	}
	return text
}

// checkArguments says what to write where an argument is missing or too much.
func checkArguments(arguments []argument) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > len(arguments) {
			extra := args[len(arguments)]
			return usage(fmt.Errorf("%q is one argument too many: write `%s`", extra, inPlaceOf(cmd, extra)))
		}
		for _, a := range arguments[len(args):] {
			if a.required {
				return usage(fmt.Errorf("%s is missing: write `%s`", a.name, strings.TrimSuffix(cmd.UseLine(), " [flags]")))
			}
		}
		return nil
	}
}

// sandbox is what is known of the sandbox that a command acts on.
type sandbox struct {
	target  *target
	cluster *kube.Cluster // nil: the user gave URL and key
	key     types.NamespacedName

	resource            *v1alpha1.SandboxEnvironment // nil: not read, or none
	uri, apiKey, secret string
	forward             *kube.Forward
}

// find says which sandbox is meant, and returns the arguments after its name. It sends a request only where nothing names a sandbox.
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

// addressed reports whether flags, variables or a file nearby tell the address of a sandbox.
func (t *target) addressed() bool {
	t.nearby()
	return !t.plugin && (t.envFile != "" || t.uri != "" || t.apiKey != "")
}

// named reports whether anything but there being only one names a sandbox.
func (t *target) named() bool {
	t.nearby()
	if t.plugin || t.sandbox != "" || t.envFile != "" || t.uri != "" || t.kube.Given() {
		return true
	}
	cluster, err := t.kube.Open()
	return err == nil && t.choices.of(cluster) != ""
}

// fromEnvironment takes what the variables or the file say of a sandbox.
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

// errNoSandbox says how to name a sandbox where nothing names one.
var errNoSandbox = fmt.Errorf("no sandbox: pass --sandbox=namespace/name for one in a cluster, or choose it by `cauri use`, "+
	"or set %s and %s to uri and api-key of its Secret, or start `cauri dev --env-file=.env.cauri`: commands find that file in their "+
	"working folder and above it", variableURI, variableAPIKey)

// ReadEnvFile reads the file of --env-file: lines NAME=value.
func ReadEnvFile(path string) (map[string]string, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("--env-file: %w", err)
	}
	defer func() { _ = file.Close() }()
	values := map[string]string{}
	for lines := bufio.NewScanner(file); lines.Scan(); {
		line := strings.TrimPrefix(strings.TrimSpace(lines.Text()), "export ")
		if name, value, found := strings.Cut(line, "="); found && !strings.HasPrefix(line, "#") {
			values[name] = unquoted(value)
		}
	}
	return values, nil
}

// String is how messages name the sandbox.
func (s *sandbox) String() string {
	if s.cluster == nil {
		return s.uri
	}
	return s.key.String()
}

// read reads the resource.
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

// credentials reads the Secret, if the user did not give what it holds.
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
	if s.uri == "" || s.apiKey == "" {
		return fmt.Errorf("the Secret %s has no %s or no %s: is the sandbox ready? `kubectl describe sbx -n %s %s` says why not", name,
			keyURI, keyAPIKey, s.key.Namespace, s.key.Name)
	}
	return nil
}

// reachTimeout is how long an address may take to answer before the port-forward is tried.
const reachTimeout = 3 * time.Second

// connect returns a client of the sandbox's API: at its URL, or by a port-forward where that cannot be reached.
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
		return nil, kube.Because(err, "the Secret of %s has the URL %q, which is none", s.key, s.uri)
	}
	if s.forward, err = s.cluster.Forward(ctx, s.uri); err != nil {
		if unreachable != nil {
			err = &sandboxapi.UnreachableError{Err: fmt.Errorf("this machine does not reach %s, and there is no port-forward: %w", at.Host, err)}
		}
		return nil, err
	}
	return sandboxapi.New("http://pod"+at.Path, s.apiKey, &http.Transport{DialContext: s.forward.DialContext}), nil
}

// close ends the port-forward, if there is one.
func (s *sandbox) close() {
	if s.forward != nil {
		_ = s.forward.Close()
	}
}

// withAPI runs a function of a command with a client of its sandbox, and with the arguments after the sandbox's name.
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
