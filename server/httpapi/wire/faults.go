package wire

import "encoding/json"

// FaultRequest is the body of PUT /v1/faults/{fault}.
type FaultRequest struct {
	_        struct{}       `additionalProperties:"true"`
	When     map[string]any `json:"when,omitempty" example:"{\"type\": \"collection\"}" doc:"Which requests, events or callbacks the fault acts on, as in spec.faults. Left out: all."`
	Webhook  map[string]any `json:"webhook,omitempty" example:"{\"duplicate\": 2, \"overlap\": true}" doc:"What goes wrong with events, as in spec.faults."`
	API      map[string]any `json:"api,omitempty" example:"{\"status\": 503}" doc:"What goes wrong with answers, as in spec.faults."`
	Operator map[string]any `json:"operator,omitempty" example:"{\"callback\": {\"drop\": true}}" doc:"What goes wrong at an operator's own API, as in spec.faults."`
	For      string         `json:"for,omitempty" pattern:"^(0|([0-9]{1,9}(\\.[0-9]{1,9})?(h|m|s|ms))+)$" maxLength:"40" patternDescription:"a duration such as 15m" default:"0" example:"15m" doc:"How long the fault acts, in real time, from 10s to 24h. 0: until it is removed."`
}

// FaultList is the answer of GET /v1/faults.
type FaultList struct {
	Data []Fault `json:"data" doc:"In the order in which they act: those that were set, newest first, then those of the resource."`
}

// Fault is a fault of the sandbox.
type Fault struct {
	Name     string          `json:"name"`
	Source   string          `json:"source" enum:"spec,api" doc:"spec: spec.faults of the SandboxEnvironment declares it. api: it was set while the sandbox ran."`
	Effect   string          `json:"effect" doc:"What it does, in words: twice: sent 2 times."`
	When     json.RawMessage `json:"when,omitempty" doc:"As in spec.faults. Absent: it acts on all."`
	Webhook  json.RawMessage `json:"webhook,omitempty" doc:"As in spec.faults."`
	API      json.RawMessage `json:"api,omitempty" doc:"As in spec.faults."`
	Operator json.RawMessage `json:"operator,omitempty" doc:"As in spec.faults."`

	Times     int64   `json:"times" minimum:"0" doc:"How often it acted, since the last reset or the last change of the fault."`
	LastTime  *string `json:"lastTime" format:"date-time" doc:"Sandbox time at which it acted last; null: it did not act."`
	TimesLeft *int64  `json:"timesLeft" minimum:"0" doc:"How often it can still act, by when.first; null: without a limit."`

	SetBy       *string `json:"setBy" doc:"Who set it: api for a request, console, or cli for the command line; null if its source is spec."`
	SetAt       *string `json:"setAt" format:"date-time" doc:"When it was set, in real time; null if its source is spec."`
	EndsAt      *string `json:"endsAt" format:"date-time" doc:"When it ends, in real time; null: when it is removed."`
	SecondsLeft *int64  `json:"secondsLeft" minimum:"0" doc:"Real time until endsAt, rounded up; null: it ends when it is removed."`
}
