package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// payers is the number of payers in the schema.
const payers = 100_000

// hot is the merchant whose row all clients contend for.
const hot = 1

// bookBatches books payments of one merchant, many in each commit.
func bookBatches(ctx context.Context, db *pgxpool.Pool, o options) error {
	return clients(ctx, o, func(ctx context.Context, reference string) (int64, error) {
		references, from := make([]string, o.batch), make([]int64, o.batch)
		for i := range o.batch {
			references[i], from[i] = reference+"-"+strconv.Itoa(i), 1+rand.Int64N(payers)
		}
		var made int64
		err := db.QueryRow(ctx, "select pay_batch($1, $2, $3, $4)", hot, references, from, 100).Scan(&made)
		return made, err
	})
}

// payOut makes payouts from one merchant, one in each commit.
func payOut(ctx context.Context, db *pgxpool.Pool, o options) error {
	return clients(ctx, o, func(ctx context.Context, reference string) (int64, error) {
		_, err := db.Exec(ctx, "select pay_out($1, $2, $3, $4)", hot, reference, 1+rand.Int64N(payers), 100)
		return 1, err
	})
}

// clients calls book from several clients in parallel, each time with a new reference, and returns the number of booked
// payments.
func clients(ctx context.Context, o options, book func(ctx context.Context, reference string) (int64, error)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var booked atomic.Int64
	var group sync.WaitGroup
	run, begun := rand.Int64(), time.Now()
	for client := range o.clients {
		group.Go(func() {
			for n := 0; time.Since(begun) < o.length; n++ {
				made, err := book(ctx, fmt.Sprintf("%x-%d-%d", run, client, n))
				if err != nil {
					cancel(err)
					return
				}
				booked.Add(made)
			}
		})
	}
	group.Wait()
	if err := context.Cause(ctx); err != nil {
		return err
	}
	return done{booked.Load(), time.Since(begun).Seconds()}.write(o.out)
}
