package advice

import "github.com/cauri-dev/cauri/server/english"

// instead says, for each error code of /v1, what a client sends instead of the request that was answered with this
// error. The texts have code between backticks.
var instead = map[string]english.Text{
	"invalid_body":       "Correct the fields in `detail.fieldErrors`. Keep the `reference`.",
	"invalid_params":     "Correct the parameters in `detail.fieldErrors`. In a URL write the `+` of a phone number as `%2B`.",
	"unauthorized":       "Send the API key of this sandbox as `Authorization: Bearer <key>`.",
	"quota_exceeded":     "Wait for the next calendar month (UTC), or ask for a higher `spec.quota.monthlyTransactions`.",
	"not_found":          "Check the id, the number, the store and the path. A reset removes transactions and events.",
	"env_not_found":      "Send an `operator` and a `country` of `detail.environments`, or ask for this environment.",
	"forbidden":          "Set `detail.field` of the SandboxEnvironment to true, or ask its owner.",
	"method_not_allowed": "Send one of the methods in the header `Allow` and in `detail.allow`.",
	"duplicate_reference": "To get that transaction, send the fields of `detail.recorded` as they were, or read it by its id. " +
		"Send a new `reference` only for another payment: its customer pays once more.",
	"no_webhook":             "Set `spec.webhook.url` of the SandboxEnvironment, then send the request again.",
	"being_sent":             "Read the event in a few seconds. Resend it if you still need to.",
	"prompt_closed":          "Read the payment. An outcome never changes: for another one, create a new payment.",
	"duplicate_msisdn":       "If `detail.source` is `api`, change the test client with `PATCH`. Otherwise send another number.",
	"managed_by_resource":    "Change or delete that resource, or set a fault with another name.",
	"too_many_faults":        "Remove a fault that you do not need.",
	"too_many_changes":       "Repeat the request after the seconds of `Retry-After`.",
	"too_many_test_clients":  "Delete a test client that you do not need.",
	"clock_busy":             "Send `detail.target` as `to` to wait for that advance, or repeat the request later.",
	"clock_reset":            "Read the clock, and advance it again if you still need to.",
	"body_too_large":         "Send at most 64 KiB.",
	"unsupported_media_type": "Send `Content-Type: application/json`. `PATCH` also takes `application/merge-patch+json`.",
	"misdirected_request":    "Ask `localhost` or an address, or start `cauri dev` with `--allowed-hosts`.",
	"clock_backwards":        "Send a later time than `detail.now`. A clock never goes back.",
	"too_many_rows":          "Write `orderRef` or `reference` under `where` of the lines.",
	"exceeds_refundable":     "Send an `amount` of at most `detail.refundable`.",
	"not_refundable":         "Refund a collection after its status is `SUCCESS`.",
	"rate_limited":           "Repeat the request after the seconds of `Retry-After`.",
	"too_many_streams":       "Close a stream, or repeat the request after the seconds of `Retry-After`.",
	"too_many_resets":        "Repeat the request after the second of `Retry-After`.",
	"too_many_checks":        "Read the open check, or repeat the request after the seconds of `Retry-After`.",
	"internal":               "Repeat the request with the same `reference`, or with the one in `detail.reference` if it had none.",
	"not_implemented":        "Repeat the request with the same `reference`.",
	"bad_gateway":            "Repeat the request with the same `reference`.",
	"gateway_timeout":        "Repeat the request with the same `reference`.",
	"suspended":              "Set `spec.suspend` of the SandboxEnvironment to false, or ask its owner.",
	"overloaded":             "Repeat the request with the same `reference` after the seconds of `Retry-After`.",
	"not_verified":           "Repeat the request after the seconds of `Retry-After`, or leave out `verify`.",
	"unavailable": "Repeat the request after the seconds of `Retry-After`. Send the reference in `detail.reference` if there is one, " +
		"otherwise the same `reference`.",
}

// Instead returns what a client sends instead of a request that was answered with this error code of /v1, with code between
// backticks. It returns an empty text for a code that /v1 does not have.
func Instead(code string) english.Text { return instead[code] }
