package grade

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"regexp"

	"github.com/cauri-dev/cauri/server/webhooks"
)

// rewrites reports whether the receiver parses the body, writes it again and verifies that. Such a receiver refuses events, and gets to
// know the same event if it has the form that its JSON library writes.
func (r *run) rewrites(ctx context.Context) (bool, error) {
	e, err := r.payment()
	if err != nil {
		return false, err
	}
	for _, form := range formsOf(e.body) {
		if err := r.goesOn(ctx); err != nil { // each form is a request
			return false, err
		}
		e.body = form
		if !r.differs(r.Send(ctx, r.sign(e, r.secret))) {
			continue
		}
		again, err := r.send(ctx, lineGenuine) // the receiver did not change in between
		return err == nil && again[0].Status == r.genuine.Status, err
	}
	return false, nil
}

// differs reports whether an answer is another one than that to the genuine event, not by chance.
func (r *run) differs(answer Answer) bool {
	switch answer.Status {
	case 0, r.genuine.Status, http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return false
	}
	return true
}

// formsOf returns an event in the forms that JSON libraries write, each once. The names of fields are in the order of the alphabet,
// fields that are null are left out, and times have no zeros at their end: some libraries write them so, and the others as they read
// them.
func formsOf(event []byte) (forms [][]byte) {
	decoder := json.NewDecoder(bytes.NewReader(zeros.ReplaceAll(event, []byte(`${1}Z"`))))
	decoder.UseNumber()
	var value map[string]any
	if decoder.Decode(&value) != nil {
		return nil
	}
	maps.DeleteFunc(value, func(_ string, of any) bool { return of == nil })
	plain, err := encode(value)
	if err != nil {
		return nil
	}
	forms = [][]byte{plain}
	for _, r := range webhooks.Rewrites(plain) {
		if json.Valid(r.Body) && !bytes.Contains(r.Body, []byte("\n")) { // few programs indent what they sign
			forms = append(forms, r.Body)
		}
	}
	return forms
}

var zeros = regexp.MustCompile(`(T\d\d:\d\d:\d\d(?:\.\d*[1-9])?)\.?0*Z"`)
