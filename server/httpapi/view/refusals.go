package view

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/proof"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// NotRefundable is 422 for a refund of a transaction that is no successful collection.
func NotRefundable(e payments.ErrNotRefundable) *wire.Error {
	return &wire.Error{Status: http.StatusUnprocessableEntity, Code: "not_refundable", Detail: map[string]any{"type": e.Type, "status": e.Status},
		Message: fmt.Sprintf("Only a collection with status SUCCESS can be refunded. This is a %s with status %s.", e.Type, e.Status)}
}

// ExceedsRefundable is 422 for a refund of more than is left of a collection.
func ExceedsRefundable(e payments.ErrExceedsRefundable) *wire.Error {
	message := fmt.Sprintf("The refund is larger than the amount that is left to refund: write %d at most.", e.Refundable)
	if e.Refundable == 0 {
		message = "Nothing is left to refund of this payment."
	}
	return &wire.Error{Status: http.StatusUnprocessableEntity, Code: "exceeds_refundable", Message: message,
		Detail: map[string]any{"refundable": e.Refundable}}
}

// BeingSent is 409 for an event that a worker sends now.
func BeingSent() *wire.Error {
	return &wire.Error{Status: http.StatusConflict, Code: "being_sent",
		Message: "The event is being sent now. Read it in a few seconds, and send the request again if it is still needed."}
}

// NoEnvironment is 404 for a market in which the sandbox has no enabled environment. enabled are those in which it has one,
// sorted.
func NoEnvironment(asked sandboxes.Market, enabled []sandboxes.Market) *wire.Error {
	var names []string
	environments := []map[string]any{}
	for _, m := range enabled {
		names = append(names, fmt.Sprintf("%s in %s", m.Operator, m.Country))
		environments = append(environments, map[string]any{"operator": m.Operator, "country": m.Country})
	}
	return &wire.Error{Status: http.StatusNotFound, Code: "env_not_found",
		Message: fmt.Sprintf("This sandbox has no enabled environment for the operator %s in %s. It has: %s.", asked.Operator, asked.Country,
			someOf(names)),
		Detail: map[string]any{"operator": asked.Operator, "country": asked.Country, "environments": environments}}
}

// NoSuchStore is 404 for a store that is none of the sandbox's, which are sorted.
func NoSuchStore(asked string, stores []string) *wire.Error {
	e := NotFound(fmt.Sprintf("This sandbox has no store %q. Send one of its stores as application: %s.", asked, someOf(stores)))
	e.Detail = map[string]any{"stores": stores}
	return e
}

// someOf returns a text with at most ten names, and the number of the others.
func someOf(names []string) string {
	const most = 10
	if more := len(names) - most; more > 0 {
		names = append(slices.Clone(names[:most]), fmt.Sprintf("and %d more", more))
	}
	return cmp.Or(strings.Join(names, ", "), "none")
}

// NoSuchEvent is 404 for an event.
func NoSuchEvent() *wire.Error {
	return NotFound("There is no event with this id in this sandbox.")
}

// NoSuchPrompt is 404 for a prompt.
func NoSuchPrompt() *wire.Error {
	return NotFound("This test client has no payment with this id to confirm.")
}

// PromptClosed is 409 for a prompt that already has another answer, or has expired.
func PromptClosed(e *ledger.ErrPromptClosed) *wire.Error {
	status := e.Transaction.Status
	return &wire.Error{Status: http.StatusConflict, Code: "prompt_closed",
		Message: fmt.Sprintf("The payment already has the outcome %s. An outcome never changes.", status),
		Detail:  map[string]any{"status": status}}
}

// NoSuchTestClient is 404 for the test client with a number.
func NoSuchTestClient(sandbox *sandboxes.Sandbox, msisdn string) *wire.Error {
	message := "There is no test client with this number in this sandbox."
	if w := operators.CheckLength(sandbox.Known, msisdn); w != nil {
		message += " " + w.String() + "."
	}
	return NotFound(message)
}

// NoSuchAccount is 404 for an account of the ledger.
func NoSuchAccount(sandbox *sandboxes.Sandbox, a proof.Account) *wire.Error {
	if a.MSISDN != "" {
		return NoSuchTestClient(sandbox, a.MSISDN)
	}
	return NotFound("This sandbox has no float in " + string(a.Currency) + ": GET /v1/ledger lists its accounts.")
}

// NotVerified is 503 if no worker verified the ledger in time.
func NotVerified() *wire.Error {
	return &wire.Error{Status: http.StatusServiceUnavailable, Code: "not_verified", RetryAfter: "30",
		Message: "No worker has verified the whole ledger in time. Send the request again, or without verify."}
}

// NoSuchTransaction is 404 for a transaction.
func NoSuchTransaction() *wire.Error {
	return NotFound("There is no transaction with this id in this sandbox.")
}

// DuplicateReference is 409 for a reference that another request has. recorded has the fields in which the two requests
// differ, with what the recorded one sent; nil: it left the field out.
func DuplicateReference(t *payments.Transaction, recorded map[string]any) *wire.Error {
	differ := "it differs in " + strings.Join(slices.Sorted(maps.Keys(recorded)), ", ")
	instead := "Read detail.recorded, and repeat that request exactly, or read the transaction."
	switch {
	case recorded["type"] != nil:
		differ, instead = "a reference is unique over payments, refunds and disbursements", "Read the transaction."
	case recorded["source"] != nil:
		differ, instead = "it was made through the operator's own API, and this API cannot repeat it", "Read the transaction."
	case len(recorded) == 0:
		differ = "its fields were sent otherwise"
	}
	return &wire.Error{Status: http.StatusConflict, Code: "duplicate_reference",
		Message: fmt.Sprintf("The reference %q belongs to the %s %s with status %s: %s. %s A new reference makes another one.",
			t.Reference, t.Type, t.ID, t.Status, differ, instead),
		Detail: map[string]any{
			"transaction": map[string]any{"id": t.ID.String(), "type": t.Type, "status": t.Status}, "recorded": recorded,
		}}
}
