package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cauri-dev/cauri/cmd/cauri/kube"
	"github.com/cauri-dev/cauri/cmd/cauri/sandboxapi"
)

// inLibraries are words that only errors of libraries have.
var inLibraries = []string{"strconv", "parsing", "time:", "invalid argument", "context deadline", "context canceled", "dial tcp", "syscall", "connect:",
	"no such file", "the server could not", "json:", "invalid character", "EOF", "Invalid value", "<nil>", "kubernetes", "KUBERNETES_MASTER",
	"lookup", "Unsupported", "Required value", "dial error", "failed to", "SQLSTATE", "yaml: line", "net/http", "[flags]", "1e+"}

// readable fails for a message that has a text of a library, or does not have what it should say.
func readable(t *testing.T, name string, err error, want string) {
	t.Helper()
	if err == nil {
		t.Errorf("%s: no error", name)
		return
	}
	got := Message(err)
	for _, foreign := range inLibraries {
		if strings.Contains(got, foreign) {
			t.Errorf("%s: %q has the words of a library, %q", name, got, foreign)
		}
	}
	if !strings.Contains(got, want) {
		t.Errorf("%s: %q does not say %q", name, got, want)
	}
}

func TestMessagesHaveNoTextOfALibrary(t *testing.T) {
	t.Parallel()
	_, noFile := os.Open(filepath.Join(t.TempDir(), "none"))
	_, folder := os.ReadFile(t.TempDir())
	refused := &net.OpError{Op: "dial", Net: "tcp", Addr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 9},
		Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	inUse := &net.OpError{Op: "listen", Net: "tcp", Addr: refused.Addr, Err: os.NewSyscallError("bind", syscall.EADDRINUSE)}
	unknown := &net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Err: "no such host", Name: "shop.example", IsNotFound: true}}
	invalid := apierrors.NewInvalid(schema.GroupKind{Group: "cauri.dev", Kind: "SandboxEnvironment"}, "checkout", field.ErrorList{
		field.Required(field.NewPath("spec", "environments"), "write one at least"),
		field.Invalid(field.NewPath("spec", "ttl"), "7d", "write 168h"),
		field.NotSupported(field.NewPath("spec", "operator"), "mnt", []string{"mtn", "moov"}),
		field.TypeInvalid(field.NewPath("spec", "msisdn"), "integer", `spec.msisdn in body must be of type string: "integer"`),
		field.Invalid(nil, nil, "some validation rules were not checked because the object was invalid"),
	})
	_, noURL := pgconn.ParseConfig("postgres://a:b@[")
	_, noDatabase := pgconn.Connect(t.Context(), "postgres://cauri@127.0.0.1:1/shop?sslmode=disable")
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"no URL of a database":  {noURL, "write postgres://user:password@host"},
		"no database":           {noDatabase, "the database shop at 127.0.0.1 cannot be used as the user cauri: nothing listens at 127.0.0.1:1"},
		"an answer of Postgres": {&pgconn.PgError{Message: "too many connections", Code: "53300"}, "Postgres says: too many connections (53300)"},
		"time is over":          {context.DeadlineExceeded, "no answer came in time"},
		"interrupted":           {fmt.Errorf("reading: %w", context.Canceled), "reading: it was interrupted"},
		"nobody listens":        {&sandboxapi.UnreachableError{Err: refused}, "the API cannot be reached: nothing listens at 127.0.0.1:9"},
		"a URL around it":       {fmt.Errorf("posting: %w", &url.Error{Op: "Get", URL: "http://x", Err: refused}), "posting: nothing listens at"},
		"an address in use":     {inUse, "127.0.0.1:9 is used by another program"},
		"no such host":          {unknown, "there is no host shop.example"},
		"a broken connection":   {&sandboxapi.UnreachableError{Err: io.ErrUnexpectedEOF}, "ended within the answer"},
		"HTTP where TLS is due": {&url.Error{Op: "Get", Err: http.ErrSchemeMismatch}, "write http:// in place of https://"},
		"no file":               {fmt.Errorf("--env-file: %w", noFile), "--env-file: there is no "},
		"a folder":              {folder, "is a folder"},
		"JSON":                  {fmt.Errorf("the answer: %w", json.Unmarshal([]byte("{"), new(any))), "the answer: it is not JSON"},
		"a type in JSON":        {json.Unmarshal([]byte(`"a"`), new(int)), "it is not JSON"},
		"several":               {errors.Join(errors.New("--port=0"), context.DeadlineExceeded), "--port=0\nno answer came in time"},
		"a resource":            {fmt.Errorf("applying a.yaml: %w", invalid), "applying a.yaml: these fields are wrong:\n  spec.environments: "},
		"a value": {invalid, "\n  spec.ttl: \"7d\": write 168h\n  spec.operator: \"mnt\": write one of \"mtn\", " +
			"\"moov\"\n  spec.msisdn: write a string"},
		"a field that is none":  {apierrors.NewBadRequest(`unknown field "spec.a", unknown field "b"`), "\n  spec.a: there is no such field\n  b: there is no such field"},
		"nothing in Kubernetes": {apierrors.NewNotFound(schema.GroupResource{Resource: "secrets"}, "a"), "Kubernetes does not have it"},
		"what a command said":   {kube.Because(context.DeadlineExceeded, "after 3s it is not there"), "after 3s it is not there"},
	} {
		readable(t, name, c.err, c.want)
	}
	if got := Message(invalid); strings.Contains(got, "some validation rules") {
		t.Errorf("%q names what is no mistake", got)
	}
	if !errors.Is(kube.Because(context.DeadlineExceeded, "late"), context.DeadlineExceeded) {
		t.Error("the cause is lost")
	}
}

