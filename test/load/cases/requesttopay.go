package cases

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/test/load/bench"
	"github.com/cauri-dev/cauri/test/load/generator"
	"github.com/cauri-dev/cauri/test/system"
)

// requestToPay measures payments through MTN's own API whose payer decides later. The baseline is the same through /v1.
func requestToPay(ctx context.Context, b *bench.Bench) error {
	apis, err := b.Apis(ctx, 1)
	if err != nil {
		return err
	}
	sandboxes, err := b.AddSandboxes(ctx, b.Settings.Size(100), bench.Nobody)
	if err != nil {
		return err
	}
	numbers, err := bench.AddPayers(ctx, sandboxes, b.Settings.Size(10), payments.Approve)
	if err != nil {
		return err
	}
	ours, err := requestsToPay(ctx, b, sandboxes, numbers, apis[0])
	if err != nil {
		return err
	}
	theirs := b.Writes("/v1/payments", 201, sandboxes, numbers, "", apis...)
	for _, connections := range []int{8, 32} {
		ours.Costs = b.CostsOf(map[string]*system.Process{"api": apis[0].Process})
		theirs.Costs = b.CostsOf(map[string]*system.Process{"api": apis[0].Process})
		results, err := b.InTurns(ctx, b.Closed(ours, connections), b.Closed(theirs, connections))
		if err != nil {
			return err
		}
		mine, baseline := results[0], results[1]
		name := fmt.Sprintf("%d connections", connections)
		b.Against(name, "/s", mine.Rates(), baseline.Rates()).WantAtLeast(0.9)
		ours.Costs.Tell(&b.Report, name+", processor time of a request to pay")
		theirs.Costs.Tell(&b.Report, name+", processor time of a payment")
		b.Against(name+", p99 while as many as possible come", "ms", mine.P99s(), baseline.P99s())
	}
	settled, err := b.Count(ctx, "select count(*) from transactions where status <> 'PENDING'")
	if err == nil && settled > 0 {
		b.Problem("%d payments were not PENDING", settled)
	}
	return err
}

// requestsToPay is a subject: requests like those of [bench.Bench.Writes], as an SDK of MTN sends them, each with a UUID as its reference.
func requestsToPay(
	ctx context.Context, b *bench.Bench, sandboxes []*system.Sandbox, numbers []string, api *system.API,
) (bench.Subject, error) {
	const path = "/operators/mtn/collection/v1_0/requesttopay"
	var heads []string
	for _, s := range sandboxes {
		mtn, err := s.MTN(ctx, api)
		if err != nil {
			return bench.Subject{}, err
		}
		var head strings.Builder
		head.WriteString(generator.Head("POST", path, ""))
		_ = mtn.Header.Write(&head) // a text takes everything
		heads = append(heads, head.String())
	}
	var bodies [][]byte
	for _, number := range numbers {
		bodies = append(bodies, system.RequestToPay(strings.TrimPrefix(number, "+")))
	}
	return bench.Subject{
		Name:   "cauri " + path,
		Booked: b.Booked,
		Target: generator.Target{
			Addresses: bench.AddressesOf(api),
			Status:    202,
			Next:      new(atomic.Int64),
			Append: func(buffer []byte, n int64) []byte {
				random := bench.Drawn(n, 2)
				buffer = append(buffer, heads[bench.Drawn(n, 0)%uint64(len(heads))]...)
				buffer = fmt.Appendf(buffer, "X-Reference-Id: %08x-%04x-4%03x-8%03x-%012x\r\n",
					random>>32, random>>16&0xffff, random>>4&0xfff, random&0xf, n)
				return generator.JSON(buffer, bodies[bench.Drawn(n, 1)%uint64(len(bodies))])
			},
		},
	}, nil
}
