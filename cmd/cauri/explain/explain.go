// Package explain says what happened to a transaction, an event, a request, a check, an order, a number or an operator's id: a
// timeline, the cause and what to do. It asks the API of the sandbox, and prints nothing: the command line and `cauri mcp` tell
// it.
package explain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/cauri-dev/cauri/cmd/cauri/sandboxapi"
	"github.com/cauri-dev/cauri/server/advice"
	"github.com/cauri-dev/cauri/server/english"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/secrets"
)

// Explainer explains what happened in one sandbox.
type Explainer struct {
	API *sandboxapi.Client
	// Secrets are the secrets of .env.cauri or of the Secret, by the names of their variables. No explanation has one of them.
	Secrets map[string]string
	Now     func() time.Time // by the clock of this machine
}

// SigningSecret is the name of the secret of a sandbox that signs its events, in [Explainer.Secrets].
const SigningSecret = "CAURI_WEBHOOK_SECRET"

// Explanation says what happened to something.
type Explanation struct {
	ID      string `json:"id"`   // what was asked about
	Kind    Kind   `json:"kind"` // what it is
	Summary string `json:"summary"`
	// Cause is a code of the table of causes. It is empty if all is well.
	Cause    string   `json:"cause,omitempty"`
	Also     []string `json:"also,omitempty"` // codes of further causes
	Next     []Step   `json:"next"`           // at most three
	Timeline []Moment `json:"timeline"`       // in order
}

// Kind is what an explanation is about.
type Kind string

// The kinds.
const (
	Transaction Kind = "transaction"
	Event       Kind = "event"
	Request     Kind = "request"
	Check       Kind = "check"
	Order       Kind = "order"
	Number      Kind = "number"
)

// Step is something that helps: a tool of `cauri mcp`, the command that does the same, or a change in the code or the configuration.
type Step struct {
	Tool      string         `json:"tool,omitempty"`
	Arguments map[string]any `json:"arguments,omitempty"`
	Command   string         `json:"command,omitempty"`
	Change    string         `json:"change,omitempty"`
	Because   string         `json:"because"`
}

// Moment is something that happened, or that will.
type Moment struct {
	At   string `json:"at,omitempty"` // ISO 8601, UTC, in sandbox time; empty: not known
	What string `json:"what"`         // request, prompt, settlement, event, attempt, refund, fault, wait, line
	ID   string `json:"id,omitempty"` // of what happened
	Text string `json:"text"`
	// Said is a text that somebody else wrote, such as what a receiver answered. It is data, never an instruction.
	Said string `json:"said,omitempty"`
	Cut  bool   `json:"cut,omitempty"` // whether Said has only the beginning
}

// NotFoundError is returned for an id that the sandbox does not have.
type NotFoundError struct {
	ID   string
	Kind string   // in words
	Has  []string // ids that it has
}

func (e *NotFoundError) Error() string {
	text := fmt.Sprintf("the sandbox has no %s %q", e.Kind, e.ID)
	if len(e.Has) > 0 {
		return text + ". The newest: " + strings.Join(e.Has, ", ")
	}
	return text + ", and none at all. A reset removes transactions, events and requests"
}

const (
	mostSteps = 3
	maxSaid   = 2 << 10 // bytes of a text that somebody else wrote
	mostRows  = 100     // of a list that is read
)

// number matches phone numbers, also in wrong forms.
var number = regexp.MustCompile(`^\+?[0-9][0-9 ]{5,17}$`)

// Explain says what happened to an id: TX_, evt_, log_ or chk_, a reference, an order, a number, or an id that the operator gave
// to one of the newest 100 transactions. It returns [NotFoundError], or the error of the API.
func (x *Explainer) Explain(ctx context.Context, id string) (*Explanation, error) {
	id = strings.TrimSpace(id)
	e := &explaining{Explainer: x, Explanation: Explanation{ID: id}}
	var err error
	switch {
	case strings.HasPrefix(id, "TX_"):
		err = e.transaction(ctx, id)
	case strings.HasPrefix(id, "evt_"):
		err = e.event(ctx, id)
	case strings.HasPrefix(id, "log_"):
		err = e.request(ctx, id)
	case strings.HasPrefix(id, wire.CheckPrefix):
		err = e.check(ctx, id)
	case number.MatchString(id):
		err = e.number(ctx, strings.ReplaceAll(id, " ", ""))
	default:
		err = e.named(ctx, id)
	}
	if err != nil {
		return nil, err
	}
	return e.finished(), nil
}

// explaining is an explanation that is being made.
type explaining struct {
	*Explainer
	Explanation

	found []advice.Advice // the causes, the first one first
	steps []Step          // of the first cause
	clock *wire.Clock
	late  *wire.LoggedRequest // the newest refused request about the transaction; nil: there is none
}

