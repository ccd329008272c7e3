package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// message is a row of the outbox.
type message struct {
	ID      int64
	Payload []byte
}

// deliver delivers the outbox. It leases a batch, posts all of it in parallel, and marks what was acknowledged. It ends
// when nothing is left.
func deliver(ctx context.Context, db *pgxpool.Pool, o options) error {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: o.batch}, Timeout: 10 * time.Second}
	var sent done
	begun := time.Now()
	for {
		rows, err := db.Query(ctx, `update outbox set due_at = now() + interval '1 minute' where id in
			(select id from outbox where not sent and due_at <= now() order by due_at, id limit $1
			for update skip locked) returning id, payload`, o.batch)
		if err != nil {
			return err
		}
		batch, err := pgx.CollectRows(rows, pgx.RowToStructByPos[message])
		if err != nil {
			return err
		}
		if len(batch) == 0 {
			sent.Seconds = time.Since(begun).Seconds()
			return sent.write(o.out)
		}
		if err := postAll(ctx, client, o.url, batch); err != nil {
			return err
		}
		ids := make([]int64, len(batch))
		for i, m := range batch {
			ids[i] = m.ID
		}
		if _, err := db.Exec(ctx, "update outbox set sent = true where id = any($1)", ids); err != nil {
			return err
		}
		sent.Count += int64(len(batch))
	}
}

// postAll posts a batch in parallel and returns when all is acknowledged.
func postAll(ctx context.Context, client *http.Client, url string, batch []message) error {
	errs := make([]error, len(batch))
	var group sync.WaitGroup
	for i, m := range batch {
		group.Go(func() { errs[i] = post(ctx, client, url, m) })
	}
	group.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func post(ctx context.Context, client *http.Client, url string, m message) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(m.Payload))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("X-Service-Delivery", strconv.FormatInt(m.ID, 10))
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		return err
	}
	if response.StatusCode/100 != 2 {
		return fmt.Errorf("the receiver answered %d", response.StatusCode)
	}
	return nil
}
