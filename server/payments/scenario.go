package payments

import "time"

// Scenario is a forced outcome of a collection. The empty scenario forces nothing.
type Scenario string

// The ten scenarios of the contract.
const (
	ScenarioSuccess       Scenario = "success"
	ScenarioPINInvalid    Scenario = "pin_invalid"
	ScenarioLowBalance    Scenario = "low_balance"
	ScenarioTimeout       Scenario = "timeout"
	ScenarioBlocked       Scenario = "blocked"
	ScenarioCancelled     Scenario = "cancelled"
	ScenarioUnknownMSISDN Scenario = "unknown_msisdn"
	ScenarioLimitExceeded Scenario = "limit_exceeded"
	ScenarioMaintenance   Scenario = "maintenance"
	ScenarioDuplicate     Scenario = "duplicate"
)

// Scenarios lists every scenario, in the order of the contract.
var Scenarios = []Scenario{
	ScenarioSuccess, ScenarioPINInvalid, ScenarioLowBalance, ScenarioTimeout, ScenarioBlocked, ScenarioCancelled,
	ScenarioUnknownMSISDN, ScenarioLimitExceeded, ScenarioMaintenance, ScenarioDuplicate,
}

// outcome is a row of the contract's scenario table: the status and the range of the simulated latency, in milliseconds.
type outcome struct {
	status   Status
	min, max int64
}

var outcomes = map[Scenario]outcome{
	ScenarioSuccess:       {Success, 800, 1800},
	ScenarioPINInvalid:    {PINInvalid, 600, 1400},
	ScenarioLowBalance:    {InsufficientFunds, 600, 1400},
	ScenarioTimeout:       {Timeout, 25_000, 35_000},
	ScenarioBlocked:       {AccountBlocked, 500, 1000},
	ScenarioCancelled:     {UserCancelled, 3000, 8000},
	ScenarioUnknownMSISDN: {UnknownMSISDN, 400, 900},
	ScenarioLimitExceeded: {LimitExceeded, 500, 1000},
	ScenarioMaintenance:   {ServiceUnavailable, 200, 600},
	ScenarioDuplicate:     {DuplicateReference, 200, 500},
}

// latencies has the range of each status. Pending has the range of Success.
var latencies = func() map[Status]outcome {
	byStatus := map[Status]outcome{Pending: outcomes[ScenarioSuccess]}
	for _, o := range outcomes {
		byStatus[o.status] = o
	}
	return byStatus
}()

// Status returns the outcome that s forces; ok is false for a scenario that does not exist.
func (s Scenario) Status() (status Status, ok bool) {
	o, ok := outcomes[s]
	return o.status, ok
}

// Latency draws the simulated operator latency of a transaction that is answered with status s, uniformly within the
// contract's range for that outcome, in whole milliseconds. The function draw returns a number in [0, n).
func (s Status) Latency(draw func(n int64) int64) time.Duration {
	o := latencies[s]
	return time.Duration(o.min+draw(o.max-o.min+1)) * time.Millisecond
}

// ScaleLatency returns the real wait for a simulated latency, in a sandbox that scales latencies to this percentage.
func ScaleLatency(latency time.Duration, percent int) time.Duration {
	return latency * time.Duration(percent) / 100
}