// blame adds a cause. The first one is the cause of the explanation.
func (e *explaining) blame(a advice.Advice, before ...Step) {
	if slices.ContainsFunc(e.found, func(known advice.Advice) bool { return known.Code == a.Code }) {
		return
	}
	e.found = append(e.found, a)
	if len(e.found) == 1 {
		e.steps = append(before, StepsOf(&a)...)
	}
}

// finished returns the explanation with its causes, within its bounds.
func (e *explaining) finished() *Explanation {
	for i := range e.found {
		if i == 0 {
			e.Cause = string(e.found[i].Code)
			continue
		}
		e.Also = append(e.Also, string(e.found[i].Code))
	}
	e.Next = append([]Step{}, e.steps[:min(len(e.steps), mostSteps)]...)
	slices.SortStableFunc(e.Timeline, func(a, b Moment) int {
		if a.At == "" || b.At == "" {
			return 0
		}
		return cmp.Compare(moment(a.At).UnixNano(), moment(b.At).UnixNano())
	})
	if e.Timeline == nil {
		e.Timeline = []Moment{}
	}
	e.hideSecrets()
	return &e.Explanation
}

// hideSecrets removes the known secrets from what others wrote: a receiver may answer its own secret.
func (e *explaining) hideSecrets() {
	for i := range e.Timeline {
		m := &e.Timeline[i]
		m.Said, m.Text = e.hidden(m.Said), e.hidden(m.Text)
	}
	e.Summary = e.hidden(e.Summary)
	for i := range e.Next {
		e.Next[i].Change = e.hidden(e.Next[i].Change)
	}
}

func (x *Explainer) hidden(text string) string {
	for _, secret := range x.Secrets {
		if len(secret) >= secrets.Shortest {
			for _, form := range secrets.Encodings(secret) {
				text = strings.ReplaceAll(text, form, "[secret]")
			}
		}
	}
	return secrets.Form.ReplaceAllString(text, "[secret]")
}

// tell adds a moment to the timeline.
func (e *explaining) tell(at, what, id, text string, args ...any) {
	e.Timeline = append(e.Timeline, Moment{At: at, What: what, ID: id, Text: fmt.Sprintf(text, args...)})
}

// quote adds a text that somebody else wrote to the last moment.
func (e *explaining) quote(said string) {
	last := &e.Timeline[len(e.Timeline)-1]
	if said = strings.TrimSpace(said); len(said) > maxSaid {
		said, last.Cut = strings.ToValidUTF8(said[:maxSaid], ""), true
	}
	last.Said = said
}

// StepsOf returns the steps of an advice. What to do in the code or the configuration is one of them: the second one, or the first one if
// all others come after it.
func StepsOf(a *advice.Advice) []Step {
	steps := []Step{}
	changed, at := false, 0
	for i := range a.Steps {
		s := &a.Steps[i]
		step := Step{Tool: s.Tool, Arguments: s.Arguments, Change: s.Change, Because: strings.TrimSuffix(s.Purpose, ":")}
		if s.Command != "" {
			step.Command = s.String()
		}
		steps, changed = append(steps, step), changed || s.Change != ""
		if i == 0 && !strings.HasPrefix(s.Purpose, "When ") {
			at = 1
		}
	}
	if what, do := a.Sentences(); do != "" && !changed {
		steps = slices.Insert(steps, at, Step{Change: do, Because: what})
	}
	return steps
}

// OfAPI returns an advice of the API as the API's own parts have it.
func OfAPI(a *wire.Advice) advice.Advice {
	own := advice.Advice{Code: advice.Code(a.Cause), What: english.Say("%s", a.Message), Do: english.Say("%s", a.Action)}
	for _, s := range a.Next {
		before, command, _ := strings.Cut(s.Command, "cauri ")
		name, rest, _ := strings.Cut(command, " ")
		own.Steps = append(own.Steps, advice.Step{
			Purpose: s.Because, Before: strings.TrimSpace(before), Command: name, Rest: rest, Tool: s.Tool, Arguments: s.Arguments,
		})
	}
	return own
}

// OfError returns the cause of an error that a request to the API met, for those who tell it: the refusal of the API, or that it was not
// reached. It returns false for any other error.
func OfError(err error) (a advice.Advice, ok bool) {
	var refused *sandboxapi.RefusedError
	if errors.As(err, &refused) && refused.Code != "" {
		return advice.OfRefusal(refused.Code, refused.Message), true
	}
	var unreachable *sandboxapi.UnreachableError
	if errors.As(err, &unreachable) {
		return advice.Of(advice.SandboxUnreachable, "the sandbox"), true
	}
	return a, false
}

// moment parses a time of the API; zero for an invalid text.
func moment(text string) time.Time {
	at, _ := time.Parse(time.RFC3339Nano, text)
	return at
}

func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}
