package cli

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/net/http/httpguts"

	"github.com/cauri-dev/cauri/cmd/cauri/kube"
	"github.com/cauri-dev/cauri/cmd/cauri/sandboxapi"
)

// requestFlags are the flags of `cauri api`.
type requestFlags struct {
	data           string
	query, headers []string
	include        bool
	errors         lineOutput
}

// httpMethods are the usual methods of requests.
var httpMethods = []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodHead}

var likelyMethod = regexp.MustCompile("^(?i:" + strings.Join(httpMethods, "|") + ")$")

func (p *program) apiCommand() *cobra.Command {
	var f requestFlags
	cmd := &cobra.Command{
		Use:   "api",
		Short: "Send one request with the sandbox's key, and print the answer as it came",
		Long: `Send one request with the sandbox's key, and print the body of the answer as it came.

PATH is a path of /v1: /payments and /v1/payments are the same. It may also be one of an
operator's own API, below /operators. The key of the sandbox is not sent there: write the
credentials of that API with -H.

Nothing is added to the request but the key, if no -H has Authorization, and
Content-Type: application/json for a body of JSON. A header without a value, such as
-H "Authorization:", is left out. A redirect is not followed, and nothing is sent twice.

The exit code is 0 for an answer below 400, 4 for 429 and from 500 on, and 3 for others.`,
		Example: "  " + p.called("api", "GET /payments -q status=TIMEOUT -q limit=5") + "\n  " +
			p.called("api", `POST /test_clients -d '{"msisdn":"+250788123456","name":"alice"}'`) + "\n  " +
			p.called("api", "POST /payments -d @payment.json -i"),
	}
	t := p.target(cmd, argument{name: "METHOD", required: true, complete: completeMethods, form: likelyMethod},
		argument{name: "PATH", required: true, complete: completePaths})
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return p.orServe(FlagError(cmd, err)) })
	counted := cmd.Args
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		_, rest := t.split(args)
		if len(rest) == 1 && strings.HasPrefix(rest[0], "/") {
			return usage(fmt.Errorf("METHOD is missing: write `%s`", p.called("api", "GET "+rest[0])))
		}
		return p.orServe(counted(cmd, args))
	}
	flags := cmd.Flags()
	flags.StringVarP(&f.data, "data", "d", "", "the body, @FILE for that of a file, or - for the standard input")
	flags.StringArrayVarP(&f.query, "query", "q", nil, "parameter of the query, name=value, which is escaped; may be repeated")
	flags.StringArrayVarP(&f.headers, "header", "H", nil, "header, \"Name: value\"; may be repeated")
	flags.BoolVarP(&f.include, "include", "i", false, "print the status and the headers of the answer too")
	f.errors.add(cmd)
	cmd.Flag("output").Usage = "json: errors are one JSON object too; the answer is always as it came"
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := f.errors.check(); err != nil {
			return err
		}
		_, rest := t.split(args)
		request, err := f.request(cmd.InOrStdin(), rest[0])
		if err != nil {
			return usage(err)
		}
		return t.withAPI(cmd, args, func(ctx context.Context, api *sandboxapi.Client, s *sandbox, rest []string) error {
			if request.Path, err = f.path(s, rest[1]); err != nil {
				return usage(err)
			}
			return api.Send(ctx, request, func(answer *http.Response) error {
				return printAnswer(cmd.OutOrStdout(), answer, f.include)
			})
		})
	}
	return cmd
}

// orServe adds to an error of the command line how the server is started, because `cauri api` once did that.
func (p *program) orServe(err error) error {
	if err == nil || p.Plugin {
		return err
	}
	return usage(fmt.Errorf("%w. `cauri api` sends a request; `cauri serve api` runs the server", err))
}

