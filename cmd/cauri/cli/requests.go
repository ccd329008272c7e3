package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/cauri-dev/cauri/cmd/cauri/sandboxapi"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
)

func (p *program) requestsCommand() *cobra.Command {
	var o output
	var status int
	var path, code string
	var succeeded bool
	var page paging
	cmd := &cobra.Command{
		Use:   "requests",
		Short: "List the requests that were refused and why, or show one with what was sent and answered",
		Long: `List the requests to the sandbox that were not answered 2xx, newest first, each with
the reason, or show one with what was sent and answered. This is the request log: it
keeps the last 500, without headers and credentials.

--succeeded lists those that succeeded too. They are kept from the first use of it on,
until ten minutes after the last one.`,
		Example: "  " + p.called("requests", "") + "\n  " + p.called("requests", "--path=/v1/payments --error=invalid_body") + "\n  " +
			p.called("requests", "log_01JCC5H2M4Q7ZXW3V8R6T9B0YE"),
	}
	t := p.target(cmd, argument{name: "REQUEST", complete: completeRequests})
	flags := cmd.Flags()
	flags.IntVar(&status, "status", 0, "only those answered with an HTTP status, such as 422")
	flags.StringVar(&path, "path", "", "only those whose path begins so, such as /v1/payments")
	flags.StringVar(&code, "error", "", "only those with an error code, such as invalid_body")
	flags.BoolVar(&succeeded, "succeeded", false, "those that succeeded too")
	page.add(cmd, pageShown)
	_ = cmd.RegisterFlagCompletionFunc("error", t.flagCompleter(completeErrors)) // fails only for an unknown flag
	o.add(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := cmp.Or(o.check(), page.check()); err != nil {
			return err
		}
		return t.withAPI(cmd, args, func(ctx context.Context, api *sandboxapi.Client, s *sandbox, rest []string) error {
			if err := p.tellRealTime(ctx, api, cmd.ErrOrStderr(), &o); err != nil {
				return err
			}
			if len(rest) == 1 {
				return p.showRequest(ctx, api, cmd.OutOrStdout(), rest[0], o)
			}
			query := queryOf(map[string]string{"path": path, "error": code})
			if status != 0 {
				query.Set("status", strconv.Itoa(status))
			}
			if succeeded {
				query.Set("all", "true")
			}
			filtered := len(query) > 0
			found, err := api.RequestList(ctx, page.of(query), page.most())
			if err != nil {
				return err
			}
			id := func(r *wire.LoggedRequest) string { return r.ID }
			return printList(cmd, &o, found, id, func(out io.Writer) { s.printRequests(out, found.Data, filtered) })
		})
	}
	return cmd
}

func (s *sandbox) printRequests(out io.Writer, found []wire.LoggedRequest, filtered bool) {
	switch {
	case len(found) > 0:
	case filtered:
		Fprintf(out, "There are no such requests. One is listed about a second after its answer.\n")
		return
	default:
		Fprintf(out, "No request was refused. `%s` lists those that succeed too, from now on.\n", s.command("requests", "--succeeded"))
		return
	}
	rows := make([][]string, 0, len(found))
	for i := range found {
		r := &found[i]
		rows = append(rows, []string{r.ID, clockTime(r.Time), r.Method, r.Path, answerOf(r), reasonOf(r)})
	}
	table(out, Table{
		Titles: "REQUEST TIME METHOD PATH ANSWERED WHY", Rows: rows, Shorten: "WHY PATH ANSWERED", Drop: "TIME METHOD",
	})
	Fprintf(out, "\nOne with what was sent and answered: %s\n", s.command("requests", found[0].ID))
}

// answerOf returns the status of an answer and its error code.
func answerOf(r *wire.LoggedRequest) string {
	answer := "nothing" // the connection was closed without an answer
	if r.Status != nil {
		answer = strconv.Itoa(*r.Status)
	}
	if r.Error != nil {
		answer += " " + *r.Error
	}
	return answer
}

// reasonOf returns the reason in an error answer of any API: the invalid fields, or else the message.
func reasonOf(r *wire.LoggedRequest) string {
	var said struct {
		Message string
		Detail  struct {
			FieldErrors map[string][]string `json:"fieldErrors"`
			Fault       string              // name of the fault that answered
		}
	}
	_ = json.Unmarshal(r.ResponseBody, &said) // said stays empty for a null body or another format
	var fields []string
	for field, problems := range said.Detail.FieldErrors {
		fields = append(fields, field+": "+strings.Join(problems, "; "))
	}
	slices.Sort(fields)
	text := cmp.Or(strings.Join(fields, "; "), said.Message, optional(r.Hint, identity))
	if r.Status != nil && *r.Status == http.StatusUnauthorized {
		text = cmp.Or(text, "no API key of this sandbox") // the log keeps no body of such a request
	}
	if r.Fault == nil {
		return text
	}
	fault := faultsNamed(r.Effects)
	if text == "" || said.Detail.Fault != "" {
		return fault
	}
	return fault + ". " + text
}

