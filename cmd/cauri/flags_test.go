package main

import (
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// settings are flags of every kind that the commands have.
type settings struct {
	DatabaseURL, Address string
	Concurrency          int
	Loopback             bool
	Deny                 []string
	Interval             time.Duration
}

// execute runs a command with such flags and returns what they came to.
func execute(t *testing.T, args ...string) (settings, error) {
	t.Helper()
	var s settings
	root := &cobra.Command{Use: "root", SilenceErrors: true, SilenceUsage: true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			return flagsFromEnvironment(cmd)
		}}
	root.PersistentFlags().StringVar(&s.Address, "listen-address", ":8080", "")
	cmd := &cobra.Command{Use: "run", RunE: func(*cobra.Command, []string) error { return nil }}
	databaseURL(cmd, &s.DatabaseURL)
	cmd.Flags().IntVar(&s.Concurrency, "webhook-concurrency", 64, "")
	cmd.Flags().BoolVar(&s.Loopback, "allow-loopback", false, "")
	cmd.Flags().StringSliceVar(&s.Deny, "webhook-deny", nil, "")
	cmd.Flags().DurationVar(&s.Interval, "interval", time.Second, "")
	root.AddCommand(cmd)
	root.SetArgs(append([]string{"run"}, args...))
	err := root.ExecuteContext(t.Context())
	return s, err
}

func TestFlagsFromEnvironment(t *testing.T) {
	defaults := settings{Address: ":8080", Concurrency: 64, Interval: time.Second}
	cases := map[string]struct {
		env    map[string]string
		args   []string
		change func(*settings)
	}{
		"nothing": {},
		"environment": {
			env: map[string]string{
				"DATABASE_URL": "postgres://a", "CAURI_WEBHOOK_CONCURRENCY": "3", "CAURI_ALLOW_LOOPBACK": "true",
				"CAURI_WEBHOOK_DENY": "10.0.0.1,10.0.0.2:5432", "CAURI_INTERVAL": "5m",
			},
			change: func(s *settings) {
				*s = settings{"postgres://a", ":8080", 3, true, []string{"10.0.0.1", "10.0.0.2:5432"}, 5 * time.Minute}
			},
		},
		"a flag of the whole program": {
			env: map[string]string{"CAURI_LISTEN_ADDRESS": ":1"}, change: func(s *settings) { s.Address = ":1" },
		},
		"the command line wins": {
			env:  map[string]string{"DATABASE_URL": "postgres://a", "CAURI_WEBHOOK_CONCURRENCY": "3", "CAURI_WEBHOOK_DENY": "10.0.0.1"},
			args: []string{"--webhook-concurrency=4", "--webhook-deny=10.0.0.9"},
			change: func(s *settings) {
				s.DatabaseURL, s.Concurrency, s.Deny = "postgres://a", 4, []string{"10.0.0.9"}
			},
		},
		"the command line wins with a default too": {
			env: map[string]string{"CAURI_WEBHOOK_CONCURRENCY": "3"}, args: []string{"--webhook-concurrency=64"},
		},
		"the command line wins over what cannot be read": {
			env: map[string]string{"CAURI_WEBHOOK_CONCURRENCY": "many"}, args: []string{"--webhook-concurrency=64"},
		},
		"an empty variable is none":        {env: map[string]string{"CAURI_WEBHOOK_CONCURRENCY": "", "DATABASE_URL": ""}},
		"the database has its usual name":  {env: map[string]string{"CAURI_DATABASE_URL": "postgres://a"}},
		"variables of others are not read": {env: map[string]string{"WEBHOOK_CONCURRENCY": "3", "CAURI_PORT": "tcp://10.0.0.1:80"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			for variable, value := range c.env {
				t.Setenv(variable, value)
			}
			want := defaults
			if c.change != nil {
				c.change(&want)
			}
			got, err := execute(t, c.args...)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("flags (-want +got):\n%s", diff)
			}
		})
	}
}

