package controllers_test

import (
	"fmt"
	"strings"
	"testing"
)

const leastSandbox = "environments: [{operator: mtn, country: RW}]\n"

func TestClockSchema(t *testing.T) {
	const badTime = "write a date and time from the year 2000 to 2100, with its time zone, such as 2026-11-22T10:00:00Z"
	clock := func(clock string) string { return leastSandbox + "clock: {" + clock + "}" }
	cases := map[string]schemaCase{
		"nothing": {spec: clock("")},
		"real":    {spec: clock("mode: Real")},
		"manual":  {spec: clock("mode: Manual")},
		"another mode": {spec: clock("mode: manual"), refuse: []string{
			`spec.clock.mode: Unsupported value: "manual": supported values: "Real", "Manual"`}},
		"a start of a real clock": {spec: clock("mode: Real, start: '2026-11-22T10:00:00Z'"), refuse: []string{
			"spec.clock.start: write a start only with mode: Manual. A Real clock starts at the present time"}},
		"a start without a mode": {spec: clock("start: '2026-11-22T10:00:00Z'"), refuse: []string{
			"spec.clock.start: write a start only with mode: Manual. A Real clock starts at the present time"}},
		"a seed":       {spec: leastSandbox + "seed: 42"},
		"a seed below": {spec: leastSandbox + "seed: -9007199254740991"},
		"a large seed": {spec: leastSandbox + "seed: 9007199254740992", refuse: []string{
			"spec.seed: spec.seed in body should be less than or equal to 9007199254740991"}},
		"a text for a seed": {spec: leastSandbox + "seed: '42'", refuse: []string{
			`spec.seed: spec.seed in body must be of type integer: "string"`}},
	}
	for _, good := range []string{
		"2000-01-01T00:00:00Z", "2100-12-31T23:59:59Z", "2026-11-22T12:00:00.123456+02:00", "2024-02-29T00:00:00Z", "2000-02-29T00:00:00Z",
	} {
		cases["start "+good] = schemaCase{spec: clock("mode: Manual, start: '" + good + "'")}
	}
	for _, bad := range []string{
		"1999-12-31T23:59:59Z", "2101-01-01T00:00:00Z", "2026-11-22", "2026-11-22T10:00:00", "2026-11-22T24:00:00Z", "2026-13-01T00:00:00Z",
		"2026-02-29T00:00:00Z", "2100-02-29T00:00:00Z", "2026-04-31T00:00:00Z", "tomorrow", "2026-11-22T10:00:00.1234567Z",
	} {
		cases["start "+bad] = schemaCase{
			spec: clock("mode: Manual, start: '" + bad + "'"), refuse: []string{"spec.clock.start: " + badTime},
		}
	}
	testSchema(t, "SandboxEnvironment", cases)
}