// request returns the request without its path. Its errors have no value of a header or of the body, which may be
// secrets.
func (f *requestFlags) request(in io.Reader, method string) (r sandboxapi.Request, err error) {
	if !httpguts.ValidHeaderFieldName(method) {
		return r, fmt.Errorf("%q is no method: write one of %s", method, strings.Join(httpMethods, ", "))
	}
	r.Method, r.Header = strings.ToUpper(method), http.Header{}
	for _, header := range f.headers {
		name, value, found := strings.Cut(header, ":")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		switch {
		case !found, !httpguts.ValidHeaderFieldName(name):
			return r, errors.New(`a value of --header is no header: write "Name: value"`)
		case !httpguts.ValidHeaderFieldValue(value):
			return r, fmt.Errorf("--header: the value of %s has a character that no header may have", name)
		}
		r.Header.Add(name, value)
	}
	file, isFile := strings.CutPrefix(f.data, "@")
	switch {
	case isFile || f.data == "-":
		r.Body, err = readFileOrInput(file, in)
	default:
		r.Body = []byte(f.data)
	}
	return r, err
}

// path returns the path of the request with its query. An argument may also be a whole URL of the sandbox.
func (f *requestFlags) path(s *sandbox, argument string) (string, error) {
	path := argument
	if of, is := strings.CutPrefix(path, strings.TrimRight(s.uri, "/")+"/"); is {
		path = of
	}
	if strings.Contains(path, "://") {
		return "", fmt.Errorf("%s is not in this sandbox, and its key goes nowhere else: write a path, such as /payments", argument)
	}
	at, err := url.Parse("/" + strings.TrimLeft(path, "/"))
	if err != nil {
		return "", fmt.Errorf("%q is no path: write one such as /payments", argument)
	}
	query := url.Values{}
	for _, parameter := range f.query {
		name, value, found := strings.Cut(parameter, "=")
		if !found || name == "" {
			return "", fmt.Errorf("--query=%s: write name=value", parameter)
		}
		query.Add(name, value)
	}
	if at.RawQuery != "" && len(query) > 0 {
		at.RawQuery += "&"
	}
	at.RawQuery += query.Encode()
	at.Fragment = ""
	return at.String(), nil
}

// printAnswer prints an answer. Its error says that the request was refused.
func printAnswer(out io.Writer, answer *http.Response, include bool) error {
	if include {
		var head bytes.Buffer
		_ = answer.Header.Write(&head) // a buffer takes everything
		Fprintf(out, "%s %s\n%s\n", answer.Proto, answer.Status, Lines(PrintableLines(strings.ReplaceAll(head.String(), "\r\n", "\n"))))
	}
	if answer.StatusCode < http.StatusBadRequest {
		return printBody(out, answer.Body)
	}
	var begin bytes.Buffer
	if err := printBody(out, io.TeeReader(answer.Body, &begin)); err != nil {
		return err
	}
	var said struct {
		Error  string
		Detail map[string]any
	}
	_ = json.Unmarshal(begin.Bytes(), &said) // both stay empty for the error of an operator
	refused := &sandboxapi.RefusedError{Status: answer.StatusCode, RequestID: answer.Header.Get("X-Request-Id"), Detail: said.Detail}
	return kube.Because(codedError{refused, cmp.Or(said.Error, "refused")}, "the answer is %s", answer.Status)
}

// printBody prints a body as it came. On a terminal, it escapes what is unsafe there, and ends the last line.
func printBody(out io.Writer, body io.Reader) error {
	if !terminal(out) {
		_, err := io.Copy(out, body)
		return err
	}
	for lines := bufio.NewReader(body); ; {
		line, err := lines.ReadString('\n')
		if line != "" {
			if err := writeBytes(out, strings.TrimSuffix(PrintableLines(line), "\n")+"\n"); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// completePaths returns the paths of /v1 that have no parameter, with their methods, from the API's description.
func completePaths(ctx context.Context, s *sandbox, _ string) (paths []string) {
	api, err := s.connect(ctx)
	if err != nil {
		return nil
	}
	var document struct{ Paths map[string]map[string]any }
	_ = api.Send(ctx, sandboxapi.Request{Method: http.MethodGet, Path: "/openapi.json"}, func(answer *http.Response) error {
		return json.NewDecoder(answer.Body).Decode(&document) // after an error there are no completions
	})
	for _, path := range slices.Sorted(maps.Keys(document.Paths)) {
		if !strings.Contains(path, "{") {
			methods := strings.ToUpper(strings.Join(slices.Sorted(maps.Keys(document.Paths[path])), " "))
			paths = append(paths, described(strings.TrimPrefix(path, "/v1"), methods))
		}
	}
	return paths
}

func completeMethods(context.Context, *sandbox, string) []string { return httpMethods }
