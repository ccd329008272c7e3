package explain

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/cauri-dev/cauri/server/advice"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
)

// mostLogged is more than the request log keeps.
const mostLogged = 2000

func (e *explaining) request(ctx context.Context, id string) error {
	e.Kind = Request
	missing := &NotFoundError{ID: id, Kind: "request"}
	for _, query := range []url.Values{nil, {"all": {"true"}}} {
		found, err := e.API.Requests(ctx, query, mostLogged)
		if err != nil {
			return err
		}
		for i := range found {
			if r := &found[i]; r.ID == id {
				e.ofRequest(r)
				return nil
			}
			if len(missing.Has) < 5 && query == nil {
				missing.Has = append(missing.Has, found[i].ID)
			}
		}
	}
	return missing
}

// ofRequest explains a request of the log.
func (e *explaining) ofRequest(r *wire.LoggedRequest) {
	e.tellRequest(r)
	e.Summary = fmt.Sprintf("%s %s was answered %s", r.Method, r.Path, answered(r))
	if r.Status != nil && *r.Status/100 == 2 && r.Fault == nil {
		e.Summary += "."
		return
	}
	e.blame(OfRequest(r))
	e.summarize("")
}

// tellRequest adds a request to the timeline. Its time is real.
func (e *explaining) tellRequest(r *wire.LoggedRequest) {
	e.tell(r.Time, "request", r.ID, "%s %s answered %s", r.Method, r.Path, answered(r))
	if len(r.RequestBody) > 0 && string(r.RequestBody) != "null" {
		e.quote(string(r.RequestBody))
	}
}

func answered(r *wire.LoggedRequest) string {
	if r.Status == nil {
		return "nothing"
	}
	return strings.TrimSpace(fmt.Sprintf("%d %s", *r.Status, value(r.Error)))
}

// refusal is what the log has of the answer to a request, and of the fields that were sent.
type refusal struct {
	Message string
	Detail  struct {
		FieldErrors map[string][]string `json:"fieldErrors"`
		Transaction struct{ ID string }
		Refundable  *int64
		Stores      []string
		Recorded    map[string]any
	}
	sent map[string]json.RawMessage
}

func refusalOf(r *wire.LoggedRequest) (said refusal) {
	_ = json.Unmarshal(r.ResponseBody, &said) // stays empty for another format
	_ = json.Unmarshal(r.RequestBody, &said.sent)
	return said
}

// OfRequest returns why a request was refused, with what to send instead of each wrong field.
func OfRequest(r *wire.LoggedRequest) advice.Advice {
	if r.Fault != nil {
		a := advice.Of(advice.RequestFault, strings.Join(r.Effects, "; "))
		a.Steps = []advice.Step{{Purpose: "This shows the faults that are on", Command: "faults", Tool: "switch_fault", Arguments: map[string]any{}}}
		return a
	}
	if r.Status == nil {
		return advice.Of(advice.NoAnswer)
	}
	said, code := refusalOf(r), value(r.Error)
	if code == "" && *r.Status == http.StatusUnauthorized {
		code = "unauthorized"
	}
	a := advice.OfRefusal(code, said.Message)
	switch {
	case code == "invalid_body" || code == "invalid_params":
		return wrongFields(code, &said)
	case code == "not_found" && len(said.Detail.Stores) > 0:
		a = advice.Of(advice.UnknownStore, short(string(said.sent["application"])))
		a.Steps = []advice.Step{{
			Change: "Send one of these as application: " + strings.Join(said.Detail.Stores, ", "), Purpose: "These are the stores of the sandbox",
		}}
	case slices.Contains(afterwards, code):
		if of := said.transaction(r); of != "" {
			a.Steps = []advice.Step{{
				Purpose: "This tells what happened to that transaction", Command: "explain", Rest: of, Tool: "explain", Arguments: map[string]any{"id": of},
			}}
		}
	case a.Code == advice.RefusedOther:
		a = advice.Of(advice.RefusedOther, strings.TrimSpace(answered(r)+" "+value(r.Hint)))
	}
	return a
}

