// Command baseline is the minimal implementation that Cauri is compared with: the same work with the same guarantees,
// but without authentication, validation, operator payloads, indexes for lists, or tenant isolation. It shares no code
// with Cauri.
//
//	baseline schema             creates its tables again in the database of DATABASE_URL
//	baseline serve -listen=...  POST /v1/payments and GET /v1/payments/{id}: chi and pgx, one database call for each request
//	baseline noop -listen=...   answers every request with the same bytes: the upper limit of the load generator
//	baseline batch              books payments of one merchant, 50 in each commit, two clients
//	baseline payout             makes payouts from one merchant, one in each commit, eight clients
//	baseline deliver -url=...   leases a batch from the outbox, posts each, marks the batch, until nothing is left
//	baseline audit              checks that money is conserved
//
// batch, payout and deliver print their result as JSON, see [done].
package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

//go:embed schema.sql
var schema string

// options are the flags of all parts. Each part uses some of them.
type options struct {
	listen      string
	connections int
	clients     int
	length      time.Duration
	batch       int
	url         string
	out         io.Writer
}

// done is the result of a part.
type done struct {
	Count   int64   `json:"count"`
	Seconds float64 `json:"seconds"`
}

func (d done) write(w io.Writer) error { return json.NewEncoder(w).Encode(d) }

var parts = map[string]func(context.Context, options) error{
	"noop":    noop,
	"schema":  onDatabase(makeSchema),
	"serve":   onDatabase(serve),
	"batch":   onDatabase(bookBatches),
	"payout":  onDatabase(payOut),
	"deliver": onDatabase(deliver),
	"audit":   onDatabase(audit),
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "baseline:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) == 0 || parts[args[0]] == nil {
		return errors.New("the first argument must be schema, serve, noop, batch, payout, deliver or audit")
	}
	o := options{out: os.Stdout}
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	flags.StringVar(&o.listen, "listen", "127.0.0.1:8099", "address to listen on")
	flags.IntVar(&o.connections, "connections", 8, "number of database connections of serve")
	flags.IntVar(&o.clients, "clients", 8, "of batch and payout")
	flags.DurationVar(&o.length, "length", 5*time.Second, "of batch and payout")
	flags.IntVar(&o.batch, "batch", 64, "number of payments or deliveries in a batch")
	flags.StringVar(&o.url, "url", "", "URL that deliver posts to")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	return parts[args[0]](ctx, o)
}

// onDatabase gives a part a pool of database connections.
func onDatabase(part func(context.Context, *pgxpool.Pool, options) error) func(context.Context, options) error {
	return func(ctx context.Context, o options) error {
		config, err := pgxpool.ParseConfig(os.Getenv("DATABASE_URL"))
		if err != nil {
			return err
		}
		config.MaxConns = int32(max(o.connections, o.clients))
		pool, err := pgxpool.NewWithConfig(ctx, config)
		if err != nil {
			return err
		}
		defer pool.Close()
		return part(ctx, pool, o)
	}
}

func makeSchema(ctx context.Context, db *pgxpool.Pool, _ options) error {
	_, err := db.Exec(ctx, schema)
	return err
}

// audit checks that the payments, the balances and the outbox agree.
func audit(ctx context.Context, db *pgxpool.Pool, o options) error {
	var moved, merchants, payers, payments, told int64
	err := db.QueryRow(ctx, `select coalesce((select sum(amount) from payments), 0)::bigint,
		(select sum(balance - 1000000000000) from merchants)::bigint, (select sum(1000000000000 - balance) from payers)::bigint,
		(select count(*) from payments), (select count(distinct payment) from outbox)`).Scan(&moved, &merchants, &payers, &payments, &told)
	if err != nil {
		return err
	}
	if moved != merchants || moved != payers || payments != told {
		return fmt.Errorf(
			"the baseline does not conserve money: payments moved %d, merchants have %d more, payers %d less; %d payments, %d in the outbox",
			moved,
			merchants,
			payers,
			payments,
			told,
		)
	}
	return done{Count: payments}.write(o.out)
}