// showRequest prints one request. It searches the list, because the API has no route for a single request.
func (p *program) showRequest(ctx context.Context, api *sandboxapi.Client, out io.Writer, id string, o output) error {
	const most = 2000 // more than the log keeps
	for _, query := range []url.Values{nil, {"all": {"true"}}} {
		found, err := api.Requests(ctx, query, most)
		if err != nil {
			return err
		}
		for i := range found {
			if r := &found[i]; r.ID == id {
				return o.print(out, r, []string{r.ID}, func(out io.Writer) { printRequest(out, r) })
			}
		}
	}
	return refusedError{fmt.Errorf("the request log has no %q: write an id that `%s` lists. It keeps the last 500 requests that failed, and "+
		"those that succeeded while somebody looked", id, p.called("requests", ""))}
}

func printRequest(out io.Writer, r *wire.LoggedRequest) {
	Fprintf(out, "%s  %s\n\nSent      %s %s\n", r.ID, clockTime(r.Time), r.Method, r.Path)
	Fprintf(out, "Answered  %s\n", answerOf(r))
	for _, line := range []struct{ title, text string }{
		{"Why      ", reasonOf(r)}, {"Hint     ", optional(r.Hint, identity)}, {"Id       ", optional(r.RequestID, identity)}, {"Not kept ", strings.Join(r.NotKept, ", ")},
	} {
		if line.text != "" {
			Fprintf(out, "%s %s\n", line.title, line.text)
		}
	}
	for _, part := range []struct {
		title string
		body  json.RawMessage
	}{{"The query", r.Query}, {"The body, as it was sent", r.RequestBody}, {"The answer", r.ResponseBody}} {
		var text bytes.Buffer
		if len(part.body) > 0 && string(part.body) != "null" && json.Indent(&text, part.body, "", "  ") == nil {
			Fprintf(out, "\n%s:\n%s\n", part.title, Lines(PrintableLines(text.String())))
		}
	}
}

func completeRequests(ctx context.Context, s *sandbox, _ string) (ids []string) {
	api, err := s.connect(ctx)
	if err != nil {
		return nil
	}
	found, _ := api.Requests(ctx, nil, listed)
	for i := range found {
		r := &found[i]
		ids = append(ids, described(r.ID, strings.Join([]string{r.Method, r.Path, answerOf(r)}, "  ")))
	}
	return ids
}

// completeErrors completes the codes of the errors in the log.
func completeErrors(ctx context.Context, s *sandbox, _ string) (codes []string) {
	api, err := s.connect(ctx)
	if err != nil {
		return nil
	}
	found, _ := api.Requests(ctx, nil, listed)
	for i := range found {
		if code := found[i].Error; code != nil && !slices.Contains(codes, *code) {
			codes = append(codes, *code)
		}
	}
	return codes
}

// requestLog reports the requests of a sandbox when they are logged, about a second after their answers.
type requestLog struct {
	api      *sandboxapi.Client
	interval time.Duration
	newest   string          // id of a request; this and all older requests were reported or skipped
	known    map[string]bool // ids of reported requests
	begun    bool
}

const (
	// requestMemory is the maximum number of remembered ids.
	requestMemory = 5000
	// requestBurst is the maximum number of requests in one poll.
	requestBurst = 1000
)

func (p *program) newRequestLog(api *sandboxapi.Client) changes {
	return &requestLog{api: api, interval: p.poll, known: map[string]bool{}}
}

// Follow implements changes.
func (l *requestLog) Follow(ctx context.Context, tell func(change) error) error {
	for {
		wait, err := l.interval, l.poll(ctx, tell)
		if err != nil {
			if wait, err = retryPause(err, l.begun, wait); err != nil {
				return err
			}
		}
		if err := pause(ctx, wait); err != nil {
			return err
		}
	}
}

// poll reports the new requests, oldest first. The first poll reports nothing; it makes the sandbox log all requests
// from now on.
func (l *requestLog) poll(ctx context.Context, tell func(change) error) error {
	found, err := l.api.RequestsUntil(ctx, requestBurst, func(oldest wire.LoggedRequest) bool { return !l.begun || l.isKnown(&oldest) })
	if err != nil {
		return err
	}
	for _, r := range slices.Backward(found) {
		if l.begun && !l.isKnown(&r) {
			if err := tell(change{Entry: sandboxapi.Entry{Type: typeRequest}, Request: &r}); err != nil {
				return err
			}
		}
		l.known[r.ID] = true
	}
	if len(found) > 0 && (!l.begun || len(l.known) > requestMemory) {
		l.forget(found)
	}
	l.begun = true
	return nil
}

func (l *requestLog) isKnown(r *wire.LoggedRequest) bool { return r.ID <= l.newest || l.known[r.ID] }

// forget removes all ids except those of the requests in newest. It does not report older requests any more.
func (l *requestLog) forget(newest []wire.LoggedRequest) {
	l.newest, l.known = newest[len(newest)-1].ID, map[string]bool{}
	for i := range newest {
		l.known[newest[i].ID] = true
	}
}