func TestBadVariableIsNamed(t *testing.T) {
	t.Setenv("CAURI_WEBHOOK_CONCURRENCY", "many")
	t.Setenv("CAURI_INTERVAL", "soon")
	_, err := execute(t)
	for _, want := range []string{"CAURI_WEBHOOK_CONCURRENCY", "many", "CAURI_INTERVAL", "soon"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s in it", err, want)
		}
	}
}

func TestVariablesOf(t *testing.T) {
	for flag, want := range map[string]string{
		"database-url": "DATABASE_URL", "database-read-url": "DATABASE_READ_URL", "listen-address": "CAURI_LISTEN_ADDRESS",
		"database-max-conns": "CAURI_DATABASE_MAX_CONNS", "api-key": "CAURI_API_KEY", "url": "CAURI_URI",
		"secret": "CAURI_WEBHOOK_SECRET", "secret-file": "CAURI_WEBHOOK_SECRET_FILE",
	} {
		if got := variableOf("api", flag); got != want {
			t.Errorf("--%s: got %s, want %s", flag, got, want)
		}
	}
}

// The keys of a sandbox's Secret have the same variables everywhere. What stands on the command line wins, also over the variable of a flag
// that says the same in another way.
func TestVariablesOfASandbox(t *testing.T) {
	all := []string{"CAURI_URI", "CAURI_API_KEY", "CAURI_BINDING", "CAURI_WEBHOOK_SECRET", "CAURI_WEBHOOK_SECRET_FILE", "CAURI_SANDBOX",
		"CAURI_ENV_FILE", "CAURI_COUNTRY"}
	for name, c := range map[string]struct {
		args string
		env  map[string]string
		want map[string]string
	}{
		"the names of the documents": {"try", map[string]string{"CAURI_URI": "http://new", "CAURI_API_KEY": "key"},
			map[string]string{"url": "http://new", "api-key": "key"}},
		"an empty one is not set": {"try", map[string]string{"CAURI_URI": ""}, map[string]string{"url": ""}},
		"the command line wins": {"try --url=http://flag", map[string]string{"CAURI_URI": "http://new"},
			map[string]string{"url": "http://flag"}},
		"a binding on the command line wins": {"try --binding=/secret", map[string]string{"CAURI_URI": "http://new", "CAURI_API_KEY": "key"},
			map[string]string{"url": "", "api-key": "", "binding": "/secret"}},
		"variables stand beside each other": {"try", map[string]string{"CAURI_BINDING": "/secret", "CAURI_URI": "http://new"},
			map[string]string{"url": "http://new", "binding": "/secret"}},
		"the signing secret": {"listen", map[string]string{"CAURI_WEBHOOK_SECRET": "new"}, map[string]string{"secret": "new"}},
		"a secret on the command line wins": {"listen --secret=flag", map[string]string{"CAURI_WEBHOOK_SECRET_FILE": "/new"},
			map[string]string{"secret": "flag", "secret-file": ""}},
		"a file on the command line wins": {"listen --secret-file=/flag", map[string]string{"CAURI_WEBHOOK_SECRET": "new"},
			map[string]string{"secret": "", "secret-file": "/flag"}},
		"a sandbox on the command line wins": {"status --sandbox=a/b",
			map[string]string{"CAURI_URI": "http://new", "CAURI_API_KEY": "key", "CAURI_ENV_FILE": "/env"},
			map[string]string{"sandbox": "a/b", "url": "", "api-key": "key", "env-file": ""}},
		"an address on the command line wins": {"status --url=http://flag",
			map[string]string{"CAURI_SANDBOX": "a/b", "CAURI_API_KEY": "key", "CAURI_ENV_FILE": "/env"},
			map[string]string{"sandbox": "", "url": "http://flag", "api-key": "key", "env-file": ""}},
		"a file on the command line wins over what names a sandbox": {"status --env-file=/flag",
			map[string]string{"CAURI_SANDBOX": "a/b", "CAURI_URI": "http://new"},
			map[string]string{"sandbox": "", "url": "", "env-file": "/flag"}},
		"a namespace on the command line means a cluster": {"status -n=a",
			map[string]string{"CAURI_SANDBOX": "b", "CAURI_URI": "http://new", "CAURI_ENV_FILE": "/env"},
			map[string]string{"sandbox": "b", "url": "", "env-file": ""}},
		"a country": {"pay", map[string]string{"CAURI_COUNTRY": "CI"}, map[string]string{"country": "CI"}},
		"a number has its own country": {"pay --msisdn=+250788123456", map[string]string{"CAURI_COUNTRY": "CI"},
			map[string]string{"country": ""}},
		"resources have their own countries": {"dev --file=x.yaml", map[string]string{"CAURI_COUNTRY": "CI"}, map[string]string{"country": ""}},
		"a list is of all countries":         {"payments", map[string]string{"CAURI_COUNTRY": "CI"}, map[string]string{"country": ""}},
		"variables of others do not matter":  {"listen", map[string]string{"WEBHOOK_SECRET": "other"}, map[string]string{"secret": ""}},
		"both variables: the file is chosen": {"listen", map[string]string{"CAURI_WEBHOOK_SECRET": "new", "CAURI_WEBHOOK_SECRET_FILE": "/new"},
			map[string]string{"secret": "new", "secret-file": "/new"}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, variable := range all {
				t.Setenv(variable, c.env[variable])
			}
			args := strings.Fields(c.args)
			cmd, _, err := newRootCommand(false).Find(args)
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.ParseFlags(args[1:]); err != nil {
				t.Fatal(err)
			}
			if err := flagsFromEnvironment(cmd); err != nil {
				t.Fatal(err)
			}
			for flag, want := range c.want {
				if got := cmd.Flags().Lookup(flag).Value.String(); got != want {
					t.Errorf("--%s is %q, want %q", flag, got, want)
				}
			}
		})
	}
}

