package bench

import (
	"context"
	"fmt"
	"strconv"
	"sync/atomic"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/test/load/generator"
	"github.com/cauri-dev/cauri/test/system"
)

// Nobody is an endpoint for events that stay in the queue, because no worker runs.
const Nobody = "http://127.0.0.1:1/hook"

// AddSandboxes creates sandboxes whose events stay in the queue or go to a URL.
func (b *Bench) AddSandboxes(
	ctx context.Context,
	count int,
	url string,
	change ...func(*sandboxes.Config),
) ([]*system.Sandbox, error) {
	sandboxes := make([]*system.Sandbox, count)
	for i := range sandboxes {
		s, err := b.AddSandbox(ctx, fmt.Sprintf("s%d", i), url, change...)
		if err != nil {
			return nil, err
		}
		sandboxes[i] = s
	}
	return sandboxes, nil
}

// Known waits until the apis know every sandbox.
func Known(ctx context.Context, sandboxes []*system.Sandbox, apis ...*system.API) error {
	for _, api := range apis {
		for _, s := range sandboxes {
			if _, err := s.Client(ctx, api); err != nil {
				return err
			}
		}
	}
	return nil
}

// AddPayers registers the same SIM numbers in each sandbox and returns them.
func AddPayers(ctx context.Context, sandboxes []*system.Sandbox, count int, behavior payments.Behavior) (numbers []string, err error) {
	for n := range count {
		for _, s := range sandboxes {
			payer, err := s.AddPayer(ctx, n, behavior, 1_000_000_000)
			if err != nil {
				return nil, err
			}
			if s == sandboxes[0] {
				numbers = append(numbers, payer.MSISDN)
			}
		}
	}
	return numbers, nil
}

// Booked counts all transactions.
func (b *Bench) Booked(ctx context.Context) (int64, error) {
	return b.Count(ctx, "select count(*) from transactions")
}

// Writes is a subject: requests of 100 francs to a path, from pseudo-random sandboxes and payers, the same in each run.
// A scenario forces the outcome.
func (b *Bench) Writes(
	path string,
	status int,
	sandboxes []*system.Sandbox,
	numbers []string,
	scenario string,
	apis ...*system.API,
) Subject {
	var heads []string
	for _, s := range sandboxes {
		heads = append(heads, generator.Head("POST", path, s.Key))
	}
	reference := b.Series("r")
	rest := `","application":"shop"}`
	if scenario != "" {
		rest = `","application":"shop","scenario":"` + scenario + `"}`
	}
	return Subject{
		Name:   "cauri " + path,
		Booked: b.Booked,
		Target: generator.Target{
			Addresses: AddressesOf(apis...),
			Status:    status,
			Next:      new(atomic.Int64),
			Append: func(buffer []byte, n int64) []byte {
				body := append(make([]byte, 0, 256), `{"amount":100,"currency":"RWF","operator":"mtn","country":"RW","msisdn":"`...)
				body = append(body, numbers[Drawn(n, 1)%uint64(len(numbers))]...)
				body = append(append(body, `","reference":"`...), reference...)
				body = append(strconv.AppendInt(append(body, '-'), n, 10), rest...)
				return generator.JSON(append(buffer, heads[Drawn(n, 0)%uint64(len(heads))]...), body)
			},
		},
	}
}

// BaselineCreates is the same load for the baseline.
func (b *Bench) BaselineCreates(address string, merchants uint64) Subject {
	const payers = 100_000
	head, reference := generator.Head("POST", "/v1/payments", ""), b.Series("r")
	return Subject{
		Name: "the baseline", Booked: b.Baseline.booked,
		Target: generator.Target{Addresses: []string{address}, Status: 201, Next: new(atomic.Int64), Append: func(buffer []byte, n int64) []byte {
			body := strconv.AppendUint(append(make([]byte, 0, 128), `{"merchant":`...), 1+Drawn(n, 0)%merchants, 10)
			body = append(append(body, `,"reference":"`...), reference...)
			body = strconv.AppendInt(append(body, '-'), n, 10)
			body = strconv.AppendUint(append(body, `","payer":`...), 1+Drawn(n, 1)%payers, 10)
			return generator.JSON(append(buffer, head...), append(body, `,"amount":100}`...))
		}},
	}
}

// Drawn returns a pseudo-random number that depends only on n: the mixing step of SplitMix64.
func Drawn(n int64, which uint64) uint64 {
	x := (uint64(n)*2 + which + 1) * 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
