package explain

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/cauri-dev/cauri/cmd/cauri/sandboxapi"
	"github.com/cauri-dev/cauri/server/advice"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/payments"
)

// named explains a reference or an order.
func (e *explaining) named(ctx context.Context, id string) error {
	found, err := e.API.Payments(ctx, url.Values{"reference": {id}}, 1)
	if err != nil {
		return err
	}
	order, err := e.API.Payments(ctx, url.Values{"order_ref": {id}}, mostRows)
	if err != nil {
		return err
	}
	payments := slices.DeleteFunc(slices.Clone(order), func(p wire.Payment) bool { return p.ParentTxID != nil })
	switch {
	case len(found) == 1 && len(payments) < 2:
		return e.ofTransaction(ctx, &found[0])
	case len(payments) == 1:
		return e.ofTransaction(ctx, &payments[0])
	case len(order) > 0:
		return e.ofOrder(ctx, order)
	}
	return e.neverRecorded(ctx, id)
}

// ofOrder explains an order of several transactions, which are listed with the newest first.
func (e *explaining) ofOrder(ctx context.Context, all []wire.Payment) error {
	e.Kind = Order
	for i := range all {
		t := &all[i]
		e.tell(t.CreatedAt, "request", t.ID, "%s of %s for %s, reference %s: %s", noun(t.Type), money(t.Amount, t.Currency), t.MSISDN, word(t.Reference), t.Status)
	}
	e.Summary = fmt.Sprintf("The order has %d transactions", len(all))
	e.paidTwice(all)
	if len(e.found) > 0 {
		e.summarize("")
		return nil
	}
	summary := fmt.Sprintf("%s. The last one: ", e.Summary)
	timeline := e.Timeline
	e.Timeline = nil
	if err := e.ofTransaction(ctx, &all[0]); err != nil {
		return err
	}
	e.Kind, e.Summary = Order, summary+e.Summary
	e.Timeline = append(slices.DeleteFunc(timeline, func(m Moment) bool { return m.ID == all[0].ID }), e.Timeline...)
	return nil
}

// neverRecorded explains a reference or an order of which only refused requests are known.
func (e *explaining) neverRecorded(ctx context.Context, id string) error {
	found, err := e.refused(ctx, func(_ *wire.LoggedRequest, sent map[string]string) bool {
		return sent["reference"] == id || sent["order_ref"] == id
	})
	if err != nil {
		return err
	}
	if len(found) == 0 {
		return e.nothingNamed(ctx, id)
	}
	e.Kind = Request
	for _, r := range found {
		e.tellRequest(r)
	}
	e.blame(OfRequest(found[len(found)-1]))
	e.Summary = fmt.Sprintf("No transaction was recorded: the request was answered %s", answered(found[len(found)-1]))
	e.summarize("")
	return nil
}

// nothingNamed explains an id that an operator gave to one of the newest transactions, such as a receipt of M-Pesa. Other ids
// name nothing.
func (e *explaining) nothingNamed(ctx context.Context, id string) error {
	newest, err := e.API.Payments(ctx, nil, mostRows)
	if err != nil {
		return err
	}
	if quoted, err := json.Marshal(id); err == nil && isOperatorID(id) {
		for i := range newest {
			if bytes.Contains(newest[i].Raw, append([]byte{':'}, quoted...)) {
				return e.ofTransaction(ctx, &newest[i])
			}
		}
	}
	missing := &NotFoundError{ID: id, Kind: "transaction, event, request, check, reference, order, number or id of an operator"}
	for i := range newest[:min(len(newest), 5)] {
		has := newest[i].Reference
		if !isWord.MatchString(has) {
			has = newest[i].ID
		}
		missing.Has = append(missing.Has, has)
	}
	return missing
}

// isOperatorID reports whether an id may be one of an operator, and is neither a word nor an amount of a payload.
func isOperatorID(id string) bool {
	return len(id) >= 8 && strings.ContainsFunc(id, unicode.IsLetter) && strings.ContainsFunc(id, unicode.IsDigit)
}

// number explains a phone number: who has it, and what its last transaction and its refused requests are.
func (e *explaining) number(ctx context.Context, msisdn string) error {
	e.Kind = Number
	international := msisdn
	if !strings.HasPrefix(msisdn, "+") {
		international = "+" + msisdn
		if !hasCallingCode(msisdn) && operators.CheckLength(nil, international) == nil { // of some operators' own APIs, numbers have no plus sign
			e.blame(advice.Of(advice.NumberForm, msisdn))
		}
	}
	if err := e.holder(ctx, international); err != nil {
		return err
	}
	sent, err := e.refused(ctx, func(_ *wire.LoggedRequest, sent map[string]string) bool { return sent["msisdn"] == msisdn })
	if err != nil {
		return err
	}
	for _, r := range sent {
		e.tellRequest(r)
	}
	if len(sent) > 0 {
		e.blame(OfRequest(sent[len(sent)-1]))
	}
	last, err := e.API.Payments(ctx, url.Values{"msisdn": {international}}, 5)
	if err != nil && !isInvalid(err) {
		return err
	}
	for i := range last {
		t := &last[i]
		e.tell(t.CreatedAt, "request", t.ID, "%s of %s, reference %s: %s", noun(t.Type), money(t.Amount, t.Currency), word(t.Reference), t.Status)
	}
	e.summarize("")
	return nil
}

// hasCallingCode reports whether digits are a number of a country with its calling code.
func hasCallingCode(digits string) bool {
	return slices.ContainsFunc(payments.Countries, func(c payments.Country) bool {
		return strings.HasPrefix(digits, c.CallingCode()) && len(digits) == len(c.CallingCode())+c.Facts().Digits
	})
}

// isInvalid reports whether the API refused the form of a number.
func isInvalid(err error) bool {
	a, ok := OfError(err)
	return ok && a.Code == "request.invalid_params"
}

// holder says who has a number.
func (e *explaining) holder(ctx context.Context, msisdn string) error {
	payer, err := e.API.Payer(ctx, msisdn)
	if err == nil {
		e.Summary = fmt.Sprintf("The test client %s (%s) is of %s in %s, has %s and the behavior %s", word(payer.Name), msisdn, payer.Operator, payer.Country,
			money(payer.Balance, payer.Currency), payer.Behavior)
		if payer.Name == "" {
			e.Summary = strings.Replace(e.Summary, "The test client  ", "The test client ", 1)
		}
		if payer.State == wire.StateBlocked {
			a := advice.Of(advice.NumberBlocked, msisdn)
			if payer.Source == "api" {
				a.Steps = []advice.Step{saving("Let the number pay again", msisdn, "state", wire.StateActive)}
			}
			e.blame(a)
		}
		return nil
	}
	if !sandboxapi.IsNotFound(err) && !isInvalid(err) {
		return err
	}
	numbers, err := e.API.TestNumbers(ctx)
	if err != nil {
		return err
	}
	for i := range numbers {
		if n := &numbers[i]; n.MSISDN == msisdn {
			e.Summary = fmt.Sprintf("%s is a test number of %s in %s: %s A payment from it ends %s", msisdn, n.Operator, n.Country, n.Description, n.CollectionOutcome)
			return nil
		}
	}
	e.Summary = fmt.Sprintf("Nobody has the number %s", msisdn)
	if w := operators.CheckLength(nil, msisdn); w != nil {
		a := advice.Of(advice.NumberForm, msisdn)
		a.What = w.Phrase()
		e.blame(a)
		return nil
	}
	a := advice.Of(advice.NumberUnknown, msisdn)
	a.Steps = []advice.Step{whoCanPay}
	e.blame(a)
	return nil
}