func TestCommandsSayWhatIsMissing(t *testing.T) {
	for _, variable := range []string{"DATABASE_URL", "CAURI_ENCRYPTION_KEY_FILE", "CAURI_WEBHOOK_SECRET", "CAURI_WEBHOOK_SECRET_FILE"} {
		t.Setenv(variable, "")
	}
	cases := map[string]struct{ args, want string }{
		"worker without a database": {"serve worker", "--database-url"},
		"worker without a key":      {"serve worker --database-url=postgres://127.0.0.1:1/x", "--encryption-key-file"},
		"migrate":                   {"migrate", "--database-url"},
		"api without its PIN key":   {"serve api --database-url=postgres://127.0.0.1:1/x --pin-key-file=/none", "the key for PINs: open /none"},
		"api with a bad credential key": {
			"serve api --database-url=postgres://127.0.0.1:1/x --credential-key-file=flags_test.go", "the key for credentials in flags_test.go: it is no RSA key",
		},
		"api with a bad PIN key": {"serve api --database-url=postgres://127.0.0.1:1/x --pin-key-file=flags_test.go", "openssl genpkey"},
		"api below a host": {
			"serve api --database-url=postgres://127.0.0.1:1/x --base-url=https://pay.test/cauri/",
			"--base-url must be the URL of a host, such as https://pay.test, and has more than that",
		},
		"consoles below a host": {
			"serve api --database-url=postgres://127.0.0.1:1/x --console-url=https://pay.test/cauri", "--console-url must be the URL of a host",
		},
		"hosts of operators without a base URL": {"serve api --database-url=postgres://127.0.0.1:1/x --operator-domain=x.test", "it needs the base URL"},
		"hosts of operators in an api": {
			"serve api --database-url=postgres://127.0.0.1:1/x --base-url=https://pay.test --operator-domain=*.pay.test", "--operator-domain: \"*.pay.test\" is no domain",
		},
		"listen":              {"listen", "--secret"},
		"log format":          {"version --log-format=xml", "--log-format=xml"},
		"log level":           {"version --log-level=loud", "--log-level=loud"},
		"too much in the log": {"version --log-level=debug-4", "--log-level=debug-4"},
		"keys":                {"keys", "--database-url"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			root := newRootCommand(false)
			root.SetArgs(strings.Fields(c.args))
			if err := root.ExecuteContext(t.Context()); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %s in it", err, c.want)
			}
		})
	}
}