// transaction returns the transaction that a refusal is about; empty for none.
func (s *refusal) transaction(r *wire.LoggedRequest) string {
	if s.Detail.Transaction.ID != "" {
		return s.Detail.Transaction.ID
	}
	for part := range strings.SplitSeq(r.Path, "/") {
		if strings.HasPrefix(part, "TX_") {
			return part
		}
	}
	return ""
}

// wrongFields returns the cause of a request with wrong fields. If the only one is the amount or the number, it has a cause of its own.
func wrongFields(code string, said *refusal) (a advice.Advice) {
	wrong := said.Detail.FieldErrors
	names := slices.Sorted(maps.Keys(wrong))
	var texts []string
	var steps []advice.Step
	for _, name := range names {
		problem := strings.Join(wrong[name], "; ")
		texts = append(texts, name+" "+problem)
		step := advice.Step{Change: name + ": " + problem, Purpose: "The request leaves it out"}
		if sent := said.sent[name]; sent != nil {
			step.Purpose = "The request sends " + short(string(sent))
		}
		if own := fieldCauses[name]; own != "" {
			step.Change += ". " + advice.Of(own, "").Do.String()
		}
		steps = append(steps, step)
	}
	switch {
	case len(names) == 1 && said.sent[names[0]] != nil && fieldCauses[names[0]] != "":
		a = advice.Of(fieldCauses[names[0]], short(string(said.sent[names[0]])))
	case len(texts) > 0:
		a = advice.OfRefusal(code, "These fields are wrong: "+strings.Join(texts, "; "))
	default:
		a = advice.OfRefusal(code, said.Message)
	}
	a.Steps = steps
	return a
}

// fieldCauses are the fields whose wrong form has a cause of its own.
var fieldCauses = map[string]advice.Code{"amount": advice.AmountForm, "msisdn": advice.NumberForm}

// plainValue matches values that may stand in a sentence: an amount, a number, the slug of a store. A longer text could say anything.
var plainValue = regexp.MustCompile(`^"?[A-Za-z0-9 .,+_-]{0,24}"?$`)

// isWord matches a name that somebody chose, such as a reference or the name of a test client, which is one word.
var isWord = regexp.MustCompile(`^[\pL\pN.,:;/#+_-]{0,80}$`)

// word returns a name that somebody chose if it is one word. Several words may be a sentence, which an agent could follow.
func word(name string) string {
	if isWord.MatchString(name) {
		return name
	}
	return "(several words)"
}

// short returns a value that was sent, or what it is.
func short(value string) string {
	if plainValue.MatchString(value) {
		return value
	}
	return "another text, which is in the timeline"
}

// afterwards are refusals that a request meets only after the transaction was recorded.
var afterwards = []string{"duplicate_reference", "exceeds_refundable", "not_refundable"}

// refusedWith tells the refused requests that have a reference or are about a transaction.
func (e *explaining) refusedWith(ctx context.Context, reference, id string) error {
	found, err := e.refused(ctx, func(r *wire.LoggedRequest, sent map[string]string) bool {
		return sent["reference"] == reference || id != "" && strings.Contains(r.Path, id)
	})
	for _, r := range found {
		e.tellRequest(r)
		if slices.Contains(afterwards, value(r.Error)) {
			e.late = r
		}
	}
	return err
}

// refused returns the newest refused requests that fit, at most ten, the oldest first.
func (e *explaining) refused(
	ctx context.Context, fits func(r *wire.LoggedRequest, sent map[string]string) bool,
) (found []*wire.LoggedRequest, err error) {
	all, err := e.API.Requests(ctx, nil, mostRows)
	if err != nil {
		return nil, err
	}
	const most = 10
	for i := range all {
		sent := map[string]any{}
		_ = json.Unmarshal(all[i].RequestBody, &sent) // stays empty for another format
		texts := map[string]string{}
		for name, value := range sent {
			texts[name] = fmt.Sprint(value)
		}
		if len(found) < most && fits(&all[i], texts) {
			found = append(found, &all[i])
		}
	}
	slices.Reverse(found)
	return found, nil
}
