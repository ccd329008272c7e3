package httpapi

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/store"
)

// refundRefusal says in the contract's words why a parent cannot be refunded.
func refundRefusal(err error) error {
	var exceeds payments.ErrExceedsRefundable
	switch {
	case errors.Is(err, store.ErrNotFound):
		return noSuchTransaction()
	case errors.Is(err, payments.ErrNotRefundable):
		return &Error{Status: http.StatusUnprocessableEntity, Code: "not_refundable", Message: "Only a collection with status SUCCESS can be refunded."}
	case errors.As(err, &exceeds):
		return &Error{Status: http.StatusUnprocessableEntity, Code: "exceeds_refundable",
			Message: fmt.Sprintf("The refund exceeds what is left of the payment, %d.", exceeds.Refundable),
			Detail:  map[string]any{"refundable": exceeds.Refundable}}
	}
	return err
}

// resendRefusal says why an event cannot be sent again.
func resendRefusal(err error) error {
	switch {
	case errors.Is(err, store.ErrNotFound):
		return noSuchEvent()
	case errors.Is(err, store.ErrNoEndpoint):
		return &Error{Status: http.StatusConflict, Code: "no_webhook",
			Message: "This sandbox has no webhook URL to send the event to. Set spec.webhook.url of the SandboxEnvironment first."}
	case errors.Is(err, store.ErrBeingSent):
		return &Error{Status: http.StatusConflict, Code: "being_sent",
			Message: "The event is being sent right now. Look at it again in a few seconds, and repeat the request if it is still needed."}
	}
	return err
}

func noSuchEvent() *Error {
	return notFound("There is no event with this id in this sandbox.")
}

func noSuchPrompt() *Error {
	return notFound("There is no payment with this id that this test client was asked to confirm.")
}

// promptRefusal says in the API's words why a prompt cannot be answered.
func promptRefusal(err error) error {
	closed := new(store.ErrPromptClosed)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return noSuchPrompt()
	case errors.As(err, &closed):
		status := closed.Transaction.Status
		return &Error{Status: http.StatusConflict, Code: "prompt_closed",
			Message: fmt.Sprintf("The payment has its outcome already, %s. An outcome does not change.", status),
			Detail:  map[string]any{"status": status}}
	}
	return err
}

func noSuchTestClient() *Error {
	return notFound("There is no test client with this number in this sandbox.")
}

func noSuchTransaction() *Error {
	return notFound("There is no transaction with this id in this sandbox.")
}
