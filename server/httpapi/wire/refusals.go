package wire

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/proof"
)

// RefundRefusal returns the answer to an error of a refund. It returns other errors unchanged.
func RefundRefusal(err error) error {
	var exceeds payments.ErrExceedsRefundable
	switch {
	case errors.Is(err, ledger.ErrNotFound):
		return NoSuchTransaction()
	case errors.Is(err, payments.ErrNotRefundable):
		return &Error{Status: http.StatusUnprocessableEntity, Code: "not_refundable", Message: "Only a collection with status SUCCESS can be " +
			"refunded."}
	case errors.As(err, &exceeds):
		message := fmt.Sprintf("The refund is larger than the amount that is left to refund: write %d at most.", exceeds.Refundable)
		if exceeds.Refundable == 0 {
			message = "Nothing is left to refund of this payment."
		}
		return &Error{Status: http.StatusUnprocessableEntity, Code: "exceeds_refundable", Message: message,
			Detail: map[string]any{"refundable": exceeds.Refundable}}
	}
	return err
}

// ResendRefusal returns the answer to an error of resending an event. It returns other errors unchanged.
func ResendRefusal(err error) error {
	switch {
	case errors.Is(err, ledger.ErrNotFound):
		return NoSuchEvent()
	case errors.Is(err, ledger.ErrNoEndpoint):
		return NoWebhook()
	case errors.Is(err, ledger.ErrBeingSent):
		return &Error{Status: http.StatusConflict, Code: "being_sent",
			Message: "The event is being sent now. Read it in a few seconds, and send the request again if it is still needed."}
	}
	return err
}

// NoSuchEvent is 404 for an event.
func NoSuchEvent() *Error {
	return NotFound("There is no event with this id in this sandbox.")
}

// NoSuchPrompt is 404 for a prompt.
func NoSuchPrompt() *Error {
	return NotFound("This test client has no payment with this id to confirm.")
}

// PromptRefusal returns the answer to an error of answering a prompt. It returns other errors unchanged.
func PromptRefusal(err error) error {
	closed := new(ledger.ErrPromptClosed)
	switch {
	case errors.Is(err, ledger.ErrNotFound):
		return NoSuchPrompt()
	case errors.As(err, &closed):
		status := closed.Transaction.Status
		return &Error{Status: http.StatusConflict, Code: "prompt_closed",
			Message: fmt.Sprintf("The payment already has the outcome %s. An outcome never changes.", status),
			Detail:  map[string]any{"status": status}}
	}
	return err
}

// NoSuchTestClient is 404 for the test client with a number.
func NoSuchTestClient(msisdn string) *Error {
	message := "There is no test client with this number in this sandbox."
	if w := operators.CheckLength(msisdn); w != nil {
		message += " " + w.String() + "."
	}
	return NotFound(message)
}

// NoSuchAccount is 404 for an account of the ledger.
func NoSuchAccount(a proof.Account) *Error {
	if a.MSISDN != "" {
		return NoSuchTestClient(a.MSISDN)
	}
	return NotFound("This sandbox has no float in " + string(a.Currency) + ": GET /v1/ledger lists its accounts.")
}

// NotVerified is 503 if no worker verified the ledger in time.
func NotVerified() *Error {
	return &Error{Status: http.StatusServiceUnavailable, Code: "not_verified", RetryAfter: "30",
		Message: "No worker has verified the whole ledger in time. Send the request again, or without verify."}
}

// NoSuchTransaction is 404 for a transaction.
func NoSuchTransaction() *Error {
	return NotFound("There is no transaction with this id in this sandbox.")
}
