// Command fill fills a database to the size that it has after months. The schema must exist (cauri migrate).
//
//	go run ./test/load/growth/fill -database postgres://... -transactions 10000000 -sandboxes 1000 -large 1000000
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/cauri-dev/cauri/test/load/growth"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	url := flag.String("database", "", "URL of the database, as its owner")
	var size growth.Size
	flag.Int64Var(&size.Transactions, "transactions", 1_000_000, "total number of transactions")
	flag.Int64Var(&size.Sandboxes, "sandboxes", 1000, "sandboxes")
	flag.Int64Var(&size.Large, "large", 0, "number of transactions of the first sandbox; 0: the same as the others")
	flag.Parse()
	if err := fill(ctx, *url, size); err != nil {
		fmt.Fprintln(os.Stderr, "fill:", err)
		os.Exit(1)
	}
}

func fill(ctx context.Context, url string, size growth.Size) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	begun := time.Now()
	first, err := growth.Fill(ctx, conn, size, func(step string) { fmt.Printf("%7.1fs %s\n", time.Since(begun).Seconds(), step) })
	if err != nil {
		return err
	}
	fmt.Printf(
		"%7.1fs sandboxes with the tenant numbers from %d and the keys %s to %s\n",
		time.Since(begun).Seconds(),
		first,
		growth.Key(1),
		growth.Key(size.Sandboxes),
	)
	return nil
}
