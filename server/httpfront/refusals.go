package httpfront

import "github.com/cauri-dev/cauri/server/service"

// Refusals has the errors of this package for which a front has an answer, beside [service.Refusals].
var Refusals = []service.Refusal{
	{Example: ErrRateLimited{}, Code: "rate_limited", Of: service.AnyRequest},
	{Example: ErrMisdirected{}, Code: MisdirectedCode, Of: service.AnyRequest},
	{Example: ErrTooManyStreams{}, Code: "too_many_streams", Of: service.OnlyV1},
}