func TestMistakesInFlagsSayWhatToWrite(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"pay --amount=12.5":               "--amount=12.5: write a whole number, such as 100",
		"pay --wait=perhaps":              "--wait=perhaps: write true or false",
		"pay --timeout=1d":                "--timeout=1d: write a duration in h, m, s or ms",
		"clock advance --by=1d":           "24h for a day",
		"pay --amount":                    "--amount needs a value: write --amount=VALUE, a whole number",
		"pay --amout=3":                   "there is no flag --amout: is it --amount?",
		"pay --zzzzzz":                    "there is no flag --zzzzzz: `cauri pay --help` lists",
		"pay -x":                          "there is no flag -x",
		"pay 1500":                        "write `cauri pay --amount=1500`",
		"verify a b --secret=s":           `"a" is no id of an event`,
		"verify /none --secret=s":         "there is no /none: write the path",
		"payers --env-file=/none":         "--env-file: there is no /none: write the path",
		"verify --secret-file=/none/s":    "there is no folder /none: write the path",
		"expect -f /none":                 "there is no /none: write the path",
		"status --sandbox=a/b":            "there is no kubeconfig",
		"payers --url=http://127.0.0.1:1": "no API key",
	} {
		if strings.HasPrefix(args, "status") {
			args += " --kubeconfig=" + os.DevNull
		}
		r := run(t, Options{}, strings.Fields(args)...)
		readable(t, args, r.err, want)
		if code := ExitCode(r.err); code != ExitUsage || strings.Count(Message(r.err), "/none") > 1 {
			t.Errorf("%s: exit code %d, %q", args, code, Message(r.err))
		}
	}
	readable(t, "nobody listens", run(t, Options{}, "payers", "--url=http://127.0.0.1:1", "--api-key=k").err,
		"the API cannot be reached: nothing listens at 127.0.0.1:1")
	readable(t, "an event", notSent("evt_1", 0, &sandboxapi.RefusedError{Status: 404, Code: "not_found", Message: "None."}),
		"the event evt_1 is not sent again: the API answered 404")
}

// What the API says of a request is not put in doubt; without its answer nobody knows.
func TestUncertainRequestsSayHowToRepeatThem(t *testing.T) {
	t.Parallel()
	const repeat, doubt = "epeat the command with --reference=r1", "It may have been recorded"
	for err, doubtful := range map[error]bool{
		&sandboxapi.UnreachableError{Err: io.EOF}:                                                    true,
		&sandboxapi.RefusedError{Status: 502}:                                                        true,
		&sandboxapi.RefusedError{Status: 503, Code: "unavailable", Message: "Nothing was recorded."}: false,
	} {
		if got := Message(uncertain(err, "r1")); !strings.Contains(got, repeat) || strings.Contains(got, doubt) != doubtful {
			t.Errorf("%v: %s", err, got)
		}
	}
	if got := Message(uncertain(&sandboxapi.RefusedError{Status: 404, Code: "not_found"}, "r1")); strings.Contains(got, repeat) {
		t.Error(got)
	}
}
