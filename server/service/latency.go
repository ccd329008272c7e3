package service

import (
	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// latencyOf draws the latency of a status. With a seed, the latency depends only on the seed, tenant, status and
// reference.
func (s *Service) latencyOf(status payments.Status, sandbox *sandboxes.Sandbox, reference string) ledger.Latency {
	draw := s.draw
	if sandbox.Seed != nil {
		draw = func(n int64) int64 {
			return faults.DrawsOf(sandbox.Seed, sandbox.Tenant).Below("latency of "+string(status), reference, n)
		}
	}
	latency := status.Latency(draw)
	if status.Terminal() && sandbox.ClockMode == sandboxes.ManualClock {
		return ledger.Latency{Simulated: latency} // a manual clock does not run, so the answer must not wait for it
	}
	return ledger.Latency{Simulated: latency, Waited: payments.ScaleLatency(latency, sandbox.LatencyPercent)}
}

// payoutLatency draws a latency for each of two outcomes: the float covers the payout, or it does not.
func (s *Service) payoutLatency(sandbox *sandboxes.Sandbox, reference string) ledger.PayoutLatency {
	return ledger.PayoutLatency{
		Paid:    s.latencyOf(payments.Success, sandbox, reference),
		Refused: s.latencyOf(payments.InsufficientFunds, sandbox, reference),
	}
}
