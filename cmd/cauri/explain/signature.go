package explain

import (
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/cauri-dev/cauri/server/advice"
	"github.com/cauri-dev/cauri/server/english"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/webhooks"
)

// Captured is what is known of a request whose signature a receiver refuses. All fields are optional.
type Captured struct {
	Body     []byte      // as it arrived, or as it was signed; nil: not known
	Headers  http.Header // as they arrived
	Computed string      // the signature that the program computed
}

// Diagnosis says why a receiver refuses the signature of an event.
type Diagnosis struct {
	Event   string `json:"event"`
	Summary string `json:"summary"`
	// Cause is a code of the table of causes: signature.verifies if nothing is wrong with what was given.
	Cause      string           `json:"cause"`
	Also       []string         `json:"also,omitempty"`
	Next       []Step           `json:"next"`
	Comparison *wire.Comparison `json:"comparison,omitempty"` // of the API, if there was a body or a header

	advice advice.Advice
	steps  []Step
}

// DiagnoseSignature says why a receiver refuses an event: from the bytes and headers that it got, or from nothing but the signature that it
// computed. With nothing at all it looks for a signature in the answers of the receiver.
func (x *Explainer) DiagnoseSignature(ctx context.Context, event string, got Captured) (*Diagnosis, error) {
	found, err := x.API.Event(ctx, event)
	if err != nil {
		return nil, err
	}
	d, err := x.compared(ctx, &found, &got)
	if err != nil {
		return nil, err
	}
	switch {
	case got.Computed != "":
		own := x.computed(&found, got.Computed)
		tells := d == nil || d.advice.Code == advice.SignatureVerifies
		if own != nil && (tells || own.advice.Code != advice.SignatureUnknown) {
			own.Comparison = comparisonOf(d)
			d = own
		}
	case d == nil:
		if d = x.answeredSignature(&found); d == nil {
			a := advice.Of(advice.SignatureNotLogged)
			a.Steps = []advice.Step{{
				Purpose: "Then tell it the value", Command: "verify", Rest: event + " --computed=SIGNATURE", Tool: "diagnose_signature",
				Arguments: map[string]any{"event": event},
			}}
			d = x.diagnosis(event, a)
		}
	}
	d.Next = d.Next[:min(len(d.Next), mostSteps)]
	return d, nil
}

func comparisonOf(d *Diagnosis) *wire.Comparison {
	if d == nil {
		return nil
	}
	return d.Comparison
}

func (x *Explainer) diagnosis(event string, a advice.Advice, before ...Step) *Diagnosis {
	what, _ := a.Sentences()
	return &Diagnosis{
		Event: event, Summary: x.hidden(what), Cause: string(a.Code), Next: append(slices.Clone(before), StepsOf(&a)...),
		advice: a, steps: before,
	}
}

// compared asks the API to compare what arrived with what was sent; nil: nothing arrived that can be compared.
func (x *Explainer) compared(ctx context.Context, event *wire.EventDetail, got *Captured) (*Diagnosis, error) {
	asked := wire.CompareRequest{
		Signature: got.Headers.Get(webhooks.HeaderSignature), WebhookSignature: got.Headers.Get(webhooks.HeaderStandardSignature),
		WebhookTimestamp: got.Headers.Get(webhooks.HeaderStandardTimestamp), ComputedSignature: got.Computed,
	}
	switch {
	case got.Body != nil && utf8.Valid(got.Body):
		asked.Body = new(string(got.Body))
	case got.Body != nil:
		asked.BodyBase64 = new(base64.StdEncoding.EncodeToString(got.Body))
	case asked.Signature == "" && asked.WebhookSignature == "" && asked.WebhookTimestamp == "":
		if got.Computed == "" || x.Secrets[SigningSecret] != "" { // what it computed is tried here, with the secret
			return nil, nil
		}
	}
	comparison, err := x.API.Compare(ctx, event.ID, asked)
	if err != nil {
		return nil, err
	}
	a := advice.Of(advice.SignatureVerifies)
	var also []string
	for i, cause := range comparison.Causes {
		code := advice.OfComparison(cause.Code)
		if i > 0 {
			also = append(also, string(code))
			continue
		}
		if code == advice.SignatureUnknown && got.Body != nil && comparison.Same { // only the secret is left
			code = advice.OtherSecret
		}
		a = advice.Advice{Code: code, What: english.Say("%s", cause.Message)}
	}
	d := x.diagnosis(event.ID, a)
	d.Comparison, d.Also = &comparison, also
	return d, nil
}

// mostTried is the number of values in the answers of a receiver that are tried as a signature. Each takes up to a second.
const mostTried = 3

// answeredSignature diagnoses a signature in the answers of the receiver; nil: there is none that it computed.
//
// It looks at the answers with the status of the newest one only: who answers otherwise now has another problem. It tries only the
// newest values, because what a receiver answers is not to decide how long this takes.
func (x *Explainer) answeredSignature(event *wire.EventDetail) *Diagnosis {
	var unknown *Diagnosis
	var tried []string
	var newest *int
	for _, a := range slices.Backward(event.Attempts) {
		if isAcknowledged(a.ResponseStatus) || a.ResponseStatus == nil {
			continue
		}
		if newest = cmp.Or(newest, a.ResponseStatus); *newest != *a.ResponseStatus {
			continue
		}
		for _, value := range webhooks.Signatures(a.ResponseBody) {
			if slices.Contains(tried, value) || len(tried) == mostTried {
				continue
			}
			tried = append(tried, value)
			d := x.computed(event, value)
			switch {
			case d == nil || d.advice.Code == advice.SignatureVerifies: // the receiver also tells what it expected
			case d.advice.Code != advice.SignatureUnknown:
				return d
			default:
				unknown = cmp.Or(unknown, d)
			}
		}
	}
	return unknown
}