func TestWorkerNamesABadDenyRule(t *testing.T) {
	key := t.TempDir() + "/keys"
	if err := os.WriteFile(key, []byte("MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	err := runWorker(t.Context(), workerOptions{processOptions: processOptions{databaseURL: "postgres://127.0.0.1:1/x"}, keyFile: key,
		guardFlags: guardFlags{deny: []string{"postgres"}}})
	if err == nil || !strings.Contains(err.Error(), "--webhook-deny") || !strings.Contains(err.Error(), `"postgres"`) {
		t.Errorf("got %v", err)
	}
}

func TestPlatformAddresses(t *testing.T) {
	database := []netip.AddrPort{netip.MustParseAddrPort("10.0.0.5:5432")}
	for name, c := range map[string]struct {
		host, port string
		want       []netip.AddrPort
	}{
		"in a pod":       {"10.96.0.1", "443", append(slices.Clip(database), netip.MustParseAddrPort("10.96.0.1:443"))},
		"in a pod of v6": {"fd00::1", "443", append(slices.Clip(database), netip.MustParseAddrPort("[fd00::1]:443"))},
		"outside":        {"", "", database},
	} {
		t.Run(name, func(t *testing.T) {
			variables := map[string]string{"KUBERNETES_SERVICE_HOST": c.host, "KUBERNETES_SERVICE_PORT": c.port}
			got := platformAddresses(func() []netip.AddrPort { return database }, func(name string) string { return variables[name] })()
			if !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

// pflag takes what stands between backquotes for the name of the value, and the help shows it in place of "string".
func TestHelpOfFlagsHasNoBackquotes(t *testing.T) {
	for _, command := range newRootCommand(false).Commands() {
		command.Flags().VisitAll(func(f *pflag.Flag) {
			if strings.Contains(f.Usage, "`") {
				t.Errorf("cauri %s --%s: %s", command.Name(), f.Name, f.Usage)
			}
		})
	}
}

// No flag of any command reads a number in another base than ten, from the command line or from its variable.
func TestNumbersAreDecimal(t *testing.T) {
	t.Parallel()
	numbers := 0
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		cmd.Flags().VisitAll(func(flag *pflag.Flag) {
			kind := flag.Value.Type()
			if !strings.HasPrefix(kind, "int") && !strings.HasPrefix(kind, "uint") && !strings.HasPrefix(kind, "float") {
				return
			}
			numbers++
			for text, want := range map[string]string{"0100": "100", "010": "10", "+7": "7", "0": "0", "09": "9"} {
				if err := flag.Value.Set(text); err != nil || flag.Value.String() != want {
					t.Errorf("%s --%s=%s is %s, %v; want %s", cmd.CommandPath(), flag.Name, text, flag.Value, err, want)
				}
			}
			for _, text := range []string{"0x10", "0b11", "0o17", "1_000", "1,000", "1e3", " 1", "1 ", "", "NaN", "Inf", "١"} {
				if err := cmd.Flags().Set(flag.Name, text); err == nil {
					t.Errorf("%s --%s=%s is %s", cmd.CommandPath(), flag.Name, text, flag.Value)
				}
			}
		})
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
	}
	walk(newRootCommand(false))
	if numbers < 15 {
		t.Errorf("only %d flags were tried", numbers)
	}
}

// A proxy that the worker does not use is named at its start, without its password.
func TestWorkerSaysThatItUsesNoProxy(t *testing.T) {
	t.Parallel()
	key := filepath.Join(t.TempDir(), "keys")
	if err := os.WriteFile(key, []byte("MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := launch(t, "postgres://127.0.0.1:1/x", "serve", "worker", "--health-address=127.0.0.1:0", "--encryption-key-file="+key)
	p.cmd.Env = append(p.cmd.Env, "HTTPS_PROXY=http://user:hidden@proxy.example:3128")
	listens := make(chan [2]string, 1)
	p.follow(listens)
	select {
	case <-listens:
	case <-p.exited:
	}
	p.terminate()
	said := p.log.String()
	if !strings.Contains(said, "uses no proxy") || !strings.Contains(said, "HTTPS_PROXY") || strings.Contains(said, "hidden") {
		t.Errorf("it said\n%s", said)
	}
}
