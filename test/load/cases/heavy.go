package cases

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/test/load/bench"
	"github.com/cauri-dev/cauri/test/system"
)

const (
	heavyExpectations = 60
	heavyTransactions = 12_000
	lightExpectations = 10
	// heavyLine counts the events of all transactions.
	heavyLine = `{"events":{"where":{"status":"USER_CANCELLED"},"state":"delivered","count":">=1"}}`
)

// heavy measures how long an Expectation takes to be met while another sandbox has heavy ones, whose lines go through all
// transactions and are never met.
func heavy(ctx context.Context, b *bench.Bench) error {
	api, err := b.StartAPI(ctx, "api")
	if err != nil {
		return err
	}
	light, err := b.AddSandbox(ctx, "light", "")
	if err != nil {
		return err
	}
	loaded, err := b.AddSandbox(ctx, "heavy", bench.Nobody)
	if err != nil {
		return err
	}
	if err := backlog(ctx, loaded, api, b.Settings.Size(heavyTransactions)); err != nil {
		return err
	}
	if _, err := b.SQL.Exec(ctx, "update events set due_at = null, state = 'failed'"); err != nil { // there is no receiver
		return err
	}
	if _, err := b.Workers(ctx, 1); err != nil {
		return err
	}
	alone, err := timesToMet(ctx, b, light)
	if err != nil {
		return err
	}
	lines := "[" + strings.Repeat(heavyLine+",", 49) + heavyLine + "]"
	for range heavyExpectations {
		if _, err := begin(ctx, b, loaded, lines); err != nil {
			return err
		}
	}
	err = system.Until(ctx, time.Minute, "a heavy Expectation is evaluated", func(ctx context.Context) error {
		n, err := b.Count(ctx, "select count(*) from expectations where tenant = $1 and evaluated_at > 'epoch'", loaded.Tenant)
		if err == nil && n == 0 {
			err = errors.New("none is")
		}
		return err
	})
	if err != nil {
		return err
	}
	beside, err := timesToMet(ctx, b, light)
	if err != nil {
		return err
	}
	evaluated, err := b.Count(ctx, "select count(*) from expectations where tenant = $1 and evaluated_at > 'epoch'", loaded.Tenant)
	if err != nil {
		return err
	}
	tooLong, err := b.Count(ctx, "select count(*) from expectations where tenant = $1 and reason = 'TooManyRows'", loaded.Tenant)
	if err != nil {
		return err
	}
	b.Figure("heavy ones evaluated meanwhile, of 60", float64(evaluated), "")
	b.Figure("of these, evaluations that reached the limit of 2 s", float64(tooLong), "")
	b.Figure("an Expectation alone, longest until it is Met", alone, "s")
	b.Target("beside 60 heavy ones of another sandbox, longest until it is Met", beside, "s", 4)
	return nil
}

// begin makes an Expectation.
func begin(ctx context.Context, b *bench.Bench, of *system.Sandbox, lines string) (uid string, err error) {
	c := sandboxes.ExpectationConfig{UID: uuid.NewString(), Lines: []byte(lines), Within: time.Hour}
	c.Name = c.UID
	return c.UID, b.Sandboxes.BeginExpectation(ctx, of.Config.UID, c)
}

// timesToMet is the longest time in seconds that one of several Expectations takes to be met. They follow each other.
func timesToMet(ctx context.Context, b *bench.Bench, of *system.Sandbox) (longest float64, err error) {
	for range lightExpectations {
		began := time.Now()
		uid, err := begin(ctx, b, of, `[{"nothingElse":true}]`)
		if err != nil {
			return 0, err
		}
		err = system.Until(ctx, 10*time.Minute, "the Expectation is Met", func(ctx context.Context) error {
			n, err := b.Count(ctx, "select count(*) from expectations where uid = $1 and verdict = 'Met'", uid)
			if err == nil && n == 0 {
				err = fmt.Errorf("%s is not", uid)
			}
			return err
		})
		if err != nil {
			return 0, err
		}
		longest = max(longest, time.Since(began).Seconds())
	}
	return longest, nil
}