// computed diagnoses the signature that a receiver computed, by signing the event again here. It returns nil if no secret is known.
func (x *Explainer) computed(event *wire.EventDetail, value string) *Diagnosis {
	if x.Secrets[SigningSecret] == "" {
		return nil
	}
	others := maps.Clone(x.Secrets)
	delete(others, SigningSecret)
	trial := webhooks.Trial{
		ID: event.ID, Timestamps: timestamps(event), Body: []byte(event.Body), Secret: x.Secrets[SigningSecret], Others: others,
	}
	mistakes, fits := trial.Try(value)
	if isOneOf(event, value) { // also if another secret signed than the one that is known here
		mistakes, fits = nil, true
	}
	switch {
	case !fits:
		return x.diagnosis(event.ID, advice.Of(advice.SignatureUnknown), x.fingerprint(event))
	case len(mistakes) == 0:
		return x.diagnosis(event.ID, advice.Of(advice.SignatureVerifies))
	}
	a := ofMistake(&mistakes[0])
	a.Steps = []advice.Step{{
		Purpose: "When it is repaired, send the event again", Command: "resend", Rest: event.ID, Tool: "resend_event", Arguments: map[string]any{"event": event.ID},
	}}
	d := x.diagnosis(event.ID, a)
	for i := range mistakes[1:] {
		more := ofMistake(&mistakes[i+1])
		d.Also = append(d.Also, string(more.Code))
		what, _ := more.Sentences()
		d.Summary += " " + x.hidden(what)
	}
	return d
}

// fingerprint is the step that compares secrets without telling them.
func (x *Explainer) fingerprint(event *wire.EventDetail) Step {
	because := "compares the secrets without telling them"
	if s := event.Signature; s != nil && len(s.Schemes) > 0 && len(s.Schemes[0].Signatures) > 0 {
		because = "the fingerprint of the secret has to be " + s.Schemes[0].Signatures[0].SecretFingerprint
	}
	return Step{Change: `Where the receiver runs: printf %s "$CAURI_WEBHOOK_SECRET" | sha256sum | cut -c1-8`, Because: because}
}

// isOneOf reports whether a value is a signature of the last attempt.
func isOneOf(event *wire.EventDetail, value string) bool {
	if event.Signature == nil {
		return false
	}
	for _, scheme := range event.Signature.Schemes {
		for _, one := range scheme.Signatures {
			if one.Value == strings.TrimSpace(value) {
				return true
			}
		}
	}
	return false
}

// timestamps returns what webhook-timestamp had in the attempts of an event, the last one first. An attempt is signed when it starts, in
// real time, or a moment before.
func timestamps(event *wire.EventDetail) (all []string) {
	add := func(at string) {
		if !slices.Contains(all, at) {
			all = append(all, at)
		}
	}
	if event.Signature != nil {
		for _, h := range event.Signature.Headers {
			if h.Name == webhooks.HeaderStandardTimestamp {
				add(h.Value)
			}
		}
	}
	const most = 3
	for _, a := range slices.Backward(event.Attempts[max(0, len(event.Attempts)-most):]) {
		at := moment(a.RealStartedAt).Unix()
		add(strconv.FormatInt(at, 10))
		add(strconv.FormatInt(at-1, 10))
	}
	return all
}

// ofMistake returns the cause of a mistake.
func ofMistake(m *webhooks.Mistake) advice.Advice {
	switch m.Kind {
	case webhooks.MistakeRewritten:
		return advice.Of(advice.BodyRewritten, m.How)
	case webhooks.MistakeBody:
		code := advice.OfComparison(string(m.Body.Cause))
		switch code {
		case advice.BodyCut:
			return advice.Of(code, m.Size)
		case advice.BodyDecoded, advice.BodyEncoded:
			return advice.Of(code, m.How)
		case advice.BodyEmpty, advice.BodyBlanks:
			return advice.Of(code)
		}
		a := advice.Of(code)
		a.What = english.Say("%s: %s", a.What, m.How)
		return a
	case webhooks.MistakeOtherSecret:
		return advice.Of(advice.OtherSecret, m.How)
	case webhooks.MistakeEmptySecret:
		return advice.Of(advice.EmptySecret)
	case webhooks.MistakeKeyForm:
		return advice.Of(advice.KeyForm, m.How)
	case webhooks.MistakeNoKey:
		return advice.Of(advice.NoKey, m.How)
	case webhooks.MistakeText:
		return advice.Of(advice.SignedText, m.How)
	case webhooks.MistakeForm:
		return advice.Of(advice.OtherForm, m.How)
	}
	return advice.Of(advice.NoHMAC)
}

// Negative reports whether something is wrong with the signature.
func (d *Diagnosis) Negative() bool { return d.Cause != string(advice.SignatureVerifies) }

// String returns the diagnosis as sentences.
func (d *Diagnosis) String() string { return fmt.Sprintf("%s (%s)", d.Summary, d.Cause) }
