package service

import (
	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// latencyOf draws the latency of an outcome for the transaction with this reference.
func (s *Service) latencyOf(status payments.Status, sandbox *sandboxes.Sandbox, reference string) ledger.Latency {
	draw := s.draw
	if sandbox.Seed != nil {
		draw = func(n int64) int64 {
			return faults.DrawsOf(sandbox.Seed, sandbox.Tenant).Below("latency of "+string(status), reference, n)
		}
	}
	latency := status.Latency(draw)
	if status.Terminal() && sandbox.ClockMode == sandboxes.ManualClock {
		return ledger.Latency{Simulated: latency} // an answer cannot wait for a clock that stands
	}
	return ledger.Latency{Simulated: latency, Waited: payments.ScaleLatency(latency, sandbox.LatencyPercent)}
}

// payoutLatency draws the latencies of the two outcomes that the float decides between.
func (s *Service) payoutLatency(sandbox *sandboxes.Sandbox, reference string) ledger.PayoutLatency {
	return ledger.PayoutLatency{
		Paid:    s.latencyOf(payments.Success, sandbox, reference),
		Refused: s.latencyOf(payments.InsufficientFunds, sandbox, reference),
	}
}
