package httpapi

import (
	"errors"
	"fmt"

	"github.com/cauri-dev/cauri/server/exchange"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/proof"
	"github.com/cauri-dev/cauri/server/service"
)

// refusalOf returns the answer of /v1 to an error that the request caused; nil for any other error.
func refusalOf(err error) *wire.Error {
	var known *wire.Error
	var denied service.ErrDenied
	var quota ledger.ErrQuotaExceeded
	var fault service.ErrFault
	var limited exchange.ErrRateLimited
	var streams exchange.ErrTooManyStreams
	var misdirected exchange.ErrMisdirected
	switch {
	case errors.As(err, &known):
		return known
	case errors.Is(err, service.ErrUnauthorized):
		return wire.Unauthorized()
	case errors.Is(err, service.ErrSuspended):
		return wire.Suspended()
	case errors.As(err, &denied):
		return wire.Forbidden(denied.Permission.Action, denied.Permission.Field)
	case errors.As(err, &quota):
		return wire.QuotaExceeded(quota)
	case errors.As(err, &fault) && fault.Fault.Answer().Status != 0:
		return wire.Simulated(fault.Fault, fault.Fault.Answer())
	case errors.As(err, &limited):
		return wire.RateLimited(limited.Limit, limited.Reset())
	case errors.As(err, &misdirected):
		return wire.Misdirected(misdirected.Host)
	case errors.As(err, &streams):
		of := "This sandbox"
		if streams.Process {
			of = "This process of the API"
		}
		return wire.TooManyStreams(of, streams.Streams)
	case errors.As(err, new(service.ErrRefundRefused)):
		_ = errors.As(wire.RefundRefusal(err), &known)
		return known
	case errors.Is(err, proof.ErrNotVerified):
		return wire.NotVerified()
	}
	return marketRefusal(err)
}

// marketRefusal returns the answer to an error about the store or the market of a request.
func marketRefusal(err error) *wire.Error {
	var store service.ErrNoStore
	var environment service.ErrNoEnvironment
	var currency service.ErrWrongCurrency
	var undetected service.ErrUndetected
	var former service.ErrFormerNumber
	var elsewhere service.ErrOperatorElsewhere
	switch {
	case errors.As(err, &store):
		return wire.NoSuchStore(store.Store, store.Stores)
	case errors.As(err, &environment):
		return wire.NoEnvironment(environment.Market, environment.Enabled)
	case errors.As(err, &currency):
		const format = "must be %s, the currency of %s"
		return wire.InvalidField("currency", fmt.Sprintf(format, currency.Currency, currency.Country))
	case errors.As(err, &undetected):
		return undetectedFields(undetected)
	case errors.As(err, &former):
		return wire.InvalidField("msisdn", former.Length.String())
	case errors.As(err, &elsewhere):
		const format = "must be %s, where alone %s is available: send %[1]s, or another operator"
		return wire.InvalidField("country", fmt.Sprintf(format, elsewhere.Only, elsewhere.Operator))
	}
	return nil
}

func undetectedFields(e service.ErrUndetected) *wire.Error {
	if e.Length != nil {
		return wire.InvalidField("msisdn", e.Length.String())
	}
	wrong := wire.FieldErrors{}
	if e.Operator {
		wrong["operator"] = []string{"cannot be detected from the msisdn: send one of " + payments.List(payments.Operators)}
	}
	if e.Country {
		wrong["country"] = []string{"cannot be detected from the msisdn: send one of " + payments.List(payments.Countries)}
	}
	return wire.InvalidBody(wrong)
}
