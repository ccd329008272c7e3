package cases

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/test/load/bench"
	"github.com/cauri-dev/cauri/test/load/generator"
	"github.com/cauri-dev/cauri/test/load/report"
	"github.com/cauri-dev/cauri/test/system"
)

// auth counts the statements that the api executes for valid and invalid keys, and measures how long a revoked key
// still works.
func auth(ctx context.Context, b *bench.Bench) error {
	apis, err := b.Apis(ctx, 1)
	if err != nil {
		return err
	}
	sandboxes, err := b.AddSandboxes(ctx, 1, "")
	if err != nil {
		return err
	}
	if err := bench.Known(ctx, sandboxes, apis...); err != nil {
		return err
	}
	if _, err := b.SQL.Exec(ctx, "create extension if not exists pg_stat_statements"); err != nil {
		return err
	}
	// After authentication, the request needs no statement: no payment can have this id.
	const path = "/v1/payments/none"
	valid := reads("GET "+path, []string{generator.Head("GET", path, sandboxes[0].Key)}, bench.AddressesOf(apis...))
	valid.Target.Status = http.StatusNotFound
	if err := countStatements(ctx, b, "valid keys", valid, 0); err != nil {
		return err
	}
	invalid := valid
	invalid.Target.Status = http.StatusUnauthorized
	invalid.Target.Append = func(buffer []byte, n int64) []byte {
		return generator.End(append(buffer, generator.Head("GET", path, fmt.Sprintf("cauri_sk_test_%032x", n))...))
	}
	if err := countStatements(ctx, b, "invalid keys", invalid, 0.2); err != nil {
		return err
	}
	return revoked(ctx, b, sandboxes[0], apis[0])
}

// countStatements puts load on a subject and reports the statements that each request causes, which have a limit.
func countStatements(ctx context.Context, b *bench.Bench, name string, s bench.Subject, atMost float64) error {
	if _, err := b.SQL.Exec(ctx, "select pg_stat_statements_reset()"); err != nil {
		return err
	}
	g, err := generator.Dial(ctx, s.Target, 32)
	if err != nil {
		return err
	}
	defer g.Close()
	result := g.Closed(ctx, time.Duration(b.Settings.Length))
	if err := errors.Join(context.Cause(ctx), result.Err()); err != nil {
		return err
	}
	// The request log writes once a second, in a transaction whose begin, settings and commit have no name. The configuration is polled
	// twice a second. What of these comes more often is caused by requests.
	seconds := int64(result.Took.Seconds()) + 2
	caused, err := b.Count(ctx, `select coalesce(sum(case
			when query ~ '^-- name: (LogRequests|LockRequestLog|TrimRequests|ServerAddress)\M' then greatest(0, calls - $1)
			when query like '-- name: ConfigVersion %' then greatest(0, calls - 2 * $1)
			when query like '-- name: %' then calls
			else greatest(0, calls - $1) end), 0)::bigint
		from pg_stat_statements s join pg_roles r on r.oid = s.userid where r.rolname in ('test_api', 'cauri_tenant')`, seconds)
	if err != nil {
		return err
	}
	b.Figure(name+": requests", result.Rate(), "/s")
	b.Target(name+": statements that a request causes", float64(caused)/float64(result.Accepted), "", atMost)
	return nil
}

// revoked replaces a key repeatedly and measures how long the old key still works.
func revoked(ctx context.Context, b *bench.Bench, s *system.Sandbox, api *system.API) error {
	var times []float64
	for range b.Settings.Size(20) {
		old, err := s.Client(ctx, api)
		if err != nil {
			return err
		}
		s.Key = "cauri_sk_test_" + rand.Text()
		credentials := sandboxes.Credentials{APIKeyHash: sha256.Sum256([]byte(s.Key)), SigningSecret: s.Secret}
		if err := b.Sandboxes.ApplyCredentials(ctx, s.Config.UID, credentials); err != nil {
			return err
		}
		begun := time.Now()
		err = system.Until(ctx, time.Minute, "the old key is refused", func(ctx context.Context) error {
			answer, err := old.Get(ctx, "/payments/none")
			if err == nil && answer.Status != http.StatusUnauthorized {
				err = fmt.Errorf("the answer is %d", answer.Status)
			}
			return err
		})
		if err != nil {
			return err
		}
		times = append(times, report.Milliseconds(time.Since(begun)))
	}
	longest := report.SampleOf(times...)
	b.Figure("a revoked key still works, median", longest.Median, "ms")
	b.Target("a revoked key still works, at most", longest.High, "ms", 1000)
	return nil
}