func TestFaultsSchema(t *testing.T) {
	const (
		oneOf       = "spec.faults[0]: write what goes wrong in exactly one of webhook, api and operator"
		atMostOne   = "spec.faults[0].webhook: write at most one of drop, duplicate and outOfOrder"
		answer      = "spec.faults[0].operator: write at most one of status and dropConnection"
		oneAnswer   = "spec.faults[0].api: write at most one of status, dropConnection and malformedBody"
		badDuration = "write a duration in hours, minutes, seconds and milliseconds, such as 500ms, 1m30s or 24h; 7 days are 168h"
	)
	fault := func(entry string) string { return leastSandbox + "faults: [{name: f, " + entry + "}]" }
	webhook := func(keys string) string { return fault("webhook: {" + keys + "}") }
	operator := func(keys string) string { return fault("operator: {" + keys + "}") }
	api := func(keys string) string { return fault("api: {" + keys + "}") }
	when := func(keys string) string { return fault("webhook: {drop: true}, when: {" + keys + "}") }
	list := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "- {name: f%d, webhook: {drop: true}}\n", i)
		}
		return leastSandbox + "faults:\n" + b.String()
	}
	testSchema(t, "SandboxEnvironment", map[string]schemaCase{
		"everything": {spec: leastSandbox + `
faults:
- name: receiver-sees-it-twice
  when: {type: collection, status: SUCCESS, operator: mtn, country: RW, store: shop, msisdn: "+250788000777", reference: "order-9*",
    event: payment.completed, attempt: 1, percent: 0, first: 1, from: "2026-11-22T10:00:00Z", until: "2026-11-22T12:00:00+01:00", every: true}
  webhook: {duplicate: 2, spacing: 500ms, delay: 1h, beforeAnswer: true, badSignature: true, staleTimestamp: 10m, truncate: true,
    contentType: text/plain; charset=utf-8, unknownField: true, unknownEvent: true}
- {name: silent, when: {}, webhook: {drop: true}}
- {name: later, webhook: {outOfOrder: true, drop: false, delay: 1ms}}
- {name: at-once, webhook: {duplicate: 2, overlap: true, delay: 1s}}
- {name: both-at-once, operator: {callback: {duplicate: 10, overlap: true}}}
- {name: apart, webhook: {duplicate: 2, overlap: false, spacing: 1s}}
- {name: lost-answer, when: {path: /v1/payments, percent: 100}, api: {dropConnection: AfterCommit, delay: 60s}}
- {name: maintenance, when: {path: "/v1/*", every: true}, api: {status: 503, retryAfter: 1h}}
- {name: garbage, api: {malformedBody: true}}
- {name: gateway, when: {path: /operators/mtn/collection/v1_0/requesttopay, attempt: 1}, operator: {status: 504, delay: 60s}}
- {name: told, when: {status: TIMEOUT, first: 3}, operator: {reason: INTERNAL_PROCESSING_ERROR, statusStaysPending: 24h,
    callback: {duplicate: 10, delay: 1h, beforeAnswer: true}}}
- {name: flaps, when: {operator: mpesa, status: SUCCESS}, operator: {statusFlickers: true}}
- {name: steady, when: {operator: mtn, path: "/operators/*"}, operator: {statusFlickers: false, status: 500}}
- {name: lost, when: {reference: "d6*", percent: 5}, operator: {dropConnection: BeforeCommit, callback: {drop: true}}}
`},
		"50": {spec: list(50)},
		"51": {spec: list(51), refuse: []string{"spec.faults: Too many: 51: must have at most 50 items"}},
		"a name twice": {spec: leastSandbox + "faults: [{name: f, webhook: {drop: true}}, {name: f, api: {status: 500}}]", refuse: []string{
			`spec.faults[1]: Duplicate value: {"name":"f"}`}},
		"a bad name": {spec: leastSandbox + "faults: [{name: F-, webhook: {drop: true}}]", refuse: []string{
			"spec.faults[0].name: write a name of a-z, 0-9 and -, starting and ending with a letter or digit, for example receiver-sees-it-twice"}},
		"an operator and a webhook": {spec: fault("webhook: {drop: true}, operator: {status: 500}"), refuse: []string{oneOf}},
		"nothing of an operator": {spec: operator(""), refuse: []string{
			"spec.faults[0].operator: write what goes wrong at the operator, for example status: 503 or callback: {drop: true}",
		}},
		"nothing of a callback": {spec: operator("callback: {drop: false}"), refuse: []string{
			"spec.faults[0].operator.callback: write what goes wrong with the callback, for example drop: true or delay: 30s",
		}},
		"a callback dropped twice": {spec: operator("callback: {drop: true, duplicate: 2}"), refuse: []string{
			"spec.faults[0].operator.callback: write at most one of drop and duplicate",
		}},
		"one that overlaps": {spec: webhook("drop: true, overlap: true"), refuse: []string{
			"spec.faults[0].webhook.overlap: write overlap only with duplicate, for example duplicate: 2",
		}},
		"overlapping apart": {spec: webhook("duplicate: 2, overlap: true, spacing: 1s"), refuse: []string{
			"spec.faults[0].webhook: write at most one of overlap and spacing",
		}},
		"one callback that overlaps": {spec: operator("callback: {delay: 1s, overlap: true}"), refuse: []string{
			"spec.faults[0].operator.callback.overlap: write overlap only with duplicate, for example duplicate: 2",
		}},
		"a late callback": {spec: operator("callback: {delay: 61m}"), refuse: []string{
			"spec.faults[0].operator.callback.delay: write a delay from 1ms to 1h",
		}},
		"eleven callbacks": {spec: operator("callback: {duplicate: 11}"), refuse: []string{
			"spec.faults[0].operator.callback.duplicate: spec.faults[0].operator.callback.duplicate in body should be less than or equal to 10",
		}},
		"two answers of an operator": {spec: operator("status: 500, dropConnection: AfterCommit"), refuse: []string{answer}},
		"a status of no fault": {spec: operator("status: 404"), refuse: []string{
			`spec.faults[0].operator.status: Unsupported value: 404: supported values: "401", "429", "500", "501", "502", "503", "504"`}},
		"pending for days": {spec: operator("statusStaysPending: 25h"), refuse: []string{
			"spec.faults[0].operator.statusStaysPending: write a statusStaysPending from 1ms to 24h",
		}},
		"a flicker of nothing": {spec: operator("statusFlickers: false"), refuse: []string{
			"spec.faults[0].operator: write what goes wrong at the operator, for example status: 503 or callback: {drop: true}",
		}},
		"a flicker of MTN": {spec: fault("operator: {statusFlickers: true}, when: {operator: mtn}"), refuse: []string{
			"spec.faults[0].when.operator: only the status of mpesa flickers: write operator: mpesa, or leave statusFlickers out",
		}},
		"a flicker of no environment": {spec: operator("statusFlickers: true"), refuse: []string{
			"spec.faults: only the status of mpesa flickers: write an environment of mpesa, or leave statusFlickers out",
		}},
		"a flicker of the environment": {spec: "environments: [{operator: mtn, country: RW}, {operator: mpesa, country: KE}]\n" +
			"faults: [{name: f, operator: {statusFlickers: true}}]"},
		"the path of a flicker": {spec: fault("operator: {statusFlickers: true}, when: {operator: mpesa, path: '/operators/*'}"), refuse: []string{
			"spec.faults[0].when: leave path and attempt out of a fault with callback, statusStaysPending, statusFlickers or reason, which acts on a " +
				"transaction; or write status, delay or dropConnection in a fault of its own",
		}},
		"a reason in words": {spec: operator("reason: not allowed"), refuse: []string{
			"spec.faults[0].operator.reason: write a code of A-Z, 0-9, _ and . that starts with a letter or a digit, for example INTERNAL_PROCESSING_ERROR or " +
				"1019",
		}},
		"a reason in digits":    {spec: operator("reason: '1019'")},
		"a reason with periods": {spec: operator("reason: 500.001.1001")},
		"a reason in small letters": {spec: operator("reason: e3008"), refuse: []string{
			"spec.faults[0].operator.reason: write a code of A-Z, 0-9, _ and . that starts with a letter or a digit, for example INTERNAL_PROCESSING_ERROR or " +
				"1019",
		}},
		"the event of an operator": {spec: fault("operator: {callback: {drop: true}}, when: {event: payment.completed}"), refuse: []string{
			"spec.faults[0].when.event: leave event out of a fault of an operator, which sends callbacks and no events; or write webhook " +
				"instead of operator",
		}},
		"the status of an answer": {spec: fault("operator: {delay: 1s}, when: {status: SUCCESS}"), refuse: []string{
			"spec.faults[0].when.status: leave status out of a fault with status, delay or dropConnection, which acts before a status is " +
				"known; or write callback, statusStaysPending, statusFlickers or reason in a fault of its own",
		}},
		"the path of a callback": {spec: fault("operator: {callback: {drop: true}}, when: {path: '/operators/*'}"), refuse: []string{
			"spec.faults[0].when: leave path and attempt out of a fault with callback, statusStaysPending, statusFlickers or reason, which acts on a " +
				"transaction; or write status, delay or dropConnection in a fault of its own",
		}},
		"the attempt of a reason": {spec: fault("operator: {reason: X, status: 500}, when: {attempt: 2}"), refuse: []string{
			"spec.faults[0].when: leave path and attempt out of a fault with callback, statusStaysPending, statusFlickers or reason, which acts on a " +
				"transaction; or write status, delay or dropConnection in a fault of its own",
		}},
		"neither": {spec: fault("when: {}"), refuse: []string{oneOf}},
		"both":    {spec: fault("webhook: {drop: true}, api: {status: 500}"), refuse: []string{oneOf}},
		"nothing of both": {spec: webhook(""), refuse: []string{
			"spec.faults[0].webhook: write what goes wrong with the webhook, for example drop: true or delay: 30s",
		}},
		"no drop": {spec: webhook("drop: false"), refuse: []string{
			"spec.faults[0].webhook: write what goes wrong with the webhook, for example drop: true or delay: 30s",
		}},
		"nothing of api": {spec: api("malformedBody: false"), refuse: []string{
			"spec.faults[0].api: write what goes wrong with the answer, for example status: 503 or dropConnection: AfterCommit",
		}},
		"dropped twice":    {spec: webhook("drop: true, duplicate: 2"), refuse: []string{atMostOne}},
		"out of order too": {spec: webhook("outOfOrder: true, duplicate: 2"), refuse: []string{atMostOne}},
		"dropped late":     {spec: webhook("drop: true, outOfOrder: true"), refuse: []string{atMostOne}},
		"two answers":      {spec: api("status: 500, malformedBody: true"), refuse: []string{oneAnswer}},
		"no answer":        {spec: api("status: 500, dropConnection: BeforeCommit"), refuse: []string{oneAnswer}},
		"eleven": {spec: webhook("duplicate: 11"), refuse: []string{
			"spec.faults[0].webhook.duplicate: spec.faults[0].webhook.duplicate in body should be less than or equal to 10",
		}},
		"spacing of one": {spec: webhook("drop: true, spacing: 1s"), refuse: []string{
			"spec.faults[0].webhook.spacing: write a spacing only with duplicate, for example duplicate: 2",
		}},
		"a long spacing": {spec: webhook("duplicate: 2, spacing: 61m"), refuse: []string{
			"spec.faults[0].webhook.spacing: write a spacing of at most 1h",
		}},
		"a long delay": {spec: webhook("delay: 61m"), refuse: []string{"spec.faults[0].webhook.delay: write a delay from 1ms to 1h"}},
		"no delay":     {spec: webhook("delay: 0s"), refuse: []string{"spec.faults[0].webhook.delay: write a delay from 1ms to 1h"}},
		"a number":     {spec: webhook("delay: '5'"), refuse: []string{"spec.faults[0].webhook.delay: " + badDuration}},
		"very stale": {spec: webhook("staleTimestamp: 25h"), refuse: []string{
			"spec.faults[0].webhook.staleTimestamp: write a staleTimestamp from 1s to 24h",
		}},
		"a bad type": {spec: webhook(`contentType: "text/plain\r\nX: y"`), refuse: []string{
			"spec.faults[0].webhook.contentType: write a media type, for example text/plain or text/plain; charset=utf-8",
		}},

		"a status that is no failure": {spec: api("status: 404"), refuse: []string{
			`spec.faults[0].api.status: Unsupported value: 404: supported values: "429", "500", "501", "502", "503", "504"`}},
		"a drop of another name": {spec: api("dropConnection: Always"), refuse: []string{
			`spec.faults[0].api.dropConnection: Unsupported value: "Always": supported values: "BeforeCommit", "AfterCommit"`}},
		"an api that is late": {spec: api("delay: 61s"), refuse: []string{"spec.faults[0].api.delay: write a delay from 1ms to 60s"}},
		"retry after a 500": {spec: api("status: 500, retryAfter: 2s"), refuse: []string{
			"spec.faults[0].api.retryAfter: write a retryAfter only with status: 429 or status: 503",
		}},
		"retry after a 429": {spec: api("status: 429, retryAfter: 2s")},
		"retry at once": {spec: api("status: 429, retryAfter: 10ms"), refuse: []string{
			"spec.faults[0].api.retryAfter: write a retryAfter from 1s to 1h",
		}},
		"the status of the api": {spec: fault("api: {status: 500}, when: {status: SUCCESS}"), refuse: []string{
			"spec.faults[0].when.status: leave status out of a fault of the api, which acts before a status is known; or " +
				"write webhook instead of api",
		}},
		"the event of the api": {spec: fault("api: {status: 500}, when: {event: payment.completed}"), refuse: []string{
			"spec.faults[0].when.event: leave event out of a fault of the api, where no event is sent yet; or write " +
				"webhook instead of api",
		}},
		"the path of a webhook": {spec: when("path: /v1/payments"), refuse: []string{
			"spec.faults[0].when.path: leave path out of a fault of a webhook: it is the path of a request to the api",
		}},
		"a path of no API": {spec: fault("api: {status: 500}, when: {path: v1/payments}"), refuse: []string{
			"spec.faults[0].when.path: write a path of the API that starts with /, for example /v1/payments or /v1/payments/*",
		}},

		"pending": {spec: when("status: PENDING"), refuse: []string{
			`spec.faults[0].when.status: Unsupported value: "PENDING": supported values: "SUCCESS", "PIN_INVALID", "INSUFFICIENT_FUNDS", "TIMEOUT", ` +
				`"ACCOUNT_BLOCKED", "USER_CANCELLED", "UNKNOWN_MSISDN", "LIMIT_EXCEEDED", "SERVICE_UNAVAILABLE", "DUPLICATE_REFERENCE"`}},
		"a number of no country": {spec: when("msisdn: '0788000777'"), refuse: []string{
			"spec.faults[0].when.msisdn: write the number with + and its country code, digits only",
		}},
		"the type of its event": {spec: when("event: payment.refunded, type: refund")},
		"the type of another event": {spec: when("event: payment.refunded, type: collection"), refuse: []string{
			"spec.faults[0].when.type: must be the type of the transactions that have this event: leave it out"}},
		"no attempt": {spec: when("attempt: 0"), refuse: []string{
			"spec.faults[0].when.attempt: spec.faults[0].when.attempt in body should be greater than or equal to 1",
		}},
		"101 percent": {spec: when("percent: 101"), refuse: []string{
			"spec.faults[0].when.percent: spec.faults[0].when.percent in body should be less than or equal to 100",
		}},
		"until before from": {
			spec:   when("from: '2026-11-22T10:00:00Z', until: '2026-11-22T11:00:00+02:00'"),
			refuse: []string{"spec.faults[0].when.until: write an until that is later than from"},
		},
		"from no time": {spec: when("from: tomorrow, until: '2026-11-22T10:00:00Z'"), refuse: []string{
			"spec.faults[0].when.from: write a date and time from the year 2000 to 2100, with its time zone, such as 2026-11-22T10:00:00Z"}},
	})
}
